//! `cargo xtask bench`: measures the program against what sets its limits.
//!
//! The package `benchmarks` does it; this builds it and the program as they are released, and
//! hands the arguments on. `docs/performance.md` has what came of it.

use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::workspace::Workspace;

/// What to measure.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Options {
    /// What to measure, all by default, and options; `--help` lists them.
    #[arg(value_name = "NAME", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Builds, measures and prints.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<ExitCode> {
    const PACKAGES: [&str; 4] = ["--package", "overspill", "--package", "benchmarks"];
    let build = ["build", "--release", "--quiet"];
    let mut built = workspace.cargo(build.into_iter().chain(PACKAGES));
    if !built.status().context("failed to start cargo")?.success() {
        return Ok(ExitCode::FAILURE);
    }
    let run = ["run", "--release", "--quiet", "--package", "benchmarks", "--"];
    let mut bench = workspace.cargo(run.into_iter().chain(options.arguments.iter().map(|a| &**a)));
    let measured = bench.status().context("failed to start the benchmarks")?;
    Ok(if measured.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
