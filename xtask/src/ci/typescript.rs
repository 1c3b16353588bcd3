//! TypeScript: its compiler, of the version that a `package-lock.json` names, and a project compiled
//! with it.
//!
//! The compiler is installed below cargo's target directory, so that the tree stays as it is.

use std::process::Stdio;

use anyhow::{Context, Result};
use camino::Utf8Path;

use super::steps::{Outcome, passes};
use crate::workspace::Workspace;

/// Compiles the project in `directory`, which has a `tsconfig.json` and names the compiler.
pub(super) fn compile(workspace: &Workspace, directory: &str) -> Result<Outcome> {
    for tool in ["node", "npm"] {
        if !runs(workspace, tool) {
            return Ok(Outcome::Skipped(format!(
                "up to date, but {tool} is not installed to compile the TypeScript"
            )));
        }
    }
    let project = workspace.path(directory);
    let place = workspace.target_directory()?.join("typescript");
    if !install(workspace, &project, &place)? {
        let reason = "up to date, but npm cannot install the TypeScript compiler".to_owned();
        return Ok(Outcome::Skipped(reason));
    }
    let mut tsc = workspace.command("node");
    tsc.arg(place.join("node_modules/typescript/bin/tsc")).arg("--project").arg(&project);
    passes(tsc)
}

fn runs(workspace: &Workspace, tool: &str) -> bool {
    let mut command = workspace.command(tool);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Installs exactly what the lock file names, unless that was done before; false where npm cannot.
fn install(workspace: &Workspace, project: &Utf8Path, place: &Utf8Path) -> Result<bool> {
    const LOCK: &str = "package-lock.json";
    let lock = fs_err::read_to_string(project.join(LOCK))?;
    // Written last, so that an install that was cut short is done again.
    let done = place.join("installed.json");
    if fs_err::read_to_string(&done).is_ok_and(|installed| installed == lock) {
        return Ok(true);
    }
    fs_err::create_dir_all(place)?;
    for name in ["package.json", LOCK] {
        fs_err::copy(project.join(name), place.join(name))?;
    }
    let mut npm = workspace.command("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(place);
    let installed = npm.status().context("failed to start npm")?.success();
    if installed {
        fs_err::write(&done, lock)?;
    }
    Ok(installed)
}
