//! How processes and their groups end.

use std::sync::Arc;
use std::time::Duration;

use output_contract::Exit;
use tool_api::{CancellationToken, SinkError};
use tool_bash::process::{Cause, ProcessEnd, ProcessSpec};

use crate::recorder::{Gate, Recorder, Refusal};
use crate::world::{FOREVER, Place, Running, run, run_into, sh};

const SHORT: Duration = Duration::from_millis(20);

#[tokio::test]
async fn exit_codes_and_signals_are_exact() {
    for (script, exit) in [
        ("exit 0", Exit::Code(0)),
        ("exit 3", Exit::Code(3)),
        ("exit 255", Exit::Code(255)),
        ("kill -9 $$", Exit::Signal(9)),
        ("kill -15 $$", Exit::Signal(15)),
    ] {
        let (end, _) = run(sh(script)).await;
        let expect = ProcessEnd { exit: Some(exit), cause: Cause::Exited, pipe_held: [false; 2] };
        assert_eq!(end, expect, "{script}");
    }
}

#[tokio::test]
async fn a_background_process_is_left_alone() {
    for (redirect, held) in [
        ("", [true, true]),
        ("2>/dev/null", [true, false]),
        (">/dev/null", [false, true]),
        (">/dev/null 2>&1", [false, false]),
    ] {
        let place = Place::new();
        let script = format!("echo hi; sleep 300 {redirect} & echo $! > pid; echo done");
        let (end, recorder) = run(place.sh(&script)).await;
        assert!(place.wait_for_pid("pid").await.is_alive(), "{redirect}");
        assert_eq!((end.exit, end.cause), (Some(Exit::Code(0)), Cause::Exited), "{redirect}");
        assert_eq!(end.pipe_held, held, "{redirect}");
        assert_eq!(recorder.stdout(), "hi\ndone\n", "{redirect}");
    }
}

#[tokio::test]
async fn output_of_a_background_process_within_the_grace_is_kept() {
    let place = Place::new();
    let script = "(while [ ! -e go ]; do sleep 0.01; done; echo late) & echo $$ > pid; echo early";
    let spec = ProcessSpec { pipe_grace: FOREVER, ..place.sh(script) };
    let running = Running::start(spec, Recorder::new());
    place.wait_for_pid("pid").await.wait_for_death().await;
    fs_err::write(place.file("go"), "").unwrap();
    let (end, recorder) = running.end().await;
    assert_eq!(end.pipe_held, [false; 2]);
    assert_eq!(recorder.stdout(), "early\nlate\n");
}

#[tokio::test]
async fn what_lies_in_a_held_pipe_is_read() {
    let place = Place::new();
    let script = "echo early; (echo late; echo > written; exec sleep 300) & echo $! > pid";
    let spec = ProcessSpec { pipe_grace: Duration::ZERO, ..place.sh(script) };
    let running = Running::start(spec, Recorder::new().closing(Gate::Stdout));
    let sleeper = place.wait_for_pid("pid").await;
    place.wait_for_file("written").await;
    running.recorder.open(Gate::Stdout);
    let (end, recorder) = running.end().await;
    assert!(sleeper.is_alive());
    assert_eq!(end.pipe_held, [true, true]);
    assert_eq!(recorder.stdout(), "early\nlate\n");
}

#[tokio::test]
async fn a_background_process_that_never_stops_writing_delays_no_longer_than_the_grace() {
    let place = Place::new();
    let script = "yes & echo $! > pid; while [ ! -e go ]; do sleep 0.01; done";
    let spec = ProcessSpec { pipe_grace: SHORT, ..place.sh(script) };
    let full = Refusal { after: 4, error: SinkError::SizeLimit { limit: 4 } };
    let running = Running::start(spec, Recorder::new().refusing(full));
    running.recorder.wait_for(|kept| kept.stdout == b"y\ny\n").await;
    fs_err::write(place.file("go"), "").unwrap();
    let (end, _) = running.end().await;
    assert_eq!((end.exit, end.cause), (Some(Exit::Code(0)), Cause::Exited));
    assert!(end.pipe_held[0]);
    // Nobody reads any more.
    place.wait_for_pid("pid").await.wait_for_death().await;
}

#[tokio::test]
async fn a_timeout_keeps_what_was_written() {
    let timeout = Some(Duration::from_secs(2));
    let spec = ProcessSpec { timeout, ..sh("echo PROGRESS; sleep 300") };
    let (end, recorder) = run(spec).await;
    assert_eq!(end.cause, Cause::TimedOut);
    assert_eq!(end.exit, Some(Exit::Signal(15)));
    assert_eq!(end.pipe_held, [false; 2]);
    assert_eq!(recorder.stdout(), "PROGRESS\n");
}

#[tokio::test]
async fn a_timeout_stays_one_where_the_process_then_exits_with_0() {
    let script = "trap 'echo bye; exit 0' TERM; echo ready; sleep 300";
    let spec = ProcessSpec { timeout: Some(Duration::from_secs(2)), ..sh(script) };
    let (end, recorder) = run(spec).await;
    assert_eq!((end.exit, end.cause), (Some(Exit::Code(0)), Cause::TimedOut));
    assert_eq!(recorder.stdout(), "ready\nbye\n");
}

#[tokio::test]
async fn the_whole_group_ends_whoever_ignores_what() {
    let loop_forever = "while :; do echo x; sleep 0.1; done";
    for (what, leader, member) in [
        ("nobody ignores", "", ""),
        ("the member ignores", "", "trap '' TERM;"),
        ("the leader ignores", "trap '' TERM;", "trap - TERM;"),
        ("all ignore", "trap '' TERM;", "trap '' TERM;"),
    ] {
        let place = Place::new();
        let member = format!("{member} echo $$ > member; {loop_forever}");
        fs_err::write(place.file("member.sh"), member).unwrap();
        let script = format!("{leader} echo $$ > leader; sh member.sh & wait; {loop_forever}");
        let spec = ProcessSpec { kill_grace: SHORT, ..place.sh(&script) };
        let running = Running::start(spec, Recorder::new());
        let leader = place.wait_for_pid("leader").await;
        let member = place.wait_for_pid("member").await;
        running.recorder.wait_for(|kept| kept.stdout.starts_with(b"x\n")).await;
        running.cancel.cancel();
        let (end, recorder) = running.end().await;
        assert!(!leader.is_alive() && !member.is_alive(), "{what}");
        assert_eq!(end.cause, Cause::Cancelled, "{what}");
        assert_eq!(end.pipe_held, [false; 2], "{what}");
        assert!(matches!(end.exit, Some(Exit::Signal(9 | 15))), "{what}: {end:?}");
        assert_eq!(Arc::strong_count(&recorder), 1, "{what}: someone can still send");
    }
}

#[tokio::test]
async fn who_needs_time_to_end_has_it_although_the_leader_is_gone() {
    let place = Place::new();
    let cleanup = "while [ ! -e go ]; do sleep 0.01; done; echo bye; echo > cleaned; exit";
    let member = format!("trap '{cleanup}' TERM; echo $$ > member; while :; do sleep 0.01; done");
    fs_err::write(place.file("member.sh"), member).unwrap();
    let script = "sh member.sh & echo $$ > leader; wait";
    let spec = ProcessSpec { kill_grace: FOREVER, ..place.sh(script) };
    let running = Running::start(spec, Recorder::new());
    let leader = place.wait_for_pid("leader").await;
    let member = place.wait_for_pid("member").await;
    running.cancel.cancel();
    leader.wait_for_death().await;
    fs_err::write(place.file("go"), "").unwrap();
    let (end, recorder) = running.end().await;
    assert!(!member.is_alive());
    assert!(place.file("cleaned").exists());
    assert_eq!((end.exit, end.cause), (Some(Exit::Signal(15)), Cause::Cancelled));
    assert_eq!(recorder.stdout(), "bye\n");
}

#[tokio::test]
async fn a_stopped_process_ends_too() {
    let place = Place::new();
    let script = "trap 'echo bye; exit 6' TERM; echo $$ > pid; kill -STOP $$; exit 0";
    let running = Running::start(place.sh(script), Recorder::new());
    let process = place.wait_for_pid("pid").await;
    process.wait_for_stop().await;
    running.cancel.cancel();
    let (end, recorder) = running.end().await;
    assert_eq!((end.exit, end.cause), (Some(Exit::Code(6)), Cause::Cancelled));
    assert_eq!(recorder.stdout(), "bye\n");
}

#[tokio::test]
async fn a_process_that_left_the_group_holds_nobody_up() {
    let place = Place::new();
    // Job control gives a background job a group of its own.
    let script = "set -m; sleep 300 & echo $! > pid; wait";
    let bash = ProcessSpec::new("bash").with_args(["-c", script]);
    let spec = ProcessSpec { cwd: Some(place.path().to_owned()), ..bash };
    let running = Running::start(spec, Recorder::new());
    let sleeper = place.wait_for_pid("pid").await;
    running.cancel.cancel();
    let (end, _) = running.end().await;
    assert!(sleeper.is_alive());
    assert_eq!((end.cause, end.pipe_held), (Cause::Cancelled, [true, true]));
}

#[tokio::test]
async fn cancelling_before_the_start_starts_nothing() {
    let place = Place::new();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let recorder = Arc::new(Recorder::new());
    let end = run_into(place.sh("echo > started"), &recorder, &cancel).await.unwrap();
    assert_eq!(end, ProcessEnd { exit: None, cause: Cause::Cancelled, pipe_held: [false; 2] });
    assert!(!place.file("started").exists());
}

#[tokio::test]
async fn cancelling_during_the_grace_ends_the_background_process() {
    let place = Place::new();
    let script = "sleep 300 & echo $! > sleeper; echo $$ > leader; echo done";
    let spec = ProcessSpec { pipe_grace: FOREVER, ..place.sh(script) };
    let running = Running::start(spec, Recorder::new());
    let sleeper = place.wait_for_pid("sleeper").await;
    place.wait_for_pid("leader").await.wait_for_death().await;
    running.recorder.wait_for(|kept| kept.stdout == b"done\n").await;
    running.cancel.cancel();
    let (end, recorder) = running.end().await;
    assert!(!sleeper.is_alive());
    assert_eq!((end.exit, end.cause), (Some(Exit::Code(0)), Cause::Cancelled));
    assert_eq!(end.pipe_held, [false; 2]);
    assert_eq!(recorder.stdout(), "done\n");
}

#[tokio::test]
async fn cancelling_ends_the_group_while_the_sink_is_stuck() {
    let place = Place::new();
    let script = "echo $$ > pid; while :; do echo x; done";
    let running = Running::start(place.sh(script), Recorder::new().closing(Gate::Stdout));
    let process = place.wait_for_pid("pid").await;
    running.cancel.cancel();
    process.wait_for_death().await;
    running.recorder.open(Gate::Stdout);
    let (end, recorder) = running.end().await;
    assert_eq!((end.cause, end.pipe_held), (Cause::Cancelled, [false; 2]));
    assert!(recorder.stdout().starts_with("x\n"));
}

#[tokio::test]
async fn dropping_the_run_kills_the_group_and_leaves_no_zombie() {
    let place = Place::new();
    let script = "trap '' TERM; sleep 300 & echo $! > member; echo $$ > leader; wait";
    let running = Running::start(place.sh(script), Recorder::new());
    let leader = place.wait_for_pid("leader").await;
    let member = place.wait_for_pid("member").await;
    running.task.abort();
    assert!(running.task.await.unwrap_err().is_cancelled());
    leader.wait_for_reaping().await;
    member.wait_for_death().await;
    assert_eq!(Arc::strong_count(&running.recorder), 1, "someone can still send");
}

#[tokio::test]
async fn the_process_is_reaped_when_the_run_has_ended() {
    let place = Place::new();
    run(place.sh("echo $$ > pid")).await;
    // Not "eventually": this is what is promised.
    let pid = fs_err::read_to_string(place.file("pid")).unwrap();
    assert!(fs_err::metadata(format!("/proc/{}", pid.trim())).is_err());
}
