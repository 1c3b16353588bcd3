//! `cargo xtask torture`: lets processes use one store, and kills them.
//!
//! The package `reliability` does it; this builds it, as the tests are built, and hands the
//! arguments on. `docs/reliability.md` has what came of it.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::workspace::Workspace;

/// For how long, and where.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Options {
    /// Options; `--help` lists them.
    #[arg(value_name = "OPTION", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Builds it and runs it.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<ExitCode> {
    let Some(mut torture) = command(workspace)? else { return Ok(ExitCode::FAILURE) };
    let status = torture.args(&options.arguments).status();
    let passed = status.context("failed to start the program `torture`")?.success();
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The program, built as the step `test` builds it; nothing where it does not build.
pub(crate) fn command(workspace: &Workspace) -> Result<Option<Command>> {
    let build = ["build", "--quiet", "--workspace", "--all-features", "--bin", "torture"];
    if !workspace.cargo(build).status().context("failed to start cargo")?.success() {
        return Ok(None);
    }
    let program = workspace.target_directory()?.join("debug/torture");
    Ok(Some(workspace.command(program.as_str())))
}
