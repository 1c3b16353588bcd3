//! Docs name only what exists: paths, links, crates, `cargo xtask` commands, `overspill` subcommands.
//!
//! `docs/status.md` and `docs/shortcomings.md` may name what is missing, on a line that says
//! "not done" or "to come". Links must hold even there.

mod markdown;
mod subcommands;

use std::collections::BTreeSet;

use anyhow::Result;
use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use clap::CommandFactory;

use self::markdown::{Kind, Piece};
use crate::finding::Finding;
use crate::workspace::{Member, Workspace};
use crate::{ci, layers};

const MAY_NAME_THE_MISSING: &[&str] = &["docs/status.md", "docs/shortcomings.md"];
const MISSING: &[&str] = &["not done", "to come"];

/// What exists, and so may be named.
#[derive(Debug)]
pub(super) struct House {
    /// Files and directories, relative to the root.
    paths: BTreeSet<Utf8PathBuf>,
    crates: BTreeSet<String>,
    xtask: BTreeSet<String>,
    steps: BTreeSet<String>,
    overspill: BTreeSet<String>,
}

impl House {
    pub(super) fn new(
        workspace: &Workspace,
        files: &[Utf8PathBuf],
        members: &[Member],
    ) -> Result<Self> {
        let cli = crate::Cli::command();
        Ok(Self {
            paths: super::with_directories(files),
            crates: members.iter().map(|member| member.name.clone()).collect(),
            xtask: cli.get_subcommands().map(|command| command.get_name().to_owned()).collect(),
            steps: ci::step_names().map(ToOwned::to_owned).collect(),
            overspill: subcommands::read(workspace, files)?,
        })
    }
}

/// Checks one Markdown file.
pub(super) fn check(path: &Utf8Path, text: &str, house: &House) -> Vec<Finding> {
    let may_name_the_missing = MAY_NAME_THE_MISSING.contains(&path.as_str());
    let lines: Vec<&str> = text.lines().collect();
    let mut findings = Vec::new();
    for piece in markdown::pieces(text) {
        let mut messages = broken_links(path, &piece, house);
        let line = lines[piece.line];
        if !(may_name_the_missing && MISSING.iter().any(|word| line.contains(word))) {
            messages.extend(missing_names(&piece, house));
        }
        findings.extend(messages.into_iter().map(|message| Finding::at(path, piece.line, message)));
    }
    findings
}

fn broken_links(path: &Utf8Path, piece: &Piece<'_>, house: &House) -> Vec<String> {
    if piece.kind != Kind::Prose {
        return Vec::new();
    }
    let broken = |target: &&str| {
        let file = target.split(['#', '?']).next().unwrap_or_default();
        let directory = path.parent().unwrap_or(Utf8Path::new(""));
        !file.is_empty() && !resolve(directory, file).is_some_and(|to| house.paths.contains(&to))
    };
    let targets = markdown::link_targets(piece.text);
    targets
        .into_iter()
        .filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
        .filter(broken)
        .map(|target| format!("the link to `{target}` leads nowhere"))
        .collect()
}

/// `file` as seen from `directory`, or nothing where it leaves the workspace.
fn resolve(directory: &Utf8Path, file: &str) -> Option<Utf8PathBuf> {
    let mut resolved = Utf8PathBuf::new();
    for component in directory.join(file).components() {
        match component {
            Utf8Component::Normal(name) => resolved.push(name),
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir => {
                if !resolved.pop() {
                    return None;
                }
            }
            Utf8Component::RootDir | Utf8Component::Prefix(_) => return None,
        }
    }
    Some(resolved)
}

fn missing_names(piece: &Piece<'_>, house: &House) -> Vec<String> {
    let mut messages = Vec::new();
    for path in markdown::crate_paths(piece.text) {
        if !house.paths.contains(Utf8Path::new(path)) {
            messages.push(format!("`{path}` does not exist"));
        }
    }
    if piece.kind == Kind::Prose {
        return messages;
    }
    // Names of one word (`spill`, `artifacts`) are words too; those with a hyphen are ours.
    let is_ours = |name: &str| name.contains('-') && layers::known_names().any(|ours| ours == name);
    if piece.kind == Kind::Span && is_ours(piece.text) && !house.crates.contains(piece.text) {
        messages.push(format!("the crate `{}` does not exist", piece.text));
    }
    for arguments in markdown::invocations(piece.text, "cargo xtask") {
        let mut words = arguments.split(' ');
        let Some(name) = words.next().and_then(markdown::plain_word) else { continue };
        if !house.xtask.contains(name) {
            messages.push(format!("`cargo xtask {name}` does not exist"));
        } else if name == "ci" {
            let steps = words.map_while(markdown::plain_word);
            for step in steps.filter(|step| !house.steps.contains(*step)) {
                messages.push(format!("`cargo xtask ci` has no step `{step}`"));
            }
        }
    }
    for arguments in markdown::invocations(piece.text, "overspill") {
        let Some(name) = arguments.split(' ').next().and_then(markdown::plain_word) else {
            continue;
        };
        if !house.overspill.contains(name) {
            messages.push(format!("`overspill {name}` does not exist"));
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    fn house() -> House {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let files = ["README.md", "docs/a.md", "docs/design/b.md", "crates/tool-api/src/lib.rs"];
        House {
            paths: super::super::with_directories(&files.map(Utf8PathBuf::from)),
            crates: set(&["tool-api"]),
            xtask: set(&["ci", "tidy"]),
            steps: set(&["fmt", "test"]),
            overspill: set(&["run", "read"]),
        }
    }

    #[track_caller]
    fn check_one(path: &str, text: &str, expect: &[&str]) {
        let found = check(path.into(), text, &house());
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn links_lead_somewhere() {
        let good = "[a](docs/a.md) [`b`](docs/design/b.md#x \"t\") [c](https://x.y/z) [d](#e)\n";
        check_one("README.md", good, &[]);
        check_one("docs/design/b.md", "[a](../a.md), [r](../../README.md), [d](..)\n", &[]);
        check_one(
            "README.md",
            "x\n[a](a.md)\n",
            &["README.md:2: the link to `a.md` leads nowhere"],
        );
        check_one(
            "docs/a.md",
            "[a](../../x.md)\n",
            &["docs/a.md:1: the link to `../../x.md` leads nowhere"],
        );
        check_one(
            "docs/a.md",
            "[a]: gone.md\n",
            &["docs/a.md:1: the link to `gone.md` leads nowhere"],
        );
        check_one("README.md", "```\n[a](a.md)\n```\n`[a](a.md)`\n", &[]);
    }

    #[test]
    fn crates_and_their_paths_exist() {
        check_one(
            "README.md",
            "`crates/tool-api/src`, crates/tool-api. `tool-api` `crates/*`\n",
            &[],
        );
        check_one(
            "README.md",
            "See crates/tool-api/src/gone.rs.\n",
            &["README.md:1: `crates/tool-api/src/gone.rs` does not exist"],
        );
        check_one(
            "README.md",
            "`tool-bash` https://crates.io/crates/x `not-ours`\n",
            &["README.md:1: the crate `tool-bash` does not exist"],
        );
    }

    #[test]
    fn commands_exist() {
        let good = "`cargo xtask ci`, `cargo xtask ci fmt --strict`, `overspill run -- ls`\n\
                    ```sh\n$ overspill read x | overspill run -- wc  # overspill is fun\n\
                    overspill --version\n```\n";
        check_one("README.md", good, &[]);
        check_one("README.md", "The overspill program; cargo xtask checks.\n", &[]);
        check_one(
            "README.md",
            "`cargo xtask bench`\n",
            &["README.md:1: `cargo xtask bench` does not exist"],
        );
        check_one(
            "README.md",
            "`cargo xtask ci fmt lint`\n",
            &["README.md:1: `cargo xtask ci` has no step `lint`"],
        );
        check_one(
            "README.md",
            "`overspill gc`\n```\nx | overspill tee\n```\n",
            &[
                "README.md:1: `overspill gc` does not exist",
                "README.md:3: `overspill tee` does not exist",
            ],
        );
    }

    #[test]
    fn only_two_pages_may_name_the_missing_and_must_say_so() {
        let line = "`cargo xtask bench` and `tool-bash` are not done\n";
        check_one("docs/status.md", line, &[]);
        check_one("docs/shortcomings.md", "`overspill gc` is to come\n", &[]);
        check_one(
            "docs/status.md",
            "`overspill gc` works\n",
            &["docs/status.md:1: `overspill gc` does not exist"],
        );
        check_one(
            "docs/a.md",
            "`overspill gc` is not done\n",
            &["docs/a.md:1: `overspill gc` does not exist"],
        );
        check_one(
            "docs/status.md",
            "[x](gone.md) is to come\n",
            &["docs/status.md:1: the link to `gone.md` leads nowhere"],
        );
    }
}
