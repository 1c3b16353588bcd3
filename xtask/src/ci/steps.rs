//! The steps: what each one is, in the order they run.
//!
//! Quick ones come first, and the tests last, so that the runner's own summary stands right above
//! the table. Steps that compile share profile and features (`--all-features`), so that what one
//! has built the next one uses; only `features` differs, which is its point.

use std::process::Command;

use anyhow::{Context, Result};

use super::{msrv, tool, typescript};
use crate::finding::{self, Finding};
use crate::workspace::Workspace;
use crate::{bindings, layers, tidy, torture};

/// One check.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) run: fn(&Workspace) -> Result<Outcome>,
    /// Whether a skip is accepted even in a strict run.
    pub(super) may_skip: bool,
}

/// How a step ended. The step has printed its findings; the text is for the table.
#[derive(Debug)]
pub(super) enum Outcome {
    Ok,
    Failed(String),
    /// An outside tool or database cannot be had.
    Skipped(String),
}

pub(super) const STEPS: &[Step] = &[
    step("fmt", "the formatting is rustfmt's", fmt),
    step("layers", "crates depend on lower floors only", layers),
    step("tidy", "files, manifests and docs keep the house rules", tidy),
    step("clippy", "no warning of rustc or clippy, in any target", clippy),
    step("msrv", "no API newer than the `rust-version`", msrv::run),
    step("features", "every crate builds alone, with its default features", features),
    step("doc", "the docs build, and their links hold", doc),
    Step {
        may_skip: true,
        ..step("bindings", "the wire types in TypeScript and JSON Schema are up to date", bindings)
    },
    step("deny", "dependencies: bans, licences, sources", deny),
    Step { may_skip: true, ..step("advisories", "dependencies: known advisories", advisories) },
    step("doctest", "the examples in the docs run", doctest),
    step("torture", "killed processes lose nothing and leave nothing", torture_store),
    step("test", "unit and integration tests", test),
];

const fn step(
    name: &'static str,
    about: &'static str,
    run: fn(&Workspace) -> Result<Outcome>,
) -> Step {
    Step { name, about, run, may_skip: false }
}

/// The arguments of `clippy` and `msrv`: the same, so that the second finds all of it cached.
pub(super) const CLIPPY: &[&str] =
    &["clippy", "--workspace", "--all-targets", "--all-features", "--keep-going"];
pub(super) const CLIPPY_LINTS: &[&str] =
    &["--", "-D", "warnings", "-D", "clippy::incompatible_msrv"];

fn fmt(workspace: &Workspace) -> Result<Outcome> {
    if !tool::exists(workspace, "fmt") {
        return Ok(Outcome::Skipped("rustfmt is not installed".to_owned()));
    }
    passes(workspace.cargo(["fmt", "--all", "--check"]))
}

fn clippy(workspace: &Workspace) -> Result<Outcome> {
    if !tool::exists(workspace, "clippy") {
        return Ok(Outcome::Skipped("clippy is not installed".to_owned()));
    }
    passes(workspace.cargo(CLIPPY.iter().chain(CLIPPY_LINTS).copied()))
}

/// Feature unification hides what a crate forgot to ask for: built with the others, it is given the
/// union of all their features. So each is built with its own.
fn features(workspace: &Workspace) -> Result<Outcome> {
    let mut failed = Vec::new();
    for member in workspace.members()? {
        let command = workspace.cargo(["check", "--quiet", "--package", &member.name]);
        if !matches!(passes(command)?, Outcome::Ok) {
            failed.push(member.name);
        }
    }
    Ok(if failed.is_empty() { Outcome::Ok } else { Outcome::Failed(failed.join(", ")) })
}

fn doc(workspace: &Workspace) -> Result<Outcome> {
    let mut command = workspace.cargo([
        "doc",
        "--workspace",
        "--all-features",
        "--no-deps",
        "--document-private-items",
    ]);
    // `private_intra_doc_links` is silent with private items; the rest of rustdoc's lints warn.
    command.env("RUSTDOCFLAGS", "-D warnings -D rustdoc::broken_intra_doc_links");
    passes(command)
}

/// Where there is no npm, the TypeScript is compared and not compiled: a bare machine need not have
/// it, so a strict run accepts that.
fn bindings(workspace: &Workspace) -> Result<Outcome> {
    match judged(&bindings::check(workspace)?) {
        Outcome::Ok => typescript::compile(workspace, &bindings::consumer()),
        failed => Ok(failed),
    }
}

fn layers(workspace: &Workspace) -> Result<Outcome> {
    Ok(judged(&layers::check(workspace)?))
}

fn tidy(workspace: &Workspace) -> Result<Outcome> {
    Ok(judged(&tidy::check(workspace)?))
}

/// The crates are fetched first, for all platforms, because `cargo deny` reads the whole graph.
fn deny(workspace: &Workspace) -> Result<Outcome> {
    if let Err(reason) = tool::install_deny(workspace) {
        return Ok(Outcome::Skipped(reason));
    }
    let fetched = passes(workspace.cargo(["fetch", "--locked"]))?;
    if !matches!(fetched, Outcome::Ok) {
        return Ok(Outcome::Failed("the dependencies could not be fetched".to_owned()));
    }
    passes(workspace.cargo(["deny", "--offline", "check", "bans", "licenses", "sources"]))
}

/// An advisory is news from outside, and so is its absence: without the database nothing is said.
fn advisories(workspace: &Workspace) -> Result<Outcome> {
    if let Err(reason) = tool::install_deny(workspace) {
        return Ok(Outcome::Skipped(reason));
    }
    if !tool::fetch_advisories(workspace)? {
        return Ok(Outcome::Skipped("the advisory database cannot be reached".to_owned()));
    }
    passes(workspace.cargo(["deny", "--offline", "check", "advisories"]))
}

fn torture_store(workspace: &Workspace) -> Result<Outcome> {
    Ok(match torture::command(workspace)? {
        Some(command) => passes(command)?,
        None => Outcome::Failed("it does not build".to_owned()),
    })
}

fn doctest(workspace: &Workspace) -> Result<Outcome> {
    passes(workspace.cargo(["test", "--doc", "--workspace", "--all-features"]))
}

/// Tests by nextest (a process each, and a limit on their time: `.config/nextest.toml`), or by
/// cargo's own runner where nextest is missing.
fn test(workspace: &Workspace) -> Result<Outcome> {
    if tool::exists(workspace, "nextest") {
        return passes(workspace.cargo(["nextest", "run", "--workspace", "--all-features"]));
    }
    eprintln!("cargo-nextest is not installed: running `cargo test` instead");
    // Some tests run the examples, which `cargo test` builds only where no targets are named.
    let built = passes(workspace.cargo(["build", "--workspace", "--all-features", "--examples"]))?;
    if !matches!(built, Outcome::Ok) {
        return Ok(built);
    }
    let targets = ["--lib", "--bins", "--tests"];
    let command = ["test", "--workspace", "--all-features", "--no-fail-fast"];
    passes(workspace.cargo(command.into_iter().chain(targets)))
}

/// Runs a command that prints for itself.
pub(super) fn passes(mut command: Command) -> Result<Outcome> {
    let status = command.status().with_context(|| format!("failed to start {command:?}"))?;
    Ok(if status.success() { Outcome::Ok } else { Outcome::Failed(status.to_string()) })
}

fn judged(findings: &[Finding]) -> Outcome {
    finding::print(findings);
    match findings.len() {
        0 => Outcome::Ok,
        1 => Outcome::Failed("1 finding".to_owned()),
        count => Outcome::Failed(format!("{count} findings")),
    }
}
