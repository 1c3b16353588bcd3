//! Several threads and processes on one log.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::process::{Command, Stdio};
use std::thread::{self, ScopedJoinHandle};

use artifacts::Durability;
use fs_err::OpenOptions;
use output_contract::SavedEvent;
use session_log::{LogError, SessionLogs, SkipReason};

use crate::sample::{TempLogs, finished, session, session_started};

/// Names the directory for a test that runs again in a child process.
const DIRECTORY: &str = "SESSION_LOG_TEST_DIRECTORY";
/// Tells the child who it is.
const WRITER: &str = "SESSION_LOG_TEST_WRITER";
const EVENTS: usize = 100;

fn again(test: &str, logs: &SessionLogs) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]).env(DIRECTORY, logs.dir()).stdout(Stdio::null());
    command
}

/// Appends events of many sizes, each naming its writer and its number.
fn write_events(logs: &SessionLogs, writer: &str) {
    for index in 0..EVENTS {
        let text = "x".repeat(index * 397 % 20_000);
        let id = format!("{writer} {index}");
        logs.append_blocking(&session("s"), &finished("s", &id, text)).unwrap();
    }
}

#[test]
fn lines_of_many_processes_and_threads_stay_whole_and_in_order() {
    if let (Ok(dir), Ok(writer)) = (std::env::var(DIRECTORY), std::env::var(WRITER)) {
        let logs = SessionLogs::open(dir.into(), Durability::Fast).unwrap();
        thread::scope(|scope| {
            for thread in 0..2 {
                let (logs, writer) = (logs.clone(), format!("{writer}-{thread}"));
                scope.spawn(move || write_events(&logs, &writer));
            }
        });
        return;
    }
    let logs = TempLogs::new();
    let name = "concurrent::lines_of_many_processes_and_threads_stay_whole_and_in_order";
    let children: Vec<_> = (0..3)
        .map(|writer| again(name, &logs).env(WRITER, writer.to_string()).spawn().unwrap())
        .collect();
    write_events(&logs, "parent");
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }

    let read = logs.read(&session("s")).unwrap();
    assert_eq!(read.diagnostics, []);
    let mut events = read.into_events();
    assert!(matches!(events.next(), Some(SavedEvent::SessionStarted { .. })));
    let mut next: BTreeMap<String, usize> = BTreeMap::new();
    for event in events {
        let id = event.call_id().unwrap().to_string();
        let (writer, index) = id.split_once(' ').unwrap();
        let expected = next.entry(writer.to_owned()).or_default();
        assert_eq!(index, expected.to_string(), "{writer}");
        *expected += 1;
    }
    assert_eq!(next.len(), 7);
    assert!(next.values().all(|&count| count == EVENTS));
}

#[test]
fn reading_beside_appends_sees_whole_records_only() {
    let logs = TempLogs::new();
    let id = session("s");
    logs.append_blocking(&id, &session_started("s")).unwrap();
    thread::scope(|scope| {
        let writer = scope.spawn(|| write_events(&logs, "w"));
        let mut seen = 0;
        while !writer.is_finished() {
            let read = logs.read(&id).unwrap();
            assert!(read.diagnostics.iter().all(|s| s.reason == SkipReason::Unfinished));
            assert!(read.events.len() >= seen);
            seen = read.events.len();
        }
    });
    assert_eq!(logs.read(&id).unwrap().events.len(), EVENTS + 1);
}

#[test]
fn an_append_that_waited_for_a_removal_begins_a_new_log() {
    let logs = TempLogs::new();
    let id = session("s");
    logs.append_blocking(&id, &finished("s", "old", "")).unwrap();
    let path = logs.path(&id);
    let held = OpenOptions::new().read(true).open(&path).unwrap();
    // A shared lock is enough to hold an append back: it needs the log alone.
    held.lock_shared().unwrap();
    let inode = held.metadata().unwrap().ino();
    thread::scope(|scope| {
        let append = scope.spawn(|| logs.append_blocking(&id, &finished("s", "new", "")));
        while !waits_for(inode) && !append.is_finished() {
            thread::yield_now();
        }
        fs_err::remove_file(&path).unwrap();
        drop(held);
        append.join().unwrap().unwrap();
    });
    let events: Vec<_> = logs.read(&id).unwrap().into_events().collect();
    assert_eq!(events.len(), 2);
    assert_eq!(events[1], finished("s", "new", ""));
}

/// Whether someone waits for the lock of the file with this inode.
fn waits_for(inode: u64) -> bool {
    let suffix = format!(":{inode} 0 EOF");
    let locks = fs_err::read_to_string("/proc/locks").unwrap();
    locks.lines().any(|line| line.contains("-> FLOCK") && line.ends_with(&suffix))
}

#[test]
fn removals_and_appends_leave_whole_logs() {
    let logs = TempLogs::new();
    let id = session("s");
    thread::scope(|scope| {
        let writers: Vec<_> =
            ["a", "b"].map(|writer| scope.spawn(|| write_events(&logs, writer))).into();
        while !writers.iter().all(ScopedJoinHandle::is_finished) {
            logs.remove(&id).unwrap();
            match logs.read(&id) {
                Ok(read) => {
                    assert!(read.diagnostics.iter().all(|s| s.reason == SkipReason::Unfinished));
                    let first = read.events.first().map(|(_, event)| event);
                    assert!(first.is_none_or(|e| matches!(e, SavedEvent::SessionStarted { .. })));
                }
                Err(error) => assert!(matches!(error, LogError::NoSuchSession { .. })),
            }
        }
    });
    logs.remove(&id).unwrap();
    assert!(!logs.remove(&id).unwrap());
    logs.append_blocking(&id, &finished("s", "last", "")).unwrap();
    assert_eq!(logs.read(&id).unwrap().events.len(), 2);
}

#[test]
fn an_append_that_does_not_fit_leaves_the_log_as_it_was() {
    let name = "concurrent::an_append_that_does_not_fit_leaves_the_log_as_it_was";
    let id = session("s");
    let big = finished("s", "big", "x".repeat(100_000));
    if let Ok(dir) = std::env::var(DIRECTORY) {
        let logs = SessionLogs::open(dir.into(), Durability::Fast).unwrap();
        let error = logs.append_blocking(&id, &big).unwrap_err();
        assert!(matches!(error, LogError::File(_)), "{error}");
        logs.append_blocking(&id, &finished("s", "2", "small")).unwrap();
        return;
    }
    let logs = TempLogs::new();
    logs.append_blocking(&id, &finished("s", "1", "small")).unwrap();
    // Files may have 32 KiB, and going past that is an error, not a signal.
    let limited = r#"trap "" XFSZ; ulimit -f 64; exec "$@""#;
    let test = again(name, &logs);
    let status = Command::new("sh")
        .args(["-c", limited, "sh"])
        .arg(test.get_program())
        .args(test.get_args())
        .env(DIRECTORY, logs.dir())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let read = logs.read(&id).unwrap();
    assert_eq!(read.diagnostics, []);
    let small = [session_started("s"), finished("s", "1", "small"), finished("s", "2", "small")];
    assert_eq!(read.into_events().skip(1).collect::<Vec<_>>(), small[1..]);
}
