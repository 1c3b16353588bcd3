//! What is kept: in numbers, for how long, and whether it is whole.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant, UNIX_EPOCH};

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
    // What was put aside is missing to the call that keeps it.
    let report = sandbox.overspill(["verify", "--json"]);
    assert_eq!((report.code, &report.json()["corrupt"]), (Some(1), &Value::Array(Vec::new())));
    assert_eq!(report.json()["missing"][0]["sha256"], digest);
    let missing = sandbox.overspill(["verify"]).text();
    let kept = format!("missing {digest}, kept by s/{}", result["callId"].as_str().unwrap());
    assert!(missing.contains(": 1 missing\n") && missing.contains(&kept), "{missing}");
    assert_eq!(sandbox.overspill(["stat", "--json"]).json()["quarantined"], 1);
    sandbox.run("seq 200000");
    assert_eq!(sandbox.read_all(&uri).len(), 1_288_895);
    assert_eq!(sandbox.overspill(["verify"]).code, Some(0));
}

#[test]
fn what_is_past_the_limits_is_let_go_before_a_collection() {
    let sandbox = Sandbox::new();
    sandbox.configure("[retention]\nmax_bytes = 40000\n[store]\ndurability = \"fast\"\n");
    let first = sandbox.run_json(&["--session", "first"], "seq 5000");
    sandbox.run_json(&["--session", "second"], "seq 5001");
    let dry = sandbox.overspill(["gc", "--dry-run"]).text();
    assert!(dry.starts_with("would let go of 1 calls past [retention]\n"), "{dry}");
    let report = sandbox.overspill(["gc", "--grace", "0s", "--json"]).json();
    assert_eq!((&report["released"], &report["removed"]), (&1.into(), &2.into()), "{report}");
    let uri = format!("artifact://{}/stdout", first["output"]["manifest"].as_str().unwrap());
    let expired = sandbox.overspill(["read", &uri]).stderr;
    assert!(expired.contains("expired") && expired.contains("session first"), "{expired}");
    // The call is still known.
    assert_eq!(sandbox.overspill(["show", "first", "--json"]).json()[0], first);
    assert_eq!(sandbox.overspill(["stat", "--json"]).json()["sessions"][0]["sessionId"], "second");
}

#[test]
fn a_run_starts_a_collection_that_nobody_waits_for() {
    let sandbox = Sandbox::new();
    sandbox.configure("[retention]\nmax_bytes = 40000\n[store]\ngrace = \"0s\"\n");
    let sessions = || {
        let stat = sandbox.overspill(["stat", "--json"]).json();
        let sessions = stat["sessions"].as_array().unwrap();
        sessions.iter().map(|s| s["sessionId"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for session in ["a", "b"] {
        sandbox.run_json(&["--session", session], &format!("echo {session}; seq 5000"));
    }
    // The store is younger than an hour.
    assert_eq!(sessions(), ["a", "b"]);
    let lock = fs_err::File::open(sandbox.home().join("store/locks/gc")).unwrap();
    lock.file().set_modified(UNIX_EPOCH).unwrap();
    let ran = sandbox.overspill(["run", "--session", "c", "--", "echo", "c"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let deadline = Instant::now() + Duration::from_secs(60);
    while sessions() != ["b", "c"] {
        assert!(Instant::now() < deadline, "{:?}", sessions());
        std::thread::sleep(Duration::from_millis(20));
    }
    let touched = lock.metadata().unwrap().modified().unwrap();
    assert!(touched > UNIX_EPOCH);
}

#[test]
fn collections_at_any_time_take_nothing_from_runs() {
    let sandbox = Sandbox::new();
    let running = AtomicBool::new(true);
    std::thread::scope(|scope| {
        let collector = scope.spawn(|| {
            let mut collections = 0;
            while running.load(Ordering::Relaxed) {
                let gc = sandbox.overspill(["gc", "--grace", "0s"]);
                assert_eq!((gc.code, gc.stderr.as_str()), (Some(0), ""));
                collections += 1;
            }
            collections
        });
        let runners: Vec<_> = (1..3)
            .map(|runner| {
                let sandbox = &sandbox;
                scope.spawn(move || {
                    let session = format!("s{runner}");
                    for from in [1, 7 * runner] {
                        let script = format!("seq {from} 20000");
                        let result = sandbox.run_json(&["--session", &session], &script);
                        let uri = result["output"]["streams"][0]["artifact"].as_str().unwrap();
                        let expected: String = (from..=20_000).map(|n| format!("{n}\n")).collect();
                        assert_eq!(sandbox.read_all(uri), expected.as_bytes(), "{script}");
                    }
                })
            })
            .collect();
        let ended: Vec<_> = runners.into_iter().map(ScopedJoinHandle::join).collect();
        running.store(false, Ordering::Relaxed);
        assert!(collector.join().unwrap() > 0);
        ended.into_iter().for_each(|ended| ended.unwrap());
    });
    assert_eq!(sandbox.overspill(["verify"]).code, Some(0));
}
