//! `cargo xtask layers`: the house has floors, and a crate stands only on lower ones.
//!
//! The table below is the one of `docs/architecture.md`, with the crates that are still to come, so
//! that their place is settled before they exist. Two more rules are read from the same
//! declarations: what a crate must never know ([`bans`]), and that the lowest crates do no I/O
//! ([`purity`]). What the lightest composition costs is counted ([`weight`]).

mod bans;
mod purity;
mod weight;

use anyhow::Result;
use cargo_metadata::DependencyKind;

use crate::finding::Finding;
use crate::workspace::{Member, Workspace};

/// Every crate of the house with its place, by floor.
const PLACES: &[(&str, Place)] = &[
    ("output-contract", Place::Floor(0)),
    ("output-retention", Place::Floor(1)),
    ("artifacts", Place::Floor(1)),
    ("spill", Place::Floor(1)),
    ("tool-api", Place::Floor(2)),
    ("artifact-store", Place::Floor(2)),
    ("session-log", Place::Floor(2)),
    ("spill-local", Place::Floor(2)),
    ("spill-artifact", Place::Floor(2)),
    ("spill-object", Place::Floor(2)),
    ("output-capture", Place::Floor(3)),
    ("spill-policy", Place::Floor(3)),
    ("compaction", Place::Floor(3)),
    ("transcript", Place::Floor(3)),
    ("tool-read", Place::Floor(3)),
    ("tool-bash", Place::Floor(3)),
    ("tool-runtime", Place::Floor(4)),
    ("transcript-sqlite", Place::Floor(4)),
    ("transcript-server", Place::Floor(5)),
    ("overspill", Place::Floor(6)),
    ("testkit", Place::Dev),
    ("benchmarks", Place::Dev),
    ("integration-tests", Place::Dev),
    ("spill-backend-example", Place::Dev),
    ("reliability", Place::Dev),
    ("web-fetch-example", Place::Dev),
    ("xtask", Place::Dev),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Floor(u8),
    /// Fixtures, whole-product tests and this program: may depend on anything, and nothing but
    /// dev-dependencies may depend on them.
    Dev,
}

/// Checks all members of the workspace.
pub(crate) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let members = workspace.members()?;
    let mut findings: Vec<Finding> = members.iter().flat_map(check_edges).collect();
    findings.extend(members.iter().flat_map(bans::check));
    findings.extend(purity::check(workspace, &members)?);
    findings.extend(weight::check(workspace)?);
    Ok(findings)
}

/// Names of the house that are given out, whether or not the crate exists yet.
pub(crate) fn known_names() -> impl Iterator<Item = &'static str> {
    PLACES.iter().map(|(name, _)| *name)
}

/// Whether a crate is for tests and chores, and not built into the program.
fn is_dev(name: &str) -> bool {
    place(name) == Some(Place::Dev)
}

fn place(name: &str) -> Option<Place> {
    PLACES.iter().find(|(known, _)| *known == name).map(|(_, place)| *place)
}

fn check_edges(member: &Member) -> Vec<Finding> {
    let finding = |message: String| Finding::of(member.manifest(), message);
    let Some(own) = place(&member.name) else {
        return vec![finding(format!(
            "`{}` has no place in the house: add it to PLACES in xtask/src/layers.rs and to \
             docs/architecture.md",
            member.name
        ))];
    };
    let Place::Floor(floor) = own else { return Vec::new() };
    let mut findings = Vec::new();
    for dependency in &member.dependencies {
        if dependency.kind == DependencyKind::Development {
            continue;
        }
        let name = &dependency.name;
        match place(name) {
            // From the registry, or a member without place, which is a finding of its own.
            None => {}
            Some(Place::Dev) => findings.push(finding(format!(
                "`{}` depends on `{name}`, which only dev-dependencies may name",
                member.name
            ))),
            Some(Place::Floor(other)) if other >= floor => findings.push(finding(format!(
                "`{}` (floor {floor}) depends on `{name}` (floor {other}): only lower floors",
                member.name
            ))),
            Some(Place::Floor(_)) => {}
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;

    #[track_caller]
    fn check(name: &str, dependency: &str, kind: DependencyKind, expect: &str) {
        let member = Member {
            name: name.to_owned(),
            directory: "crates/x".into(),
            dependencies: vec![Dependency { name: dependency.to_owned(), kind, optional: false }],
        };
        let found: Vec<String> = check_edges(&member).iter().map(ToString::to_string).collect();
        assert_eq!(found.join("\n"), expect, "{name} on {dependency} as {kind:?}");
    }

    #[test]
    fn lower_floors_are_allowed() {
        check("artifacts", "output-contract", DependencyKind::Normal, "");
        check("overspill", "transcript-server", DependencyKind::Normal, "");
        check("tool-bash", "serde", DependencyKind::Normal, "");
    }

    #[test]
    fn own_and_higher_floors_are_not() {
        let same = "crates/x/Cargo.toml: `tool-read` (floor 3) depends on `tool-bash` (floor 3): \
                    only lower floors";
        check("tool-read", "tool-bash", DependencyKind::Normal, same);
        check("tool-read", "tool-bash", DependencyKind::Build, same);
        check("tool-read", "tool-bash", DependencyKind::Development, "");
        let higher = "crates/x/Cargo.toml: `spill` (floor 1) depends on `overspill` (floor 6): \
                      only lower floors";
        check("spill", "overspill", DependencyKind::Normal, higher);
    }

    #[test]
    fn dev_crates_are_for_tests_only() {
        let message = "crates/x/Cargo.toml: `overspill` depends on `testkit`, which only \
                       dev-dependencies may name";
        check("overspill", "testkit", DependencyKind::Normal, message);
        check("overspill", "testkit", DependencyKind::Development, "");
        check("testkit", "overspill", DependencyKind::Normal, "");
        check("integration-tests", "testkit", DependencyKind::Normal, "");
    }

    #[test]
    fn a_crate_without_place_is_told_where_to_add_it() {
        let message = "crates/x/Cargo.toml: `new-one` has no place in the house: add it to PLACES \
                       in xtask/src/layers.rs and to docs/architecture.md";
        check("new-one", "serde", DependencyKind::Normal, message);
    }
}
