//! What a crate must never know, as far as its dependencies tell.
//!
//! Dev-dependencies are exempt: tests may drive a crate with whatever shows that it works.

use cargo_metadata::DependencyKind;

use crate::finding::Finding;
use crate::workspace::Member;

/// Implementations of a seam: only the composition root picks one.
const BACKENDS: &[&str] =
    &["artifact-store", "spill-local", "spill-artifact", "spill-object", "transcript-sqlite"];
const COMPOSITION_ROOT: &str = "overspill";

const TOKIO: &[&str] = &["tokio", "tokio-util"];
const IO: &[&str] = &["tokio", "tokio-util", "fs-err", "rustix", "tempfile", "object_store"];
const HTTP: &[&str] = &["axum", "http", "hyper", "reqwest", "tower-http", "ureq"];
const SQL: &[&str] = &["rusqlite", "sqlx"];

const BANS: &[Ban] = &[
    Ban::of("output-contract", IO, "it does no I/O"),
    Ban::of("output-retention", IO, "it does no I/O"),
    Ban::of("spill", IO, "a seam does no I/O"),
    Ban::of("artifacts", TOKIO, "captures block, and its traits fit any runtime"),
    Ban::unless_optional("artifact-store", TOKIO, "its core blocks, the async face is a feature"),
    Ban::of("artifact-store", &["output-retention"], "a store does not render"),
    Ban::of(
        "tool-runtime",
        &["tool-read", "tool-bash", "spill-policy", "compaction"],
        "tools and policies are registered with it",
    ),
    Ban::of("compaction", HTTP, "the model client is behind `Summarizer`"),
    Ban::of("transcript", HTTP, "HTTP is `transcript-server`"),
    Ban::of("transcript", SQL, "SQL is `transcript-sqlite`"),
    Ban::of("transcript-sqlite", HTTP, "HTTP is `transcript-server`"),
    Ban::of("transcript-server", &["clap"], "the command line is `overspill`"),
];

/// Dependencies a crate must not have.
struct Ban {
    krate: &'static str,
    never: Names,
    why: &'static str,
    /// Whether an optional dependency, that is one behind a feature, is allowed.
    optional: bool,
}

type Names = &'static [&'static str];

impl Ban {
    const fn of(krate: &'static str, never: Names, why: &'static str) -> Self {
        Self { krate, never, why, optional: false }
    }

    const fn unless_optional(krate: &'static str, never: Names, why: &'static str) -> Self {
        Self { krate, never, why, optional: true }
    }
}

/// Checks one crate against the bans that name it, and against naming a backend.
pub(super) fn check(member: &Member) -> Vec<Finding> {
    let mut findings = Vec::new();
    for dependency in &member.dependencies {
        if dependency.kind == DependencyKind::Development {
            continue;
        }
        let name = dependency.name.as_str();
        let mut found = |why: &str| {
            let message = format!("`{}` must not depend on `{name}`: {why}", member.name);
            findings.push(Finding::of(member.manifest(), message));
        };
        for ban in BANS.iter().filter(|ban| ban.krate == member.name && ban.never.contains(&name)) {
            if !ban.optional {
                found(ban.why);
            } else if !dependency.optional {
                found(&format!("{} (an optional dependency is allowed)", ban.why));
            }
        }
        let may_choose = member.name == COMPOSITION_ROOT || super::is_dev(&member.name);
        if BACKENDS.contains(&name) && !may_choose {
            found("only `overspill` names concrete backends");
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;

    #[track_caller]
    fn check_one(name: &str, dependency: &str, optional: bool, expect: &str) {
        let entry = |kind| Dependency { name: dependency.to_owned(), kind, optional };
        let member = |kind| Member {
            name: name.to_owned(),
            directory: "crates/x".into(),
            dependencies: vec![entry(kind)],
        };
        let found = check(&member(DependencyKind::Normal));
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        let prefix = format!("crates/x/Cargo.toml: `{name}` must not depend on `{dependency}`: ");
        let expect: Vec<String> =
            [expect].iter().filter(|e| !e.is_empty()).map(|e| prefix.clone() + e).collect();
        assert_eq!(found, expect);
        assert_eq!(check(&member(DependencyKind::Development)), [], "dev is exempt");
    }

    #[test]
    fn what_does_no_io_has_no_means_to() {
        check_one("output-contract", "serde", false, "");
        check_one("output-contract", "tokio", true, "it does no I/O");
        check_one("output-retention", "fs-err", false, "it does no I/O");
        check_one("artifacts", "tokio", false, "captures block, and its traits fit any runtime");
        check_one("artifacts", "fs-err", false, "");
    }

    #[test]
    fn the_store_has_tokio_behind_a_feature_only() {
        check_one("artifact-store", "tokio", true, "");
        let message = "its core blocks, the async face is a feature (an optional dependency is \
                       allowed)";
        check_one("artifact-store", "tokio", false, message);
    }

    #[test]
    fn only_the_composition_root_names_backends() {
        let message = "only `overspill` names concrete backends";
        check_one("tool-read", "artifact-store", false, message);
        check_one("spill-policy", "spill-local", true, message);
        check_one("overspill", "artifact-store", false, "");
        check_one("testkit", "artifact-store", false, "");
    }

    #[test]
    fn every_crate_named_here_has_a_place() {
        let known: Vec<&str> = crate::layers::known_names().collect();
        for name in BANS.iter().map(|ban| ban.krate).chain(BACKENDS.iter().copied()) {
            assert!(known.contains(&name), "{name}");
        }
    }
}
