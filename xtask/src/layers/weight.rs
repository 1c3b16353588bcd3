//! What the lightest compositions cost: an agent that only spills takes three crates, and few come
//! along.
//!
//! What is counted is what `cargo tree` says of a build without any feature, on this machine.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};

use crate::finding::Finding;
use crate::workspace::Workspace;

/// What an agent adds that only spills.
const SPILLING: &[&str] = &["spill", "spill-local", "spill-policy"];
const MAX_REGISTRY_CRATES: usize = 40;
/// What none of them may bring along.
const NEVER: &[&str] = &["tokio", "artifacts", "artifact-store", "tool-api"];

/// Counts the crates that come along with those of [`SPILLING`] that exist.
pub(super) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let members = workspace.members()?;
    let exists = |name: &&&str| members.iter().any(|member| member.name == ***name);
    let crates: Vec<&str> = SPILLING.iter().filter(exists).copied().collect();
    if crates.is_empty() {
        return Ok(Vec::new());
    }
    let mut command =
        workspace.cargo(["tree", "--locked", "--edges", "normal", "--prefix", "none"]);
    for name in crates {
        command.args(["--package", name]);
    }
    let output = command.output().with_context(|| format!("failed to start {command:?}"))?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).context("cargo tree's output is not UTF-8")?;
    Ok(check_tree(&tree))
}

/// Judges what `cargo tree` printed: `name vX.Y.Z`, and `(path)` for what is not of a registry.
fn check_tree(tree: &str) -> Vec<Finding> {
    let finding = |message| Finding::of("crates/spill-policy/Cargo.toml", message);
    let (mut registry, mut names) = (BTreeSet::new(), BTreeSet::new());
    for line in tree.lines() {
        let Some((name, rest)) = line.split_once(' ') else { continue };
        names.insert(name);
        if !rest.contains("(/") {
            registry.insert((name, rest.split(' ').next()));
        }
    }
    let mut findings = Vec::new();
    if registry.len() > MAX_REGISTRY_CRATES {
        findings.push(finding(format!(
            "{} take {} crates of the registry, more than {MAX_REGISTRY_CRATES}",
            SPILLING.join(", "),
            registry.len()
        )));
    }
    for name in NEVER.iter().filter(|name| names.contains(**name)) {
        findings.push(finding(format!("{} take `{name}` along", SPILLING.join(", "))));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tree: &str, expect: &[&str]) {
        let found: Vec<String> = check_tree(tree).iter().map(ToString::to_string).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn crates_of_the_registry_are_counted_once() {
        let few = "spill v0.1.0 (/w/crates/spill)\nserde v1.0.0\nserde v1.0.0 (*)\n\
                   async-trait v0.1.0 (proc-macro)\n\nserde v1.0.0\n";
        check(few, &[]);
        let many: String = (0..41).map(|n| format!("x{n} v1.0.0\n")).collect();
        let message = "crates/spill-policy/Cargo.toml: spill, spill-local, spill-policy take 41 \
                       crates of the registry, more than 40";
        check(&(many.clone() + &many), &[message]);
    }

    #[test]
    fn no_runtime_and_no_store_come_along() {
        check(
            "artifacts v0.1.0 (/w/crates/artifacts)\ntokio v1.0.0\ntokio-util v0.7.0\n",
            &[
                "crates/spill-policy/Cargo.toml: spill, spill-local, spill-policy take `tokio` along",
                "crates/spill-policy/Cargo.toml: spill, spill-local, spill-policy take `artifacts` \
                 along",
            ],
        );
    }
}
