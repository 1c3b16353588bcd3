//! The `bash` tool, from its arguments to its completion.

use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use output_contract::limits::MAX_DELTA_DISPLAY_BYTES;
use output_contract::{CallId, Exit, IncompleteReason, SessionId, Status, StreamName};
use serde_json::{Value, json};
use tool_api::{CallContext, CancellationToken, Completion, OutputMode, Resource, Tool};
use tool_bash::process::NotStarted;
use tool_bash::{BashConfig, BashConfigError, BashTool};

use crate::recorder::{Gate, Recorder, Refusal};
use crate::world::{FOREVER, Place};

pub(crate) fn context(recorder: &Arc<Recorder>, cancel: &CancellationToken) -> CallContext {
    CallContext {
        session_id: SessionId::new("s").unwrap(),
        call_id: CallId::new("c").unwrap(),
        parent_call_id: None,
        sink: recorder.sink(),
        cancel: cancel.clone(),
        spill: None,
    }
}

async fn execute(
    tool: &BashTool,
    arguments: Value,
    recorder: &Arc<Recorder>,
    cancel: &CancellationToken,
) -> Completion {
    let call = tool.prepare(arguments).await.unwrap();
    call.execute(context(recorder, cancel)).await
}

/// Runs a call that is neither slow nor cancelled.
async fn call(config: BashConfig, arguments: Value) -> (Completion, Arc<Recorder>) {
    let recorder = Arc::new(Recorder::new());
    let tool = BashTool::new(config).unwrap();
    let completion = execute(&tool, arguments, &recorder, &CancellationToken::new()).await;
    (completion, recorder)
}

fn display(completion: &Completion) -> &str {
    completion.display.as_deref().unwrap()
}

#[tokio::test]
async fn a_command_that_succeeds() {
    let arguments = json!({"command": "echo out; echo err >&2", "description": "says both"});
    let (completion, recorder) = call(BashConfig::default(), arguments).await;
    assert_eq!(completion.status, Status::Completed);
    assert_eq!(completion.exit, Some(Exit::Code(0)));
    assert_eq!(completion.timeout, Some(Duration::from_secs(120)));
    assert_eq!(completion.notes, []);
    assert_eq!(completion.metadata()["description"], "says both");
    assert!(matches!(completion.output.into_mode(), OutputMode::Streamed));
    assert_eq!((&*recorder.stdout(), &*recorder.stderr()), ("out\n", "err\n"));
}

#[tokio::test]
async fn a_command_that_fails() {
    for (command, exit, line) in [
        ("echo x; exit 3", Exit::Code(3), "[exit code: 3]"),
        ("echo x; kill -9 $$", Exit::Signal(9), "[killed by signal 9]"),
    ] {
        let (completion, recorder) = call(BashConfig::default(), json!({"command": command})).await;
        assert_eq!((completion.status, completion.exit), (Status::Failed, Some(exit)));
        assert_eq!(display(&completion), format!("$ {command}\nx\n{line}"));
        assert_eq!(recorder.stdout(), "x\n");
    }
}

#[tokio::test]
async fn a_command_that_takes_too_long() {
    let arguments = json!({"command": "echo PROGRESS; sleep 300", "timeout": 2_000});
    let (completion, recorder) = call(BashConfig::default(), arguments).await;
    assert_eq!(completion.status, Status::TimedOut);
    assert_eq!(completion.timeout, Some(Duration::from_secs(2)));
    let expect = "$ echo PROGRESS; sleep 300\nPROGRESS\n[timed out after 2s]";
    assert_eq!(display(&completion), expect);
    assert_eq!(recorder.stdout(), "PROGRESS\n");
}

#[tokio::test]
async fn a_command_that_is_cancelled_while_its_output_is_shown_live() {
    let recorder = Arc::new(Recorder::new());
    let cancel = CancellationToken::new();
    let tool = BashTool::new(BashConfig::default()).unwrap();
    let shown = async {
        let both = |shown: &str| shown.contains("step 1\n") && shown.contains("step 2\n");
        recorder.wait_for(|kept| both(&kept.display.concat())).await;
        cancel.cancel();
    };
    let command = "echo step 1; echo step 2 >&2; sleep 300";
    let run = execute(&tool, json!({"command": command}), &recorder, &cancel);
    let (completion, ()) = tokio::join!(run, shown);
    assert_eq!(completion.status, Status::Cancelled);
    // Which of two pipes is read first is open.
    let mut lines: Vec<_> = display(&completion).lines().collect();
    lines[1..3].sort_unstable();
    assert_eq!(lines, [&*format!("$ {command}"), "step 1", "step 2", "[cancelled]"]);
}

#[tokio::test]
async fn a_display_that_is_stuck_does_not_hold_the_command_back() {
    let recorder = Arc::new(Recorder::new().closing(Gate::Display));
    let tool = BashTool::new(BashConfig::default()).unwrap();
    let arguments = json!({"command": "seq 1 200000"});
    let completion = execute(&tool, arguments, &recorder, &CancellationToken::new()).await;
    assert_eq!(completion.status, Status::Completed);
    let numbers: String = (1..=200_000).map(|number| format!("{number}\n")).collect();
    assert!(recorder.stdout() == numbers);
    let display = display(&completion);
    assert!(display.starts_with("$ seq 1 200000\n…\n"), "{display:.80}");
    assert!(display.ends_with("\n199999\n200000\n"));
}

#[tokio::test]
async fn the_live_display_is_the_newest_in_small_pieces() {
    let (completion, recorder) =
        call(BashConfig::default(), json!({"command": "yes é | head -c 30000000"})).await;
    assert_eq!(completion.status, Status::Completed);
    let kept = recorder.kept();
    assert_eq!(kept.stdout.len(), 30_000_000);
    assert!(kept.display.iter().all(|piece| piece.len() <= MAX_DELTA_DISPLAY_BYTES));
    let shown = kept.display.concat();
    assert!(shown.len() < kept.stdout.len());
    assert!(!shown.contains('\u{fffd}'), "cut inside a character");
}

#[tokio::test]
async fn output_that_is_not_kept_changes_no_status() {
    let error = tool_api::SinkError::SizeLimit { limit: 10 };
    let recorder = Arc::new(Recorder::new().refusing(Refusal { after: 10, error }));
    let tool = BashTool::new(BashConfig::default()).unwrap();
    let arguments = json!({"command": "seq 1 1000; exit 9"});
    let completion = execute(&tool, arguments, &recorder, &CancellationToken::new()).await;
    assert_eq!((completion.status, completion.exit), (Status::Failed, Some(Exit::Code(9))));
    assert_eq!(recorder.kept().stdout.len(), 10);
}

#[tokio::test]
async fn a_background_process_that_holds_a_pipe_is_noted_for_that_stream() {
    let place = Place::new();
    let config = BashConfig { cwd: Some(place.path().to_owned()), ..BashConfig::default() };
    let command = "echo hi; sleep 300 2>/dev/null & echo $! > pid; echo done";
    let (completion, recorder) = call(config, json!({"command": command})).await;
    assert!(place.wait_for_pid("pid").await.is_alive());
    assert_eq!(completion.status, Status::Completed);
    let notes: Vec<_> = completion
        .notes
        .iter()
        .map(|note| (note.stream.as_ref().unwrap().as_str(), note.reason))
        .collect();
    assert_eq!(notes, [("stdout", IncompleteReason::PipeHeld)]);
    assert!(
        display(&completion)
            .ends_with("\nhi\ndone\n[output incomplete: pipe held open by a background process]")
    );
    assert_eq!(recorder.stdout(), "hi\ndone\n");
}

#[tokio::test]
async fn a_shell_that_does_not_start_says_why() {
    let shell = vec!["no-such-shell-anywhere".into(), "-c".into()];
    let config = BashConfig { shell, ..BashConfig::default() };
    let (completion, recorder) = call(config, json!({"command": "ls"})).await;
    assert_eq!((completion.status, completion.exit), (Status::Failed, None));
    let kind = NotStarted::from_metadata(completion.metadata());
    assert_eq!(kind, Some(NotStarted::NotFound));
    let reason = recorder.stderr();
    // What the system says depends on the directories that are searched.
    assert!(reason.starts_with("cannot start: program not found: no-such-shell-anywhere: "));
    assert!(reason.ends_with(")\n"), "{reason}");
    assert_eq!(display(&completion), format!("$ ls\n{reason}"));
}

#[tokio::test]
async fn the_settings_reach_the_command() {
    let place = Place::new();
    fs_err::create_dir(place.file("sub")).unwrap();
    let config = BashConfig {
        shell: vec!["sh".into(), "-e".into(), "-c".into()],
        cwd: Some(place.path().to_owned()),
        env: vec![("A".into(), Some("1".into())), ("HOME".into(), None)],
        default_timeout: None,
        ..BashConfig::default()
    };
    let real = place.path().canonicalize_utf8().unwrap();
    let command = "echo $A ${HOME-none}; pwd -P; false; echo not reached";
    for (cwd, expect) in [
        (json!(null), real.clone()),
        (json!("sub"), real.join("sub")),
        (json!("/"), Utf8PathBuf::from("/")),
    ] {
        let arguments = json!({"command": command, "cwd": cwd});
        let (completion, recorder) = call(config.clone(), arguments).await;
        assert_eq!(recorder.stdout(), format!("1 none\n{expect}\n"));
        assert_eq!((completion.exit, completion.timeout), (Some(Exit::Code(1)), None));
    }
}

#[tokio::test]
async fn what_is_asked_before_it_runs() {
    let tool = BashTool::new(BashConfig::default()).unwrap();
    let command = format!("\n  echo {}\nrm -r x\n", "é".repeat(200));
    let call = tool.prepare(json!({"command": command})).await.unwrap();
    assert_eq!(call.resources(), [Resource::Command { line: command }]);
    assert_eq!(call.title(), format!("echo {}", "é".repeat(125)));
    for arguments in [json!({"command": ""}), json!({"command": "ls", "cmd": "ls"}), json!(null)] {
        assert!(tool.prepare(arguments).await.is_err());
    }
}

#[test]
fn what_it_says_of_itself() {
    let tool = BashTool::new(BashConfig::default()).unwrap();
    let spec = tool.spec();
    assert_eq!(spec.name.as_str(), "bash");
    assert_eq!(spec.output, tool_bash::declaration());
    let names: Vec<_> = spec.output.names().iter().map(StreamName::as_str).collect();
    assert_eq!(names, ["stdout", "stderr"]);
    assert_eq!(spec.input_schema["required"], json!(["command"]));
    assert_eq!(spec.input_schema["properties"]["timeout"]["maximum"], 600_000);
    assert!(spec.description.contains("120s"));
}

#[test]
fn settings_that_cannot_work() {
    let with = |shell: &[&str], default_timeout, max_timeout| {
        let shell = shell.iter().map(Into::into).collect();
        BashTool::new(BashConfig { shell, default_timeout, max_timeout, ..Default::default() })
            .map(|_| ())
    };
    let (zero, second) = (Duration::ZERO, Duration::from_secs(1));
    assert_eq!(with(&["sh", "-c"], Some(second), second), Ok(()));
    assert_eq!(with(&["sh", "-c"], None, FOREVER), Ok(()));
    assert_eq!(with(&[], None, second), Err(BashConfigError::NoShell));
    assert_eq!(with(&[""], None, second), Err(BashConfigError::NoShell));
    for (default, max) in [(Some(zero), second), (None, zero), (Some(FOREVER), second)] {
        let error = with(&["sh"], default, max);
        assert_eq!(error, Err(BashConfigError::Timeout { default, max }));
    }
}
