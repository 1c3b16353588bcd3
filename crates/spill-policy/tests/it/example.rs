//! The example agent: it works, and the policy costs it a few lines.

use camino::Utf8Path;

#[expect(dead_code, reason = "its `main` is for `cargo run`")]
#[path = "../../examples/agent.rs"]
mod agent;

#[tokio::test]
async fn the_example_agent_sees_the_ends_of_what_is_long() {
    let dir = tempfile::tempdir().unwrap();
    let history = agent::run(Utf8Path::from_path(dir.path()).unwrap()).await;
    let [short, long, middle] = &*history else { panic!("{history:?}") };
    assert_eq!(short, "line 1 of a page\nline 2 of a page\nline 3 of a page\n");
    assert_eq!(middle.lines().count(), 100);
    assert_eq!(long.len(), 2_000, "{long}");
    assert!(long.starts_with("line 1 of a page\nline 2"), "{long}");
    let (_, notice) = long.split_once("line 10000 of a page\n\n\n(Omitted ").unwrap();
    let (_, after) = notice.split_once(" stored at: ").unwrap();
    let (path, hint) = after.split_once(". ").unwrap();
    assert!(hint.starts_with("Use read with offset and limit"), "{hint}");
    let whole = fs_err::read_to_string(path).unwrap();
    assert_eq!(whole.lines().count(), 10_000);
}

#[test]
fn the_example_agent_needs_few_lines_for_it() {
    let source = include_str!("../../examples/agent.rs");
    let (_, added) = source.split_once("// spill: begin\n").unwrap();
    let (added, _) = added.split_once("// spill: end\n").unwrap();
    let lines = added.lines().filter(|line| !line.is_empty() && !line.starts_with("///")).count();
    assert!(lines <= 15, "{lines} lines");
}
