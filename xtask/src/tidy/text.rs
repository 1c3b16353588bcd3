//! Every text file: clean line ends, and nothing about the place where it was written.

use camino::Utf8Path;

use crate::finding::Finding;

/// What the project never mentions, in lower case, with the reason. Written in two parts, so that
/// this file passes itself.
const UNMENTIONED: &[(&str, &str)] = &[
    (concat!("this ", "session"), "the project has no author's sessions: say when, or leave out"),
    (
        concat!("previous ", "session"),
        "the project has no author's sessions: say when, or leave out",
    ),
    (concat!("/wo", "rk/"), MACHINE),
    (concat!("/tmp", "/xt"), MACHINE),
    (concat!("index.", "crates.io"), HOST),
    (concat!("static.", "crates.io"), HOST),
    (concat!("registry.", "npmjs.org"), HOST),
    (concat!("pypi", ".org"), HOST),
    (concat!("files.", "pythonhosted.org"), HOST),
    (concat!("proxy.", "golang.org"), HOST),
];
const MACHINE: &str = "a path of one machine";
const HOST: &str = "a registry's host: which registry is used is the user's affair";

/// Checks one file.
pub(super) fn check(path: &Utf8Path, text: &str) -> Vec<Finding> {
    let mut findings = mentions(path, text);
    if !is_recorded(path) {
        findings.extend(line_ends(path, text));
    }
    findings
}

/// Files whose bytes are what is tested: fixtures (some formats have no final newline) and insta's
/// snapshots (what is shown to a model may end in spaces).
fn is_recorded(path: &Utf8Path) -> bool {
    path.extension() == Some("snap") || path.components().any(|part| part.as_str() == "fixtures")
}

fn mentions(path: &Utf8Path, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let lower = line.to_lowercase();
        for (word, why) in UNMENTIONED {
            // A path is absolute, and a word whole, only where none goes on before it.
            let stands_alone = |at: usize| {
                !lower[..at]
                    .ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '~'))
            };
            if lower.match_indices(word).any(|(at, _)| stands_alone(at)) {
                findings.push(Finding::at(path, index, format!("mentions `{word}`: {why}")));
            }
        }
    }
    findings
}

fn line_ends(path: &Utf8Path, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in text.split('\n').enumerate() {
        if line.ends_with(char::is_whitespace) {
            findings.push(Finding::at(path, index, "trailing whitespace"));
        }
    }
    let ends_well = text.is_empty() || text.ends_with('\n') && !text.ends_with("\n\n");
    if !ends_well || text == "\n" {
        findings.push(Finding::of(path, "does not end with exactly one newline"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_one(path: &str, text: &str, expect: &[&str]) {
        let found: Vec<String> = check(path.into(), text).iter().map(ToString::to_string).collect();
        assert_eq!(found, expect, "{path}: {text:?}");
    }

    #[test]
    fn line_ends_are_clean() {
        let newline = "a.md: does not end with exactly one newline";
        check_one("a.md", "a\n\nb\n", &[]);
        check_one("a.md", "", &[]);
        check_one("a.md", "a", &[newline]);
        check_one("a.md", "a\n\n", &[newline]);
        check_one("a.md", "\n", &[newline]);
        check_one(
            "a.md",
            "a \nb\t\n",
            &["a.md:1: trailing whitespace", "a.md:2: trailing whitespace"],
        );
        check_one("a.md", "a\r\n", &["a.md:1: trailing whitespace"]);
    }

    #[test]
    fn recorded_bytes_are_left_as_they_are() {
        check_one("crates/a/tests/fixtures/v1/manifest.json", "{}", &[]);
        check_one("crates/a/src/snapshots/x.snap", "a \n\n", &[]);
    }

    #[test]
    fn what_is_unmentioned_is_found_everywhere() {
        for (word, why) in UNMENTIONED {
            let text = format!("a\nSee {}\n", word.to_uppercase());
            check_one(
                "a/fixtures/b",
                &text,
                &[&format!("a/fixtures/b:2: mentions `{word}`: {why}")],
            );
        }
        check_one("a.rs", concat!("home/wo", "rk/x ~/wo", "rk/x\n"), &[]);
        check_one("a.md", "https://crates.io and this\nsession\n", &[]);
    }
}
