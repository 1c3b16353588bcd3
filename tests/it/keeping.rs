//! What is kept: in numbers, for how long, and whether it is whole.

use serde_json::Value;

use crate::sandbox::Sandbox;

#[test]
fn what_is_kept_is_told_in_numbers() {
    let sandbox = Sandbox::new();
    let empty = sandbox.overspill(["stat"]);
    assert_eq!(empty.text(), "0 artifacts, 0 bytes; 0 of them, 0 bytes, are kept by calls\n");
    for session in ["one", "two"] {
        sandbox.run_json(&["--session", session], "seq 10000");
    }
    let text = sandbox.overspill(["stat"]).text();
    assert!(text.starts_with("3 artifacts, "), "{text}");
    assert!(text.contains("bytes saved") && text.contains("\ntwo  1 call, "), "{text}");
    let stat = sandbox.overspill(["stat", "--json"]).json();
    assert_eq!(stat["bytes"], stat["retainedBytes"]);
    assert_eq!(stat["savedBytes"], stat["sessions"][0]["bytes"]);
    assert_eq!((&stat["sessions"][1]["sessionId"], &stat["artifacts"]), (&"two".into(), &3.into()));

    let roots = fs_err::read_dir(sandbox.home().join("store/roots")).unwrap();
    for roots in roots {
        fs_err::write(roots.unwrap().path(), "damaged\nline\n").unwrap();
    }
    let damaged = sandbox.overspill(["stat"]);
    assert_eq!(damaged.code, Some(0));
    assert_eq!(damaged.stderr.matches("is damaged: line 1").count(), 2, "{}", damaged.stderr);
    let json: Value = sandbox.overspill(["stat", "--json"]).json();
    assert_eq!(json["unreadable"].as_array().unwrap().len(), 2);
}
