//! Rust sources: a module doc first, no nameless modules, none of the constructs the house refuses.
//!
//! The text is read by line, not parsed: rustfmt and clippy (which run beside this) have already
//! settled the layout the few patterns rely on.

use camino::Utf8Path;

use crate::finding::Finding;

/// Names that say nothing about what is inside.
const NAMELESS: &[&str] = &["util", "utils", "helper", "helpers", "common", "misc"];

/// Refused in all code, with the way out. Written in two parts, so that this file passes itself.
const REFUSED: &[(&str, &str)] = &[
    (concat!("todo", "!("), "do it, or leave it out and say so in docs/shortcomings.md"),
    (concat!("unimplemented", "!("), "do it, or return an error"),
    (concat!("dbg", "!("), "left from debugging"),
    (concat!("#[", "ignore"), "run slow tests by a variable or an xtask command"),
    (concat!("#[", "should_panic"), "return an error and test for it"),
    (concat!("#[", "allow("), "use `#[expect(…, reason = \"…\")]`"),
    (concat!("#![", "allow("), "use `#![expect(…, reason = \"…\")]`"),
];

/// Checks one file.
pub(crate) fn check(path: &Utf8Path, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let parts = path.as_str().split('/').map(|part| part.strip_suffix(".rs").unwrap_or(part));
    for part in parts.filter(|part| NAMELESS.contains(part)) {
        findings.push(Finding::of(path, nameless(part)));
    }
    if !is_test(path) && !text.starts_with("//!") {
        findings.push(Finding::at(path, 0, "does not open with a `//!` module doc"));
    }
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !is_comment(line)) {
        for (pattern, instead) in REFUSED {
            let found = line.match_indices(pattern).any(|(at, _)| !line[..at].ends_with(is_word));
            if found {
                findings.push(Finding::at(path, index, format!("`{pattern}`: {instead}")));
            }
        }
        if let Some(name) = module(line).filter(|name| NAMELESS.contains(name)) {
            findings.push(Finding::at(path, index, nameless(name)));
        }
    }
    findings
}

/// Whether a file holds tests only: below a `tests` directory, or named `tests.rs`.
pub(crate) fn is_test(path: &Utf8Path) -> bool {
    path.components().any(|part| matches!(part.as_str(), "tests" | "tests.rs" | "benches"))
}

/// The text before the trailing test module.
///
/// The module ends the file: clippy's `items_after_test_module` sees to that.
pub(crate) fn without_tests(text: &str) -> &str {
    let mut end = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        match line.trim_end() {
            "#[cfg(test)]" => end = end.or(Some(start)),
            // Further attributes may stand between.
            attribute if attribute.starts_with("#[") => {}
            "mod tests {" if end.is_some() => break,
            _ => end = None,
        }
        start += line.len();
    }
    &text[..end.unwrap_or(text.len())]
}

/// Whether a line is a comment, of any kind, and nothing else.
pub(crate) fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

/// Whether a character can be part of a Rust name.
pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The name of the module a line declares.
fn module(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let declared = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.strip_prefix(' ')?,
        None => line,
    };
    let name = declared.strip_prefix("mod ")?;
    Some(&name[..name.find(|c| !is_word(c)).unwrap_or(name.len())])
}

fn nameless(name: &str) -> String {
    format!("a module named `{name}`: name what it holds")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_one(path: &str, text: &str, expect: &[&str]) {
        let found: Vec<String> = check(path.into(), text).iter().map(ToString::to_string).collect();
        assert_eq!(found, expect, "{path}: {text}");
    }

    #[test]
    fn a_source_file_opens_with_its_doc() {
        let missing = "does not open with a `//!` module doc";
        check_one("crates/a/src/x.rs", "//! Doc.\nfn f() {}\n", &[]);
        check_one(
            "crates/a/src/x.rs",
            "use x;\n//! Doc.\n",
            &[&format!("crates/a/src/x.rs:1: {missing}")],
        );
        check_one("crates/a/src/x.rs", "", &[&format!("crates/a/src/x.rs:1: {missing}")]);
        check_one("crates/a/tests/x.rs", "fn f() {}\n", &[]);
        check_one("crates/a/src/x/tests.rs", "fn f() {}\n", &[]);
    }

    #[test]
    fn nameless_modules_are_found_as_files_directories_and_declarations() {
        let helpers = "a module named `helpers`: name what it holds";
        check_one("src/helpers.rs", "//! D\n", &[&format!("src/helpers.rs: {helpers}")]);
        check_one(
            "tests/common/x.rs",
            "",
            &["tests/common/x.rs: a module named `common`: name what it holds"],
        );
        check_one(
            "src/a.rs",
            "//! D\n    pub(super) mod helpers {\n",
            &[&format!("src/a.rs:2: {helpers}")],
        );
        check_one("src/a.rs", "//! D\npub mod helpers;\n", &[&format!("src/a.rs:2: {helpers}")]);
        check_one("src/a.rs", "//! D\nmod helpers_of_santa;\nmod commons;\n", &[]);
    }

    #[test]
    fn refused_constructs_are_found_in_code_only() {
        for (pattern, instead) in REFUSED {
            check_one(
                "src/a.rs",
                &format!("//! D\n    {pattern}x)]\n"),
                &[&format!("src/a.rs:2: `{pattern}`: {instead}")],
            );
            check_one("src/a.rs", &format!("//! D\n    // {pattern}x)]\n"), &[]);
        }
        let other = concat!("//! D\nmy_todo", "!();\n#[expect(dead_code)]\n");
        check_one("src/a.rs", other, &[]);
    }

    #[test]
    fn only_the_trailing_test_module_is_cut() {
        let code = "fn f() {}\n\n#[cfg(test)]\nuse x;\n";
        assert_eq!(without_tests(code), code);
        let module = "#[cfg(test)]\n#[path = \"x\"]\nmod tests {\n    use y;\n}\n";
        assert_eq!(without_tests(&format!("{code}{module}")), code);
        assert_eq!(without_tests("mod tests {\n}\n"), "mod tests {\n}\n");
        assert_eq!(without_tests(""), "");
    }
}
