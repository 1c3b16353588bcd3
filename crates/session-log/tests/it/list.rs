//! Listing and removing sessions, and listing calls.

use fs_err::os::unix::fs::symlink;
use output_contract::{Status, Timestamp, encode_event};
use serde_json::json;
use session_log::{LogError, SessionRecords, replay};

use crate::sample::{TempLogs, call, finished, result, session, session_started, started};

#[test]
fn sessions_are_listed_and_foreign_files_are_not() {
    let logs = TempLogs::new();
    for name in ["b", "a", "x/y"] {
        logs.append_blocking(&session(name), &session_started(name)).unwrap();
    }
    let first = session("first");
    let early =
        output_contract::SavedEvent::SessionStarted { session_id: first.clone(), at: Timestamp(0) };
    logs.append_blocking(&first, &early).unwrap();

    let log = fs_err::read(logs.path(&first)).unwrap();
    fs_err::write(logs.dir().join("notes.txt"), "mine").unwrap();
    fs_err::write(logs.dir().join("copy-0123456789ab.jsonl"), &log).unwrap();
    fs_err::write(logs.dir().join("empty-0123456789ab.jsonl"), "").unwrap();
    fs_err::write(logs.dir().join("odd-0123456789ab.jsonl"), "\0{]\n").unwrap();
    fs_err::create_dir(logs.dir().join("dir-0123456789ab.jsonl")).unwrap();
    symlink(logs.path(&first), logs.dir().join("link-0123456789ab.jsonl")).unwrap();

    let sessions = logs.sessions().unwrap();
    let names: Vec<_> = sessions.iter().map(|s| s.session.as_str()).collect();
    assert_eq!(names, ["first", "a", "b", "x/y"]);
    assert_eq!(sessions[0].started_at, Some(Timestamp(0)));
    assert_eq!(sessions[0].bytes, log.len() as u64);
    assert!(sessions[0].last_modified > Timestamp(1_600_000_000_000));
}

#[test]
fn a_session_is_listed_by_any_record_that_names_it() {
    let logs = TempLogs::new();
    let id = session("s");
    let start = encode_event(&session_started("s"));
    let rest = encode_event(&finished("s", "1", ""));
    fs_err::write(logs.path(&id), [&start[..20], b"\n", &rest].concat()).unwrap();
    let sessions = logs.sessions().unwrap();
    assert_eq!((sessions.len(), sessions[0].started_at), (1, None));
}

#[test]
fn a_removed_session_is_gone() {
    let logs = TempLogs::new();
    let id = session("s");
    assert!(!logs.remove(&id).unwrap());
    logs.append_blocking(&id, &finished("s", "1", "")).unwrap();
    assert!(logs.remove(&id).unwrap());
    assert!(!logs.remove(&id).unwrap());
    assert!(matches!(logs.read(&id), Err(LogError::NoSuchSession { .. })));
    assert_eq!(logs.calls(&id).unwrap(), []);
    assert!(!logs.contains_call(&id, &call("1")).unwrap());
    assert_eq!(logs.sessions().unwrap(), []);
}

#[test]
fn calls_are_listed_as_a_replay_has_them() {
    let logs = TempLogs::new();
    let id = session("s");
    let mut failed = result("s", "1", "");
    failed.status = Status::Failed;
    let failed =
        output_contract::SavedEvent::CallFinished { result: failed.into(), at: <_>::default() };
    for event in [
        started("s", "1", json!({"callId": "no"})),
        started("s", "2", json!(null)),
        failed,
        finished("s", "3", "\"callId\":\"no\""),
        finished("s", "1", "a second end"),
    ] {
        logs.append_blocking(&id, &event).unwrap();
    }
    let mut log = fs_err::read(logs.path(&id)).unwrap();
    for broken in [
        r#"{"type":"call_started","sessionId":"s","callId":"4","tool":""}"#,
        r#"{"type":"call_started","sessionId":"","callId":"5","tool":"t"}"#,
        r#"{"type":"call_finished","result":{"sessionId":"s","callId":"6","tool":"t","status":"completed","output":{"kind":"?"}}}"#,
        r#"{"type":"elsewhere","sessionId":"s","callId":"7","tool":"t"}"#,
        r#"{"type":7,"sessionId":"s","callId":"8","tool":"t"}"#,
        r#"{"type":"call_started","sessionId":"s","callId":"9","tool":"t","arguments":"torn"#,
    ] {
        log.extend(broken.as_bytes());
        log.push(b'\n');
    }
    fs_err::write(logs.path(&id), &log).unwrap();

    let calls = logs.calls(&id).unwrap();
    let listed: Vec<_> = calls.iter().map(|c| (c.call_id.as_str(), c.status)).collect();
    assert_eq!(listed, [("1", Some(Status::Failed)), ("2", None), ("3", Some(Status::Completed))]);
    let replayed = replay(SessionRecords::parse(&log));
    let replayed: Vec<_> =
        replayed.calls.iter().map(|c| (c.call_id.as_str(), c.result().map(|r| r.status))).collect();
    assert_eq!(listed, replayed);
    assert!(logs.contains_call(&id, &call("2")).unwrap());
    for unknown in ["no", "4", "9"] {
        assert!(!logs.contains_call(&id, &call(unknown)).unwrap(), "{unknown}");
    }
    assert!(logs.has_finished_blocking(&id, &call("1")).unwrap());
    assert!(!logs.has_finished_blocking(&id, &call("2")).unwrap());
    assert!(!logs.has_finished_blocking(&id, &call("7")).unwrap());
}
