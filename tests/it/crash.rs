//! `kill -9` in the middle of a capture.

use std::process::{Child, Stdio};

use serde_json::Value;

use crate::process_life::wait_until;
use crate::sandbox::Sandbox;

/// A run that has written `begun` and is then killed.
fn killed(sandbox: &Sandbox, script: &str) {
    let program = sandbox.home().with_file_name("bin").join("overspill");
    let mut child = sandbox
        .command(program.as_str())
        .args(["run", "--session", "s", "--", "bash", "-c", script])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_until(|| captured(sandbox).is_some_and(|bytes| bytes >= 6));
    child.kill().unwrap();
    end(&mut child, sandbox);
}

fn end(child: &mut Child, sandbox: &Sandbox) {
    child.wait().unwrap();
    // The command itself lives on; it is ours to end.
    let pid = fs_err::read_to_string(sandbox.work().join("pid")).unwrap();
    let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
}

/// Bytes in the first stream of the only capture.
fn captured(sandbox: &Sandbox) -> Option<u64> {
    captured_in(sandbox, "stream-0")
}

fn captured_in(sandbox: &Sandbox, stream: &str) -> Option<u64> {
    let captures = fs_err::read_dir(sandbox.home().join("store/captures")).ok()?;
    let capture = captures.flatten().find(|entry| entry.path().is_dir())?;
    Some(fs_err::metadata(capture.path().join(stream)).ok()?.len())
}

fn results(sandbox: &Sandbox) -> Value {
    sandbox.overspill(["show", "s", "--json"]).json()
}

#[test]
fn what_was_accepted_is_published_as_interrupted() {
    let sandbox = Sandbox::new();
    killed(&sandbox, "echo $$ > pid; echo begun; echo warned >&2; exec sleep 60");
    let results = results(&sandbox);
    let result = &results[0];
    assert_eq!(results.as_array().unwrap().len(), 1);
    assert_eq!(result["status"], "interrupted");
    assert_eq!(result["incomplete"]["reason"], "interrupted");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("[stdout]\nbegun\n"), "{text}");
    assert!(text.ends_with("\n[interrupted; output incomplete]"), "{text}");
    let stdout = &result["output"]["streams"][0];
    assert_eq!(stdout["seenBytes"], Value::Null, "unknown after a crash");
    assert_eq!(sandbox.read_all(stdout["artifact"].as_str().unwrap()), b"begun\n");
    assert!(result["display"].as_str().unwrap().contains("interrupted"));

    // It is ended once, and nothing is left of the capture.
    assert_eq!(self::results(&sandbox), results);
    let left = fs_err::read_dir(sandbox.home().join("store/captures")).unwrap().count();
    assert_eq!(left, 0);
}

#[test]
fn a_collection_right_after_a_crash_takes_nothing() {
    let sandbox = Sandbox::new();
    killed(&sandbox, "echo $$ > pid; seq 200000; exec sleep 60");
    let gc = sandbox.overspill(["gc", "--grace", "0s"]);
    assert_eq!(gc.code, Some(0), "{}", gc.stderr);
    let results = results(&sandbox);
    let stdout = &results[0]["output"]["streams"][0];
    let all = sandbox.read_all(stdout["artifact"].as_str().unwrap());
    assert_eq!(all.len() as u64, stdout["bytes"].as_u64().unwrap());
    let expected: String = (1..=200_000).map(|n| format!("{n}\n")).collect();
    assert!(expected.as_bytes().starts_with(&all));
}

#[test]
fn a_running_capture_of_another_process_is_left_alone() {
    let sandbox = Sandbox::new();
    let program = sandbox.home().with_file_name("bin").join("overspill");
    let mut child = sandbox
        .command(program.as_str())
        .args(["run", "--session", "s", "--", "bash", "-c"])
        .arg("echo $$ > pid; echo begun; while [ ! -e go ]; do sleep .02; done; echo end")
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_until(|| captured(&sandbox).is_some_and(|bytes| bytes >= 6));
    assert_eq!(results(&sandbox), serde_json::json!([]));
    let gc = sandbox.overspill(["gc", "--grace", "0s"]);
    assert_eq!(gc.code, Some(0), "{}", gc.stderr);
    let rm = sandbox.overspill(["rm", "--session", "s"]);
    assert_eq!(rm.code, Some(1), "a running call is not removed");
    fs_err::write(sandbox.work().join("go"), "").unwrap();
    assert!(child.wait().unwrap().success());
    let results = results(&sandbox);
    assert_eq!(results[0]["status"], "completed");
    let uri = results[0]["output"]["streams"][0]["artifact"].as_str().unwrap().to_owned();
    assert_eq!(sandbox.read_all(&uri), b"begun\nend\n");
}

#[test]
fn a_stream_that_cannot_be_read_any_more_keeps_no_other_back() {
    let sandbox = Sandbox::new();
    let program = sandbox.home().with_file_name("bin").join("overspill");
    let mut child = sandbox
        .command(program.as_str())
        .args(["run", "--session", "s", "--", "bash", "-c"])
        .arg("echo $$ > pid; echo warned >&2; echo begun; exec sleep 60")
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_until(|| captured(&sandbox).is_some_and(|bytes| bytes >= 6));
    wait_until(|| captured_in(&sandbox, "stream-1").is_some_and(|bytes| bytes >= 7));
    child.kill().unwrap();
    end(&mut child, &sandbox);
    let captures = fs_err::read_dir(sandbox.home().join("store/captures")).unwrap();
    let capture = captures.flatten().find(|entry| entry.path().is_dir()).unwrap().path();
    fs_err::remove_file(capture.join("stream-0")).unwrap();
    fs_err::create_dir(capture.join("stream-0")).unwrap();

    let results = results(&sandbox);
    let result = &results[0];
    assert_eq!(result["status"], "interrupted");
    assert_eq!(result["incomplete"]["reason"], "storage_error");
    let streams = &result["output"]["streams"];
    assert_eq!(streams[0]["artifact"], Value::Null);
    let uri = streams[1]["artifact"].as_str().unwrap();
    assert_eq!(sandbox.read_all(uri), b"warned\n", "it has an address of its own");
}
