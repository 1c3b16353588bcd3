//! The examples that the docs point to, run as they are.

use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};

use crate::sandbox::{Ran, ran};

/// Runs an example, which cargo builds with the tests and puts beside them.
fn run(package: &str, example: &str) -> Ran {
    let tests = Utf8PathBuf::try_from(std::env::current_exe().unwrap()).unwrap();
    let program = tests.ancestors().nth(2).map(|profile| profile.join("examples").join(example));
    let program = program.filter(|program| Utf8Path::exists(program)).unwrap_or_else(|| {
        panic!("{example} is not built: run `cargo build -p {package} --example {example}`")
    });
    let ran = ran(&mut Command::new(program));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran
}

#[test]
fn agent_loop_reads_all_of_what_was_cut() {
    let ran = run("overspill", "agent_loop");
    let text = ran.text();
    assert!(text.starts_with("> bash({\"command\":\"seq 50000\"})\n"), "{text}");
    let first = text.lines().nth(1).unwrap();
    assert!(first.starts_with("[Truncated. Read more: read(filePath=\"artifact://"), "{first}");
    // The head has 2,000 lines, and so has each page.
    assert_eq!(text.matches("> read({").count(), 24, "{text}");
    assert!(text.contains("\n49999\n50000\n"), "{text}");
    assert!(text.contains("> lint({})\n\n[diagnostics]\nno files found\n"), "{text}");
    for live in ["| bash starts\n", "| 50000\n", "| no files found\n", "| 0 problems in 0 files\n"]
    {
        assert!(ran.stderr.contains(live), "{live:?}: {}", ran.stderr);
    }
}

#[test]
fn own_loop_pages_back_every_byte() {
    let text = run("output-capture", "own_loop").text();
    assert!(text.starts_with("1\n2\n3\n4\n[Truncated. Read more: open(filePath=\"artifact://"));
    assert!(text.contains("\n[Last 4 of 50000 lines]\n49997\n49998\n49999\n50000\n"), "{text}");
    assert!(text.contains("\n288894 bytes read back in 25 pages"), "{text}");
}

#[test]
fn keep_and_page_reads_a_page_and_says_what_expired() {
    let text = run("artifact-store", "keep_and_page").text();
    let (shown, expired) = text.split_at(text.find("artifact ").unwrap());
    assert_eq!(
        shown, "288894 bytes, 50000 lines\n41001\n41002\n41003\nkept: 1\nremoved: 1\n",
        "{text}"
    );
    assert!(expired.contains("an output of call call-1 of session session"), "{expired}");
}

#[test]
fn verify_and_heal_serves_no_damage() {
    let text = run("artifact-store", "verify_and_heal").text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "stored: 1 whole, 0 corrupt, 0 missing");
    assert!(lines[1].ends_with(" is corrupt in bytes 0..18"), "{text}");
    assert_eq!(
        lines[2..],
        [
            "verified: 0 whole, 1 corrupt, 0 missing, kept by call-1 of session",
            "verified again: 0 whole, 0 corrupt, 1 missing, kept by call-1 of session",
            "published again: 1 whole, 0 corrupt, 0 missing",
            "read: every byte counts",
        ]
    );
}
