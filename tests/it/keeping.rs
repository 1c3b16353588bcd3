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

#[test]
fn what_is_damaged_is_found_put_aside_and_healed() {
    let sandbox = Sandbox::new();
    let result = sandbox.run_json(&["--session", "s"], "seq 200000");
    let digest = result["output"]["streams"][0]["sha256"].as_str().unwrap();
    let good = sandbox.overspill(["verify"]);
    assert_eq!(good.code, Some(0), "{}", good.stderr);
    assert!(good.text().contains(": all are whole\n"), "{}", good.text());
    assert_eq!(good.stderr, "");

    let path = sandbox.home().join("store/blobs/sha256").join(&digest[..2]).join(digest);
    let mut bytes = fs_err::read(&path).unwrap();
    bytes[300_000] ^= 1;
    fs_err::remove_file(&path).unwrap();
    fs_err::write(&path, bytes).unwrap();
    let found = sandbox.overspill(["verify"]);
    assert_eq!(found.code, Some(1), "{}", found.stderr);
    let kept = format!(
        "corrupt blob {digest} (1288895 bytes), kept by s/{}",
        result["callId"].as_str().unwrap()
    );
    for part in [": 1 corrupt\n", &kept, "put aside: ", "store/quarantine/"] {
        assert!(found.text().contains(part), "{part}: {}", found.text());
    }
    let uri = format!("artifact://{digest}");
    assert!(sandbox.overspill(["read", &uri]).stderr.contains("corrupt"));
    let report = sandbox.overspill(["verify", "--json"]);
    assert_eq!((report.code, &report.json()["corrupt"]), (Some(0), &Value::Array(Vec::new())));
    assert_eq!(sandbox.overspill(["stat", "--json"]).json()["quarantined"], 1);
    sandbox.run("seq 200000");
    assert_eq!(sandbox.read_all(&uri).len(), 1_288_895);
}
