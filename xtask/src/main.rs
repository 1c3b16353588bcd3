//! `cargo xtask`: the workspace's own commands, one module per command.
//!
//! `cargo xtask ci` is the only definition of green: the README, `.ci/run` and a developer's
//! last look before a commit all run it, so that no second list of checks can drift from it.

mod bench;
mod bindings;
mod ci;
mod finding;
mod layers;
mod tidy;
mod torture;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::finding::Finding;
use crate::workspace::Workspace;

/// Every command `cargo xtask` knows; `tidy` holds the docs to this list.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "The workspace's own commands")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure the program against what sets its limits; writes nothing.
    Bench(bench::Options),
    /// Generate the TypeScript types and JSON Schemas of the wire types.
    Bindings(bindings::Options),
    /// Run every check, or only the steps named; print every failure, then fail.
    Ci(ci::Options),
    /// Check that crates depend only on crates of lower floors.
    Layers,
    /// Check files, manifests and docs against the house rules.
    Tidy,
    /// Kill processes that use one store, and see that nothing is lost and nothing is left.
    Torture(torture::Options),
}

fn main() -> ExitCode {
    run(Cli::parse().command).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(command: Command) -> Result<ExitCode> {
    let workspace = Workspace::locate()?;
    match command {
        Command::Bench(options) => bench::run(&workspace, &options),
        Command::Bindings(options) => Ok(judge(&bindings::run(&workspace, &options)?)),
        Command::Ci(options) => ci::run(&workspace, &options),
        Command::Layers => Ok(judge(&layers::check(&workspace)?)),
        Command::Tidy => Ok(judge(&tidy::check(&workspace)?)),
        Command::Torture(options) => torture::run(&workspace, &options),
    }
}

fn judge(findings: &[Finding]) -> ExitCode {
    finding::print(findings);
    if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
