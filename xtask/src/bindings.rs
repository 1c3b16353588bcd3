//! `cargo xtask bindings`: the wire types for other languages, generated and checked in.
//!
//! The texts come from `output_contract::bindings`, by way of an example of that crate: xtask does
//! not depend on the types, so that it builds (and says what is wrong) where they do not.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use camino::Utf8Path;

use crate::finding::Finding;
use crate::workspace::Workspace;

const DIRECTORY: &str = "crates/output-contract/bindings";
const GENERATOR: &[&str] = &[
    "run",
    "--quiet",
    "--package",
    "output-contract",
    "--features",
    "bindings",
    "--example",
    "print_bindings",
];
const AGAIN: &str = "run `cargo xtask bindings`, and see docs/wire.md for the version";

/// What to do with the generated files.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Write nothing; fail where a file is not what the types say.
    #[arg(long)]
    check: bool,
}

/// File names and their texts.
type Files = BTreeMap<String, String>;

/// Writes the files, or says where they are out of date.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<Vec<Finding>> {
    if options.check {
        return check(workspace);
    }
    let (present, generated) = (present(workspace)?, generate(workspace)?);
    for name in present.keys().filter(|name| !generated.contains_key(*name)) {
        fs_err::remove_file(workspace.path(path(name)))?;
    }
    for (name, text) in generated {
        fs_err::write(workspace.path(path(&name)), text)?;
    }
    Ok(Vec::new())
}

/// Compares the files with what the types say.
pub(crate) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    Ok(compare(&present(workspace)?, &generate(workspace)?))
}

/// The directory of the hand-written TypeScript that uses the types.
pub(crate) fn consumer() -> String {
    path("test")
}

fn path(name: &str) -> String {
    format!("{DIRECTORY}/{name}")
}

fn generate(workspace: &Workspace) -> Result<Files> {
    let mut command = workspace.cargo(GENERATOR.iter().copied());
    let output = command.stderr(std::process::Stdio::inherit()).output();
    let output = output.context("failed to start cargo")?;
    ensure!(output.status.success(), "the generator failed ({})", output.status);
    serde_json::from_slice(&output.stdout).context("the generator printed no JSON")
}

/// The generated files that are there now, by what their names end in.
fn present(workspace: &Workspace) -> Result<Files> {
    let mut files = Files::new();
    for entry in workspace.path(DIRECTORY).read_dir_utf8()? {
        let entry = entry?;
        let name = entry.file_name();
        if name.ends_with(".ts") || name.ends_with(".schema.json") {
            files.insert(name.to_owned(), fs_err::read_to_string(entry.path())?);
        }
    }
    Ok(files)
}

fn compare(present: &Files, generated: &Files) -> Vec<Finding> {
    let names: BTreeSet<&String> = present.keys().chain(generated.keys()).collect();
    let mut findings = Vec::new();
    for name in names {
        let path = path(name);
        findings.extend(match (present.get(name), generated.get(name)) {
            (Some(old), Some(new)) => differs(path.as_ref(), old, new),
            (None, _) => Some(Finding::of(path, format!("is missing: {AGAIN}"))),
            (_, None) => Some(Finding::of(path, format!("no type makes this: {AGAIN}"))),
        });
    }
    findings
}

/// The first line that differs, and how many do.
fn differs(path: &Utf8Path, old: &str, new: &str) -> Option<Finding> {
    if old == new {
        return None;
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let first = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let line =
        |lines: &[&str]| lines.get(first).map_or("end of file", |line| line.trim()).to_owned();
    let (removed, added) = (surplus(&old, &new), surplus(&new, &old));
    let message = format!(
        "out of date, -{removed} +{added} lines; here is `{}` where the types say `{}`: {AGAIN}",
        line(&old),
        line(&new),
    );
    Some(Finding::at(path, first, message))
}

/// How many of `lines` are not in `others`, where each line counts once.
fn surplus(lines: &[&str], others: &[&str]) -> usize {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for line in others {
        *counts.entry(line).or_default() += 1;
    }
    let is_surplus = |line: &&&str| match counts.get_mut(**line) {
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        _ => true,
    };
    lines.iter().filter(is_surplus).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_one(old: Option<&str>, new: Option<&str>, expect: &[&str]) {
        let files = |text: Option<&str>| {
            text.map(|text| ("a.ts".to_owned(), text.to_owned())).into_iter().collect()
        };
        let found = compare(&files(old), &files(new));
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        let expect: Vec<String> =
            expect.iter().map(|message| format!("{DIRECTORY}/a.ts{message}: {AGAIN}")).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn what_differs_is_named_with_its_line_and_extent() {
        check_one(Some("a\nb\n"), Some("a\nb\n"), &[]);
        check_one(
            Some("a\n  b: number\nc\n"),
            Some("a\n  b: string\nd\nc\n"),
            &[":2: out of date, -1 +2 lines; here is `b: number` where the types say `b: string`"],
        );
        check_one(
            Some("a\n"),
            Some("a\na\n"),
            &[":2: out of date, -0 +1 lines; here is `end of file` where the types say `a`"],
        );
        check_one(None, Some("a\n"), &[": is missing"]);
        check_one(Some("a\n"), None, &[": no type makes this"]);
    }
}
