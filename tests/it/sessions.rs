//! Sessions: listing, showing, removing; the configuration.

use serde_json::Value;

use crate::sandbox::Sandbox;

#[test]
fn a_call_is_listed_shown_and_removed() {
    let sandbox = Sandbox::new();
    let result = sandbox.run_json(&["--session", "build 7/a"], "echo out; exit 4");
    let call = result["callId"].as_str().unwrap();
    let ls = sandbox.overspill(["ls"]);
    assert_eq!(ls.text(), "build 7/a  1 call, 4 bytes\n");
    let ls = sandbox.overspill(["ls", "build 7/a"]).text();
    assert!(ls.starts_with(&format!("{call}  exit 4 ")), "{ls}");
    let text = "[stdout]\nout\n\n[stderr]\n[exit code: 4]\n";
    assert_eq!(sandbox.overspill(["show", &format!("build 7/a/{call}")]).text(), text);
    assert_eq!(sandbox.overspill(["show", &format!("build 7/a/{}", &call[..12])]).text(), text);
    let whole = sandbox.overspill(["show", "build 7/a"]).text();
    assert!(whole.ends_with(text), "{whole}");
    assert_eq!(sandbox.overspill(["show", "build 7/a", "--json"]).json()[0], result);

    assert_eq!(sandbox.overspill(["rm", "--session", "no such"]).code, Some(1));
    assert_eq!(sandbox.overspill(["rm", "--session", "all"]).code, Some(0));
    assert_eq!(sandbox.overspill(["ls"]).text(), "");
    assert_eq!(sandbox.overspill(["show", "build 7/a"]).code, Some(1));
    let report = sandbox.overspill(["gc", "--grace", "0s", "--json"]).json();
    assert_eq!(
        (&report["live"], &report["removed"]),
        (&Value::from(0), &Value::from(3)),
        "{report}"
    );
}

#[test]
fn what_is_young_is_left_alone() {
    let sandbox = Sandbox::new();
    sandbox.run_json(&["--session", "s"], "echo young");
    sandbox.overspill(["rm", "--session", "s"]);
    let report = sandbox.overspill(["gc", "--json"]).json();
    // The manifest is young, and what it names stays with it.
    let [live, young] = ["live", "young"].map(|key| report[key].as_u64().unwrap());
    assert_eq!((&report["removed"], live + young), (&Value::from(0), 3), "{report}");
    let dry = sandbox.overspill(["gc", "--grace", "0s", "--dry-run", "--json"]).json();
    assert_eq!(dry["removed"], 3);
    let report = sandbox.overspill(["gc", "--grace", "0s", "--json"]).json();
    assert_eq!(report["removed"], 3);
}

#[test]
fn lost_roots_are_no_reason_to_remove_everything() {
    let sandbox = Sandbox::new();
    for session in ["a", "b", "c"] {
        sandbox.run_json(&["--session", session], &format!("echo {session}"));
    }
    fs_err::remove_dir_all(sandbox.home().join("store/roots")).unwrap();
    fs_err::create_dir(sandbox.home().join("store/roots")).unwrap();
    let refused = sandbox.overspill(["gc", "--grace", "0s"]);
    assert_eq!(refused.code, Some(1), "{}", refused.text());
    for part in ["7 of 7 stored artifacts", "store/roots/", "and 2 more", "overspill gc --force"] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
    }
    let dry = sandbox.overspill(["gc", "--grace", "0s", "--dry-run"]).text();
    assert!(dry.contains("7 of them were never let go"), "{dry}");
    let forced = sandbox.overspill(["gc", "--grace", "0s", "--force", "--json"]).json();
    assert_eq!((&forced["removed"], &forced["unexplained"]), (&Value::from(7), &Value::from(7)));
}

#[test]
fn the_default_session_is_the_day() {
    let sandbox = Sandbox::new();
    let result = sandbox.run_json(&[], "true");
    let session = result["sessionId"].as_str().unwrap();
    let digits: String =
        session.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(digits, "0000-00-00");
}

#[test]
fn the_configuration_is_checked_and_printed() {
    let sandbox = Sandbox::new();
    sandbox.configure("[tool_output]\nmax_lines = 3\nshape = \"head\"\n");
    let printed = sandbox.overspill(["config"]).text();
    assert!(printed.contains("max_lines = 3\n"), "{printed}");
    assert!(printed.contains("shape = \"head\"\n"), "{printed}");
    assert!(printed.contains("durability = \"durable\"\n"), "{printed}");
    let text = sandbox.run("seq 5").text();
    assert!(text.starts_with("[stdout]\n1\n2\n3\n[Truncated"), "{text}");

    sandbox.configure("[tool_output]\nmax_liness = 3\n");
    let ran = sandbox.run("true");
    assert_eq!(ran.code, Some(125));
    assert!(ran.stderr.contains("max_liness"), "{}", ran.stderr);
    assert_eq!(sandbox.overspill(["config"]).code, Some(1));
}

#[test]
fn help_names_what_works() {
    let sandbox = Sandbox::new();
    let help = sandbox.overspill(["--help"]).text();
    for command in
        ["run", "read", "ls", "show", "rm", "gc", "stat", "verify", "spill", "compact", "config"]
    {
        assert!(help.contains(&format!("\n  {command} ")), "{help}");
        assert_eq!(sandbox.overspill([command, "--help"]).code, Some(0));
    }
    for later in ["transcript", "serve"] {
        assert!(!help.contains(&format!("\n  {later} ")), "{help}");
    }
}

#[test]
fn durable_runs_work_too() {
    let sandbox = Sandbox::new();
    sandbox.configure("");
    let result = sandbox.run_json(&[], "seq 100000");
    let uri = result["output"]["streams"][0]["artifact"].as_str().unwrap();
    assert_eq!(sandbox.read_all(uri).len(), 588_895);
}
