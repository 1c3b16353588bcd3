//! Every byte, in order, whatever the process, the pipe and the sink do.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use output_contract::Exit;
use tool_api::{CancellationToken, SinkError};
use tool_bash::process::{Cause, ProcessEnd, ProcessSpec, Stdin};

use crate::recorder::{Gate, Recorder, Refusal};
use crate::world::{Place, Running, run, run_into, sh};

const DONE: ProcessEnd =
    ProcessEnd { exit: Some(Exit::Code(0)), cause: Cause::Exited, pipe_held: [false; 2] };

/// Bytes that repeat nowhere near.
fn noise(count: usize) -> Bytes {
    let mut state = 1_u64;
    let next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    };
    std::iter::repeat_with(next).take(count).collect()
}

#[tokio::test]
async fn bytes_that_are_no_text_are_kept_and_the_exit_code_too() {
    let script = r"printf 'one\ntwo \377\376 bad\nthree\n'; exit 3";
    let (end, recorder) = run(sh(script)).await;
    assert_eq!(end, ProcessEnd { exit: Some(Exit::Code(3)), ..DONE });
    assert_eq!(recorder.kept().stdout, b"one\ntwo \xff\xfe bad\nthree\n");
    assert_eq!(recorder.kept().stderr, b"");
}

#[tokio::test]
async fn a_character_in_two_writes_with_the_other_stream_between() {
    let script = r"printf 'a\344\275'; printf 'err\n' >&2; printf '\240\n'";
    let (end, recorder) = run(sh(script)).await;
    assert_eq!(end, DONE);
    assert_eq!(recorder.stdout(), "a你\n");
    assert_eq!(recorder.stderr(), "err\n");
}

#[tokio::test]
async fn ten_megabytes_in_and_out() {
    let input = noise(10_000_000);
    let spec = ProcessSpec { stdin: Stdin::Bytes(input.clone()), ..ProcessSpec::new("cat") };
    let (end, recorder) = run(spec).await;
    assert_eq!(end, DONE);
    assert!(recorder.kept().stdout == input);
}

#[tokio::test(flavor = "multi_thread")]
async fn both_streams_at_once() {
    let lines = 65_536;
    let script = format!(
        "awk 'BEGIN {{ for (i = 0; i < {lines}; i++) {{
             print \"ooooooooooooooo\"; print \"eeeeeeeeeeeeeee\" > \"/dev/stderr\" }} }}'"
    );
    let (end, recorder) = run(sh(&script)).await;
    assert_eq!(end, DONE);
    assert!(recorder.stdout() == "ooooooooooooooo\n".repeat(lines));
    assert!(recorder.stderr() == "eeeeeeeeeeeeeee\n".repeat(lines));
}

#[tokio::test]
async fn a_slow_stream_does_not_hold_the_other_one_back() {
    let script = "echo first; head -c 3000000 /dev/zero >&2; echo last";
    let running = Running::start(sh(script), Recorder::new().closing(Gate::Stdout));
    running.recorder.wait_for(|kept| kept.stderr.len() == 3_000_000).await;
    running.recorder.open(Gate::Stdout);
    let (end, recorder) = running.end().await;
    assert_eq!(end, DONE);
    assert_eq!(recorder.stdout(), "first\nlast\n");
}

#[tokio::test]
async fn what_the_pipe_holds_is_taken_however_slow_the_sink_is() {
    let place = Place::new();
    let input = noise(1_000_000);
    let mut spec = place.sh("echo $$ > pid; exec cat");
    spec.stdin = Stdin::Bytes(input.clone());
    // Any grace is over long before the sink takes anything.
    spec.pipe_grace = Duration::ZERO;
    let running = Running::start(spec, Recorder::new().closing(Gate::Stdout));
    place.wait_for_pid("pid").await.wait_for_death().await;
    running.recorder.open(Gate::Stdout);
    let (end, recorder) = running.end().await;
    // Without a grace, a process that another test is just starting may count
    // as a holder of the pipe.
    assert_eq!((end.exit, end.cause), (DONE.exit, DONE.cause));
    assert!(recorder.kept().stdout == input);
}

#[tokio::test]
async fn a_slow_sink_slows_the_process() {
    let place = Place::new();
    // Much more than pipe and buffer hold. It sleeps only where it cannot write.
    let script = "echo $$ > pid; exec head -c 40000000 /dev/zero";
    let running = Running::start(place.sh(script), Recorder::new().closing(Gate::Stdout));
    let process = place.wait_for_pid("pid").await;
    process.wait_for_sleep().await;
    assert_eq!(running.recorder.kept().stdout.len(), 0);
    running.recorder.open(Gate::Stdout);
    let (end, recorder) = running.end().await;
    assert_eq!(end, DONE);
    assert_eq!(recorder.kept().stdout.len(), 40_000_000);
}

#[tokio::test]
async fn a_sink_that_refuses_goes_on_counting_and_the_exit_code_survives() {
    for error in [
        SinkError::SizeLimit { limit: 1_000 },
        SinkError::Storage { detail: "no space left on device".to_owned() },
        SinkError::Finished,
    ] {
        let refusal = Refusal { after: 1_000, error };
        let recorder = Arc::new(Recorder::new().refusing(refusal));
        let script = "head -c 3000000 /dev/zero; echo reason >&2; exit 7";
        let end = run_into(sh(script), &recorder, &CancellationToken::new()).await.unwrap();
        assert_eq!(end, ProcessEnd { exit: Some(Exit::Code(7)), ..DONE });
        assert_eq!(recorder.kept().stdout.len(), 1_000);
        assert_eq!(recorder.kept().seen, [3_000_000, 7]);
        assert_eq!(recorder.stderr(), "reason\n");
    }
}

#[tokio::test]
async fn a_process_that_closes_its_outputs_early_is_waited_for() {
    let place = Place::new();
    let (end, recorder) = run(place.sh("echo x; exec >&- 2>&-; echo > file; exit 4")).await;
    assert_eq!(end, ProcessEnd { exit: Some(Exit::Code(4)), ..DONE });
    assert_eq!(recorder.stdout(), "x\n");
    assert!(place.file("file").exists());
}

#[tokio::test]
async fn without_input_there_is_nothing_to_read() {
    let (end, recorder) = run(ProcessSpec::new("cat")).await;
    assert_eq!(end, DONE);
    assert_eq!(recorder.stdout(), "");
}

#[tokio::test]
async fn input_need_not_be_read() {
    for stdin in [Stdin::Bytes(noise(3_000_000)), Stdin::Inherit, Stdin::Relay] {
        let (end, _) = run(ProcessSpec { stdin, ..sh("exit 5") }).await;
        assert_eq!(end.exit, Some(Exit::Code(5)));
    }
}

#[tokio::test]
async fn input_that_a_background_process_holds_is_not_waited_for() {
    let place = Place::new();
    let mut spec = place.sh("exec 3<&0; sleep 300 <&3 >/dev/null 2>&1 & echo $! > pid; echo out");
    spec.stdin = Stdin::Bytes(noise(3_000_000));
    let (end, recorder) = run(spec).await;
    assert!(place.wait_for_pid("pid").await.is_alive());
    assert_eq!(end, DONE);
    assert_eq!(recorder.stdout(), "out\n");
}
