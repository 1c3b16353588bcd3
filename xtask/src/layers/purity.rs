//! The lowest crates do no I/O: their source does not name the parts of `std` that do.
//!
//! A dependency check cannot see `std`, and clippy's lists hold for the whole workspace, so this
//! reads the text: comments and the trailing test module aside, `std::fs`, `std::io`, `std::net`
//! and `std::process` must not occur, neither as a path nor inside `use std::{…}`.

use anyhow::Result;
use camino::Utf8Path;

use crate::finding::Finding;
use crate::tidy::source;
use crate::workspace::{Member, Workspace};

const PURE: &[&str] = &["output-contract", "output-retention"];
const BANNED: &[&str] = &["fs", "io", "net", "process"];

/// Checks the source files of the crates that do no I/O.
pub(super) fn check(workspace: &Workspace, members: &[Member]) -> Result<Vec<Finding>> {
    let files = workspace.files()?;
    let mut findings = Vec::new();
    for member in members.iter().filter(|member| PURE.contains(&member.name.as_str())) {
        let source = member.directory.join("src");
        for path in files.iter().filter(|path| path.starts_with(&source)) {
            if path.extension() == Some("rs") {
                findings.extend(check_text(path, &workspace.read(path)?));
            }
        }
    }
    Ok(findings)
}

fn check_text(path: &Utf8Path, text: &str) -> Vec<Finding> {
    // Comments go before looking, so that a group can be read across lines.
    let code: Vec<&str> = source::without_tests(text)
        .lines()
        .map(|line| if source::is_comment(line) { "" } else { line })
        .collect();
    let code = code.join("\n");
    let mut findings = Vec::new();
    for (start, _) in code.match_indices("std::") {
        let after = &code[start + "std::".len()..];
        for name in names(after).into_iter().filter(|name| BANNED.contains(name)) {
            let line = code[..start].matches('\n').count();
            findings.push(Finding::at(path, line, format!("`std::{name}` in a crate without I/O")));
        }
    }
    findings
}

/// The names that directly follow a `std::`: one, or those on the first level of a group.
fn names(after: &str) -> Vec<&str> {
    let Some(group) = after.strip_prefix('{') else {
        let end = after.find(|c: char| !source::is_word(c)).unwrap_or(after.len());
        return vec![&after[..end]];
    };
    let mut names = Vec::new();
    let mut depth = 0;
    let mut expected = true;
    for (at, c) in group.char_indices() {
        match c {
            '}' if depth == 0 => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => expected = true,
            _ if expected && source::is_word(c) => {
                let rest = &group[at..];
                let end = rest.find(|c: char| !source::is_word(c)).unwrap_or(rest.len());
                names.push(&rest[..end]);
                expected = false;
            }
            _ => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        let found: Vec<String> =
            check_text("src/x.rs".into(), text).iter().map(ToString::to_string).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn paths_and_groups_are_seen() {
        check("use std::fmt;\nuse std::collections::HashMap;\n", &[]);
        check("use std::fmt;\nuse std::fs;\n", &["src/x.rs:2: `std::fs` in a crate without I/O"]);
        check("fn f(e: std::io::Error) {}\n", &["src/x.rs:1: `std::io` in a crate without I/O"]);
        check(
            "use std::{\n    fmt::{self, Write},\n    net::{IpAddr},\n};\n",
            &["src/x.rs:1: `std::net` in a crate without I/O"],
        );
        check("use std::{collections::{fs, io}, ops};\nstd::iostat();\n", &[]);
    }

    #[test]
    fn comments_and_trailing_tests_are_not_code() {
        check("//! Never `std::fs`.\n", &[]);
        check("fn f() {}\n\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n", &[]);
        check("#[cfg(test)]\nuse std::io;\n", &["src/x.rs:2: `std::io` in a crate without I/O"]);
    }
}
