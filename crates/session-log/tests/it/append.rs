//! What an append leaves behind.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use artifacts::Durability;
use fs_err::os::unix::fs::symlink;
use output_contract::{SavedEvent, encode_event};
use serde_json::{Value, json};
use session_log::{LogError, SessionLogs, SessionRecords, SkipReason};

use crate::sample::{TempLogs, call, finished, session, session_started, started};

#[test]
fn the_first_record_names_the_session() {
    let logs = TempLogs::new();
    let id = session("a/b \"c\" \\ é");
    logs.append_blocking(&id, &started("x", "1", json!({}))).unwrap();
    logs.append_blocking(&id, &finished("x", "1", "")).unwrap();
    let events: Vec<SavedEvent> = logs.read(&id).unwrap().into_events().collect();
    assert_eq!(
        events,
        [session_started(id.as_str()), started("x", "1", json!({})), finished("x", "1", "")]
    );

    let own = session("own");
    logs.append_blocking(&own, &session_started("own")).unwrap();
    logs.append_blocking(&own, &finished("own", "1", "")).unwrap();
    assert_eq!(logs.read(&own).unwrap().events.len(), 2);
}

#[test]
fn the_longest_session_id_is_as_good_as_any() {
    let logs = TempLogs::new();
    let id = session(&"\"".repeat(256));
    for index in 0..3 {
        logs.append_blocking(&id, &finished("x", &index.to_string(), "")).unwrap();
    }
    assert_eq!(logs.read(&id).unwrap().events.len(), 4);
    assert_eq!(logs.sessions().unwrap()[0].session, id);
}

#[test]
fn directories_and_files_are_private() {
    let logs = TempLogs::new();
    let nested = logs.home().join("a/b/sessions");
    let durable = SessionLogs::open(nested.clone(), Durability::Durable).unwrap();
    let id = session("s");
    durable.append_blocking(&id, &session_started("s")).unwrap();
    let mode = |path: &camino::Utf8Path| {
        fs_err::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
    };
    for dir in [nested.as_path(), nested.parent().unwrap(), &logs.home().join("a")] {
        assert_eq!(mode(dir), 0o700, "{dir}");
    }
    assert_eq!(mode(&durable.path(&id)), 0o600);
}

#[test]
fn links_and_other_things_in_the_way_are_refused() {
    let logs = TempLogs::new();
    let target = logs.home().join("target");
    fs_err::write(&target, "precious").unwrap();

    let id = session("s");
    symlink(&target, logs.path(&id)).unwrap();
    let error = logs.append_blocking(&id, &finished("s", "1", "")).unwrap_err();
    assert!(matches!(error, LogError::File(_)), "{error}");
    assert!(matches!(logs.read(&id), Err(LogError::File(_))));
    assert_eq!(fs_err::read(&target).unwrap(), b"precious");

    let pipe = session("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, logs.path(&pipe).as_std_path(), 0o600.into()).unwrap();
    assert!(matches!(
        logs.append_blocking(&pipe, &finished("pipe", "1", "")),
        Err(LogError::NotAFile { .. })
    ));
    assert!(matches!(logs.read(&pipe), Err(LogError::NotAFile { .. })));

    let elsewhere = logs.home().join("elsewhere");
    symlink(logs.dir(), &elsewhere).unwrap();
    for not_a_directory in [&elsewhere, &target] {
        assert!(matches!(
            SessionLogs::open(not_a_directory.clone(), Durability::Fast),
            Err(LogError::File(_))
        ));
    }
}

#[test]
fn a_directory_of_another_user_is_refused() {
    if !rustix::process::geteuid().is_root() {
        // Only root can give a directory away; everyone else is never asked to.
        return;
    }
    let logs = TempLogs::new();
    let foreign = logs.home().join("foreign");
    fs_err::create_dir(&foreign).unwrap();
    fs_err::os::unix::fs::chown(&foreign, Some(4242), None).unwrap();
    assert!(matches!(
        SessionLogs::open(foreign, Durability::Fast),
        Err(LogError::ForeignDirectory { owner: 4242, .. })
    ));
}

#[test]
fn a_torn_tail_is_closed_by_the_next_append() {
    let logs = TempLogs::new();
    let id = session("s");
    logs.append_blocking(&id, &finished("s", "1", "one")).unwrap();
    let whole = fs_err::read(logs.path(&id)).unwrap();
    let record = encode_event(&finished("s", "torn", "é"));
    for cut in 1..record.len() - 1 {
        fs_err::write(logs.path(&id), [&whole, &record[..cut]].concat()).unwrap();
        let before = logs.read(&id).unwrap();
        assert_eq!(before.diagnostics.len(), 1, "{cut}");
        assert_eq!(before.diagnostics[0].position, whole.len() as u64);
        assert_eq!(before.diagnostics[0].reason, SkipReason::Unfinished);

        logs.append_blocking(&id, &finished("s", "2", "two")).unwrap();
        let after = logs.read(&id).unwrap();
        assert_eq!(after.events.len(), 3, "{cut}");
        assert_eq!(after.events[2].1, finished("s", "2", "two"));
        assert_eq!(after.events[2].0, (whole.len() + cut + 1) as u64);
        assert_eq!((after.diagnostics.len(), after.diagnostics[0].line), (1, 3));
    }
}

#[test]
fn a_tail_that_lacks_only_its_line_end_is_whole() {
    let logs = TempLogs::new();
    let id = session("s");
    logs.append_blocking(&id, &finished("s", "1", "one")).unwrap();
    let whole = fs_err::read(logs.path(&id)).unwrap();
    fs_err::write(logs.path(&id), &whole[..whole.len() - 1]).unwrap();
    for records in 2..5 {
        let read = logs.read(&id).unwrap();
        assert_eq!((read.events.len(), read.diagnostics.len()), (records, 0));
        logs.append_blocking(&id, &finished("s", "2", "two")).unwrap();
    }
}

#[test]
fn a_log_whose_first_record_was_torn_names_its_session_again() {
    let logs = TempLogs::new();
    let id = session("s");
    for start in [&b"{\"type\":\"session_st"[..], &[0; 4096], b""] {
        fs_err::write(logs.path(&id), start).unwrap();
        for index in 0..3 {
            logs.append_blocking(&id, &finished("s", &index.to_string(), "")).unwrap();
        }
        let read = logs.read(&id).unwrap();
        assert_eq!(read.events.len(), 4);
        assert_eq!(read.diagnostics.len(), usize::from(!start.is_empty()));
        let started = SavedEvent::SessionStarted {
            session_id: id.clone(),
            at: output_contract::Timestamp(2),
        };
        assert_eq!(read.events[0].1, started);
        assert_eq!(logs.sessions().unwrap().len(), 1);
    }
}

#[test]
fn a_file_of_another_session_is_not_appended_to() {
    let logs = TempLogs::new();
    let id = session("s");
    fs_err::write(logs.path(&id), encode_event(&session_started("other"))).unwrap();
    let error = logs.append_blocking(&id, &finished("s", "1", "")).unwrap_err();
    assert!(
        matches!(&error, LogError::OtherSession { found, .. } if found.as_str() == "other"),
        "{error}"
    );
}

#[test]
fn what_could_not_be_read_back_is_not_saved() {
    let logs = TempLogs::new();
    let id = session("s");
    let deep = (0..200).fold(json!(1), |inner, _| Value::Array(vec![inner]));
    let error = logs.append_blocking(&id, &started("s", "1", deep)).unwrap_err();
    assert!(matches!(error, LogError::TooDeep { .. }), "{error}");
    assert!(!logs.contains_call(&id, &call("1")).unwrap());
}

#[test]
fn a_durable_append_is_the_same_append() {
    let logs = TempLogs::new();
    let durable = SessionLogs::open(logs.dir().to_owned(), Durability::Durable).unwrap();
    let id = session("s");
    durable.append_blocking(&id, &finished("s", "1", "x")).unwrap();
    let bytes = fs_err::read(logs.path(&id)).unwrap();
    logs.remove(&id).unwrap();
    logs.append_blocking(&id, &finished("s", "1", "x")).unwrap();
    assert_eq!(fs_err::read(logs.path(&id)).unwrap(), bytes);
    assert_eq!(fs_err::metadata(logs.path(&id)).unwrap().size(), bytes.len() as u64);
    assert!(durable.remove(&id).unwrap());
    assert_eq!(SessionRecords::parse(&bytes).events.len(), 2);
}
