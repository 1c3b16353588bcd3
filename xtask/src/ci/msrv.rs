//! The step `msrv`: no API of the standard library newer than the promised `rust-version`.
//!
//! It is a lint, not a build with the old toolchain. Such a toolchain would have to be downloaded
//! through rustup, which a machine without network, or with a distribution's Rust, does not have;
//! and it would compile every dependency once more. What the lint does not see is a *language*
//! feature newer than the promise, and what tests use: those are left to review.
//!
//! The command is that of the step `clippy` (which denies this lint, too), so that cargo only
//! replays what it has. This step picks the MSRV findings out of it, under a name of their own.

use std::collections::BTreeSet;
use std::io::BufReader;
use std::process::Stdio;

use anyhow::{Context, Result};
use cargo_metadata::Message;

use super::steps::{CLIPPY, CLIPPY_LINTS, Outcome};
use super::tool;
use crate::workspace::Workspace;

const LINT: &str = "clippy::incompatible_msrv";

/// Runs clippy, and prints and counts what it says about the MSRV.
pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    if !tool::exists(workspace, "clippy") {
        return Ok(Outcome::Skipped("clippy is not installed".to_owned()));
    }
    let options = ["--quiet", "--message-format=json"];
    let args = CLIPPY.iter().chain(&options).chain(CLIPPY_LINTS).copied();
    let mut child = workspace
        .cargo(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("failed to start cargo clippy")?;
    let stdout = child.stdout.take().context("stdout is a pipe")?;
    let mut found = BTreeSet::new();
    for message in Message::parse_stream(BufReader::new(stdout)) {
        found.extend(finding(message.context("failed to read cargo's messages")?));
    }
    let status = child.wait().context("failed to wait for cargo clippy")?;
    for rendered in &found {
        eprint!("{rendered}");
    }
    Ok(match found.len() {
        0 if status.success() => Outcome::Ok,
        // An error in one crate leaves those above it unread.
        0 => Outcome::Failed("undecided, because the step `clippy` fails".to_owned()),
        count => Outcome::Failed(format!("newer APIs used: {count}")),
    })
}

/// The rendered text of a message about the MSRV; the same place is met once per target.
fn finding(message: Message) -> Option<String> {
    let Message::CompilerMessage(message) = message else { return None };
    let message = message.message;
    let is_msrv = message.code.is_some_and(|code| code.code == LINT);
    is_msrv.then_some(message.rendered.unwrap_or(message.message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &str, expect: Option<&str>) {
        let line = format!(
            r#"{{"reason":"compiler-message","package_id":"path+file:///a#0.1.0","manifest_path":"/a",
            "target":{{"kind":["lib"],"crate_types":["lib"],"name":"a","src_path":"/a/src/lib.rs",
            "edition":"2024","doc":true,"doctest":true,"test":true}},
            "message":{{"rendered":"shown\n","children":[],"level":"error","message":"short",
            "spans":[],"code":{{"code":"{code}","explanation":null}}}}}}"#
        )
        .replace('\n', "");
        let message =
            Message::parse_stream(line.as_bytes()).next().expect("one line").expect("a message");
        assert!(matches!(message, Message::CompilerMessage(_)), "{message:?}");
        assert_eq!(finding(message).as_deref(), expect);
    }

    #[test]
    fn only_the_lint_is_picked() {
        check("clippy::incompatible_msrv", Some("shown\n"));
        check("clippy::needless_return", None);
    }
}
