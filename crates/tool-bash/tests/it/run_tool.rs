//! The `run` tool: one argv through the same seam.

use std::sync::Arc;
use std::time::Duration;

use output_contract::{Exit, Status};
use serde_json::json;
use tool_api::{CancellationToken, Completion, Resource, Tool};
use tool_bash::RunTool;
use tool_bash::process::{NotStarted, ProcessSpec, Stdin};

use crate::bash_tool::context;
use crate::recorder::Recorder;
use crate::world::Place;

async fn call(tool: &RunTool) -> (Completion, Arc<Recorder>) {
    let recorder = Arc::new(Recorder::new());
    let call = tool.prepare(tool.arguments()).await.unwrap();
    let completion = call.execute(context(&recorder, &CancellationToken::new())).await;
    (completion, recorder)
}

#[tokio::test]
async fn an_argv_runs_without_a_shell() {
    let spec = ProcessSpec::new("printf").with_args(["%s|", "$HOME", "a b"]);
    let tool = RunTool::new(spec);
    assert_eq!(tool.spec().name.as_str(), tool_bash::RUN_TOOL);
    let prepared = tool.prepare(tool.arguments()).await.unwrap();
    let line = "printf '%s|' '$HOME' 'a b'";
    assert_eq!(prepared.title(), line);
    assert_eq!(tool.title(), line);
    assert_eq!(prepared.resources(), [Resource::Command { line: line.to_owned() }]);
    let (completion, recorder) = call(&tool).await;
    assert_eq!((completion.status, completion.exit), (Status::Completed, Some(Exit::Code(0))));
    assert_eq!(recorder.stdout(), "$HOME|a b|");
}

#[tokio::test]
async fn the_whole_spec_is_used() {
    let place = Place::new();
    let mut spec = place.sh("cat; pwd -P; exit 4");
    spec.stdin = Stdin::Bytes("input\n".into());
    spec.timeout = Some(Duration::from_secs(60));
    let tool = RunTool::new(spec);
    let argv = ["sh", "-c", "cat; pwd -P; exit 4"];
    let record = json!({"argv": argv, "cwd": place.path().as_str(), "timeout": 60_000});
    assert_eq!(tool.arguments(), record);
    let (completion, recorder) = call(&tool).await;
    assert_eq!(completion.exit, Some(Exit::Code(4)));
    assert_eq!(completion.timeout, Some(Duration::from_secs(60)));
    let real = place.path().canonicalize_utf8().unwrap();
    assert_eq!(recorder.stdout(), format!("input\n{real}\n"));
}

#[tokio::test]
async fn nothing_else_can_be_run_with_it() {
    let tool = RunTool::new(ProcessSpec::new("true"));
    for arguments in [json!({}), json!({"argv": ["false"]}), json!({"argv": ["true", "x"]})] {
        let error = tool.prepare(arguments).await.unwrap_err().to_string();
        assert!(error.ends_with(r#"call it with {"argv":["true"]}"#), "{error}");
    }
}

#[tokio::test]
async fn why_it_did_not_start_is_in_the_metadata() {
    let place = Place::new();
    let missing = Some(place.file("missing"));
    for (spec, kind) in [
        (ProcessSpec::new("no-such-program-anywhere"), NotStarted::NotFound),
        (ProcessSpec::new(place.path()), NotStarted::NotExecutable),
        (ProcessSpec { cwd: missing, ..ProcessSpec::new("true") }, NotStarted::Cwd),
        (ProcessSpec::new("true").with_args(["a\0b"]), NotStarted::Other),
    ] {
        let (completion, recorder) = call(&RunTool::new(spec)).await;
        assert_eq!((completion.status, completion.exit), (Status::Failed, None));
        assert_eq!(NotStarted::from_metadata(completion.metadata()), Some(kind));
        assert!(recorder.stderr().starts_with("cannot start: "));
    }
}
