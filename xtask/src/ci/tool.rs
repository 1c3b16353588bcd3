//! Outside tools: whether they are there, and how those are had that are not.

use std::process::Stdio;

use anyhow::{Context, Result};

use crate::workspace::Workspace;

/// Whether cargo has the subcommand `name`.
pub(super) fn exists(workspace: &Workspace, name: &str) -> bool {
    let mut command = workspace.cargo([name, "--version"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Installs cargo-deny on first use; it takes some minutes.
///
/// # Errors
///
/// The reason why it cannot be had.
pub(super) fn install_deny(workspace: &Workspace) -> Result<(), String> {
    if exists(workspace, "deny") {
        return Ok(());
    }
    eprintln!("installing cargo-deny, once");
    let installed = workspace.cargo(["install", "cargo-deny", "--locked"]).status();
    match installed {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err("cargo-deny cannot be installed".to_owned()),
        Err(error) => Err(format!("cargo-deny cannot be installed: {error}")),
    }
}

/// Brings the advisory database up to date; false where it cannot be reached.
pub(super) fn fetch_advisories(workspace: &Workspace) -> Result<bool> {
    let status = workspace.cargo(["deny", "fetch", "db"]).status();
    Ok(status.context("failed to start cargo deny")?.success())
}
