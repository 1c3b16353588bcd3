//! Sessions shown again from their logs: the same as when they were live, forked
//! and reverted ones too.

use artifacts::Durability;
use output_contract::{SavedEvent, SessionId, Timestamp};
use serde_json::Value;
use session_log::SessionLogs;

use crate::sandbox::Sandbox;

fn logs(sandbox: &Sandbox) -> SessionLogs {
    SessionLogs::open(sandbox.home().join("sessions"), Durability::Fast).unwrap()
}

fn session(name: &str) -> SessionId {
    name.parse().unwrap()
}

/// Everything below the store, but for what says when something was used.
fn stored(sandbox: &Sandbox) -> Vec<String> {
    let listed = sandbox.shell(
        "cd \"$OVERSPILL_HOME/store\" && find blobs manifests captures roots -type f | sort",
    );
    listed.text().lines().map(str::to_owned).collect()
}

/// The first lines of what `show` prints of each call.
fn headings(sandbox: &Sandbox, name: &str) -> Vec<String> {
    let shown = sandbox.overspill(["show", name]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    shown.text().lines().filter(|line| line.starts_with("== ")).map(str::to_owned).collect()
}

#[test]
fn a_replay_is_what_was_live() {
    let sandbox = Sandbox::new();
    let live = [
        sandbox.run_json(&["--session", "s"], "seq 5000; echo careful >&2"),
        sandbox.run_json(&["--session", "s"], "echo; exit 3"),
        sandbox.run_json(&["--session", "s", "--timeout", "1s"], "echo begun; sleep 60"),
        sandbox.run_json(&["--session", "s"], r"head -c 20000 /dev/zero"),
    ];
    let before = stored(&sandbox);
    let replayed = sandbox.overspill(["show", "s", "--json"]).json();
    assert_eq!(replayed.as_array().unwrap().as_slice(), live);
    for result in &live {
        let what = format!("s/{}", result["callId"].as_str().unwrap());
        let text = result["content"][0]["text"].as_str().unwrap();
        let shown = sandbox.overspill(["show", &what]).text();
        assert_eq!(shown.trim_end_matches('\n'), text.trim_end_matches('\n'));
        let display = sandbox.overspill(["show", &what, "--display"]).text();
        assert_eq!(display.trim_end(), result["display"].as_str().unwrap().trim_end());
    }
    assert_eq!(stored(&sandbox), before, "nothing was run, and nothing captured");
}

#[test]
fn what_was_reverted_is_said_and_still_read() {
    let sandbox = Sandbox::new();
    sandbox.run_json(&["--session", "s"], "echo first");
    let log = logs(&sandbox).path(&session("s"));
    let to = fs_err::metadata(log).unwrap().len();
    let reverted = sandbox.run_json(&["--session", "s"], "echo second");
    let event = SavedEvent::Reverted { to, time: Timestamp(1) };
    logs(&sandbox).append_blocking(&session("s"), &event).unwrap();
    sandbox.run_json(&["--session", "s"], "echo third");
    let headings = headings(&sandbox, "s");
    let marked: Vec<bool> = headings.iter().map(|line| line.ends_with("(reverted)")).collect();
    assert_eq!(marked, [false, true, false], "{headings:?}");
    let uri = reverted["output"]["streams"][0]["artifact"].as_str().unwrap();
    assert_eq!(sandbox.read_all(uri), b"second\n");
}

#[test]
fn a_fork_shows_what_it_inherits_first() {
    let sandbox = Sandbox::new();
    sandbox.run_json(&["--session", "parent"], "echo inherited");
    let at = fs_err::metadata(logs(&sandbox).path(&session("parent"))).unwrap().len();
    sandbox.run_json(&["--session", "parent"], "echo not inherited");
    let event = SavedEvent::SessionForked { from: session("parent"), at, time: Timestamp(1) };
    logs(&sandbox).append_blocking(&session("fork"), &event).unwrap();
    sandbox.run_json(&["--session", "fork"], "echo its own");
    let found = headings(&sandbox, "fork");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].ends_with("(session parent)") && !found[1].ends_with(')'), "{found:?}");
    let results = sandbox.overspill(["show", "fork", "--json"]).json();
    let texts: Vec<&Value> =
        results.as_array().unwrap().iter().map(|result| &result["content"][0]["text"]).collect();
    assert!(texts[0].as_str().unwrap().contains("inherited"), "{texts:?}");
    assert_eq!(sandbox.overspill(["ls", "fork"]).text().lines().count(), 1, "its own alone");

    // A parent that is gone is said, and what is left is shown.
    assert_eq!(sandbox.overspill(["rm", "--session", "parent"]).code, Some(0));
    let shown = sandbox.overspill(["show", "fork"]);
    assert_eq!(shown.code, Some(0));
    assert!(shown.stderr.contains("continues session parent, which is gone"), "{}", shown.stderr);
    assert!(shown.text().contains("its own"));
}

#[test]
fn a_damaged_log_of_any_age_is_shown_as_far_as_it_goes() {
    let sandbox = Sandbox::new();
    sandbox.run_json(&["--session", "s"], "echo live");
    let old = r#"{"type":"call_finished","result":{"sessionId":"s","callId":"old","tool":"read_tool_result","status":"completed","output":{"kind":"page"},"content":[{"type":"text","text":"an old page"}]}}"#;
    let glued = r#"{"type":"call_started","sessionId":"s","callId":"torn","to"#;
    let unknown = r#"{"type":"output_compacted","callId":"old"}"#;
    let gone = format!(
        r#"{{"type":"call_finished","result":{{"sessionId":"s","callId":"gone","tool":"bash","status":"completed","output":{{"kind":"single","streams":[{{"artifact":"artifact://{}","bytes":9}}]}}}}}}"#,
        "7".repeat(64)
    );
    let path = logs(&sandbox).path(&session("s"));
    let whole = fs_err::read_to_string(&path).unwrap();
    fs_err::write(&path, format!("{whole}{glued}{old}\n{unknown}\n{gone}{old}\n{glued}")).unwrap();
    let shown = sandbox.overspill(["show", "s"]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    assert!(shown.text().contains("live") && shown.text().contains("an old page"));
    assert_eq!(headings(&sandbox, "s").len(), 3, "{}", shown.text());
    assert_eq!(shown.stderr.matches("skipped").count(), 3, "{}", shown.stderr);
    // What is missing from the store is a line without an address.
    let args = ["compact", "--format", "overspill", "--prune-only", path.as_str()];
    let pruned = sandbox.overspill(args).text();
    assert!(pruned.contains("[tool output omitted for compaction: 9 bytes"), "{pruned}");
    assert!(pruned.contains("expired]"), "{pruned}");
}
