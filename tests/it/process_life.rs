//! Processes: how they end, what they leave running, what they are given.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

fn stream<'a>(result: &'a Value, name: &str) -> &'a Value {
    let streams = result["output"]["streams"].as_array().unwrap();
    streams.iter().find(|stream| stream["name"] == name).unwrap()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

fn is_alive(pid: &str) -> bool {
    // A zombie that its new parent has not reaped yet is dead.
    match fs_err::read_to_string(format!("/proc/{}/stat", pid.trim())) {
        Ok(stat) => !stat.rsplit_once(')').unwrap().1.trim_start().starts_with('Z'),
        Err(_) => false,
    }
}

fn kill(pid: &str) {
    let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn exit_codes_are_the_childs() {
    let sandbox = Sandbox::new();
    for (script, code) in [
        ("exit 0", 0),
        ("exit 3", 3),
        ("exit 255", 255),
        ("kill -9 $$", 137),
        ("kill -TERM $$", 143),
    ] {
        assert_eq!(sandbox.run(script).code, Some(code), "{script}");
    }
    assert_eq!(sandbox.overspill(["run", "--", "no-such-program"]).code, Some(127));
    fs_err::write(sandbox.work().join("plain"), "x").unwrap();
    assert_eq!(sandbox.overspill(["run", "--", "./plain"]).code, Some(126));
    assert_eq!(sandbox.overspill(["run", "--nonsense"]).code, Some(125));
    assert_eq!(sandbox.overspill(["run", "--timeout", "0", "--", "true"]).code, Some(125));
    assert_eq!(
        sandbox.overspill(["run", "--timeout", "100ms", "--", "sleep", "30"]).code,
        Some(124)
    );
}

#[test]
fn endless_output_ends_at_the_cap_and_is_counted_on() {
    let sandbox = Sandbox::new();
    let cap = 4 * 1024 * 1024;
    sandbox.configure(&format!(
        "[store]\ndurability = \"fast\"\n[capture]\nmax_stream_bytes = {cap}\n"
    ));
    let result = sandbox.run_json(&["--timeout", "1s"], "yes");
    let stdout = stream(&result, "stdout");
    assert_eq!(stdout["bytes"], cap);
    assert!(stdout["seenBytes"].as_u64().unwrap() > cap, "{stdout}");
    assert_eq!(result["incomplete"]["reason"], "size_limit");
    assert_eq!(result["status"], "timed_out");
    let lines: Vec<&str> = text(&result).lines().collect();
    let seen = stdout["seenBytes"].as_u64().unwrap();
    assert_eq!(
        lines[lines.len() - 2..],
        [
            format!("[output incomplete: stored {cap} of {seen} bytes (size limit)]").as_str(),
            "[timed out after 1s; output incomplete]"
        ]
    );
}

#[test]
fn a_capped_command_keeps_its_exit_status() {
    let sandbox = Sandbox::new();
    sandbox.configure("[store]\ndurability = \"fast\"\n[capture]\nmax_stream_bytes = 1000\n");
    let result = sandbox.run_json(&[], "head -c 3000000 /dev/zero | tr '\\0' x; exit 5");
    assert_eq!(result["exit"], json!({ "code": 5 }));
    assert_eq!(stream(&result, "stdout")["bytes"], 1000);
    assert_eq!(stream(&result, "stdout")["seenBytes"], 3_000_000);
    assert_eq!(result["incomplete"]["reason"], "size_limit");
}

#[test]
fn a_background_process_delays_nothing_and_adds_nothing() {
    let sandbox = Sandbox::new();
    let script = "echo hi; (sleep 60; echo late) & echo $! > pid; echo done";
    let result = sandbox.run_json(&[], script);
    let pid = fs_err::read_to_string(sandbox.work().join("pid")).unwrap();
    assert!(is_alive(&pid), "the sleeper must be left alone");
    assert_eq!(result["status"], "completed");
    assert_eq!(result["incomplete"]["reason"], "pipe_held");
    assert_eq!(stream(&result, "stdout")["incomplete"]["reason"], "pipe_held");
    let uri = stream(&result, "stdout")["artifact"].as_str().unwrap();
    assert_eq!(sandbox.read_all(uri), b"hi\ndone\n");
    assert!(
        text(&result).ends_with("[output incomplete: pipe held open by a background process]"),
        "{}",
        text(&result)
    );
    kill(&pid);
}

#[test]
fn what_came_before_a_timeout_is_kept() {
    let sandbox = Sandbox::new();
    let result = sandbox.run_json(&["--timeout", "1s"], "echo PROGRESS; sleep 30");
    assert_eq!(result["status"], "timed_out");
    assert_eq!(result["incomplete"]["reason"], "timed_out");
    assert_eq!(
        text(&result),
        "[stdout]\nPROGRESS\n\n[stderr]\n[timed out after 1s; output incomplete]"
    );
    let uri = stream(&result, "stdout")["artifact"].as_str().unwrap();
    assert_eq!(sandbox.read_all(uri), b"PROGRESS\n");
    let call = result["callId"].as_str().unwrap();
    let session = result["sessionId"].as_str().unwrap();
    let shown = sandbox.overspill(["show", &format!("{session}/{call}"), "--json"]).json();
    assert_eq!(shown, result, "replay is the saved result");
}

#[test]
fn a_timeout_ends_the_whole_group() {
    let sandbox = Sandbox::new();
    let script = "trap '' TERM; sh -c 'trap \"\" TERM; echo $$ > inner; while :; do echo x; sleep .05; done' & \
                  echo $$ > outer; wait; wait";
    let result = sandbox.run_json(&["--timeout", "2s"], script);
    for name in ["inner", "outer"] {
        let pid = fs_err::read_to_string(sandbox.work().join(name)).unwrap();
        assert!(!is_alive(&pid), "{name} is still alive");
    }
    let uri = stream(&result, "stdout")["artifact"].as_str().unwrap();
    let stored = stream(&result, "stdout")["bytes"].as_u64().unwrap();
    assert_eq!(sandbox.read_all(uri).len() as u64, stored);
}

#[test]
fn stdin_is_empty_unless_asked_for() {
    let sandbox = Sandbox::new();
    let result = sandbox.overspill(["run", "--timeout", "20s", "--", "cat"]);
    assert_eq!(result.code, Some(0));
    let piped = sandbox.shell("printf 'one\\ntwo\\n' | overspill run --stdin -- cat");
    assert_eq!(piped.text(), "[stdout]\none\ntwo\n\n[stderr]\n");
    let ignored = sandbox.shell("printf 'one\\ntwo\\n' | overspill run -- cat");
    assert_eq!(ignored.text(), "[stdout]\n\n[stderr]\n");
}

#[test]
fn live_captures_are_not_where_output_says() {
    let sandbox = Sandbox::new();
    // The command looks through everything near its working directory and
    // everything that its environment names, and must not feed on itself.
    let result = sandbox.run_json(
        &["--timeout", "20s"],
        "for i in 1 2 3; do echo line $i; find . -type f -exec cat {} +; done",
    );
    assert_eq!(result["status"], "completed");
    assert_eq!(stream(&result, "stdout")["bytes"], 21);
    let captures = sandbox.home().join("store/captures");
    assert!(!text(&result).contains(captures.as_str()));
}

#[test]
fn a_slow_end_of_the_pipe_is_waited_for() {
    let sandbox = Sandbox::new();
    // The shell is gone before its child has written everything.
    let result = sandbox.run_json(&[], "(sleep .1; seq 100000) & exec echo first");
    assert_eq!(stream(&result, "stdout")["bytes"], 6 + 588_895);
    assert_eq!(result["incomplete"], Value::Null);
}

#[test]
fn a_signal_to_overspill_cancels_the_command() {
    let sandbox = Sandbox::new();
    let program = sandbox.home().with_file_name("bin").join("overspill");
    let mut child = sandbox
        .command(program.as_str())
        .args([
            "run",
            "--session",
            "s",
            "--",
            "bash",
            "-c",
            "echo $$ > pid; echo begun; exec sleep 60",
        ])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let pid_file = sandbox.work().join("pid");
    wait_until(|| fs_err::read_to_string(&pid_file).is_ok_and(|pid| pid.ends_with('\n')));
    let overspill = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(overspill, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!is_alive(&fs_err::read_to_string(&pid_file).unwrap()));
    let results = sandbox.overspill(["show", "s", "--json"]).json();
    let result = &results[0];
    assert_eq!(result["status"], "cancelled");
    assert_eq!(text(result), "[stdout]\nbegun\n\n[stderr]\n[cancelled; output incomplete]");
    assert!(result["display"].as_str().unwrap().contains("cancelled"), "{}", result["display"]);
}

#[test]
fn an_interrupt_reaches_the_command_as_one() {
    let sandbox = Sandbox::new();
    let program = sandbox.home().with_file_name("bin").join("overspill");
    let script = "trap 'echo summary; exit 8' INT; echo > begun; while :; do sleep .05; done";
    let mut child = sandbox
        .command(program.as_str())
        .args(["run", "--session", "s", "--", "bash", "-c", script])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    wait_until(|| sandbox.work().join("begun").exists());
    let overspill = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(overspill, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let results = sandbox.overspill(["show", "s", "--json"]).json();
    assert!(text(&results[0]).starts_with("[stdout]\nsummary\n"), "{}", text(&results[0]));
}

#[test]
fn a_command_has_no_terminal_to_wait_for() {
    let sandbox = Sandbox::new();
    // `script` gives overspill a terminal; the command must not get at it.
    let line = "script -qec \"overspill run --timeout 20s --session s -- bash -c 'read x </dev/tty; echo rc $?'\" /dev/null";
    let ran = sandbox.shell(line);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let results = sandbox.overspill(["show", "s", "--json"]).json();
    assert!(text(&results[0]).contains("/dev/tty: No such device"), "{}", text(&results[0]));
}

/// Waits for a condition that another process brings about.
pub(crate) fn wait_until(mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < deadline, "waited for a minute");
        std::thread::yield_now();
    }
}
