//! Calls: every way to run, to end, and to be refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use artifacts::{ArtifactStore, CollectOptions, Guard, Journal, JournalError};
use async_trait::async_trait;
use output_contract::limits::MAX_INLINE_STRUCTURED_BYTES;
use output_contract::{
    ArtifactUri, CallId, Chunk, ContentBody, Delta, EmittedMessage, EmittedRole, FullOutput,
    IncompleteReason, OutputKind, SavedEvent, SessionId, Status, StreamName, Structured, Timestamp,
    ToolResult,
};
use serde_json::json;
use testkit::ScriptedTool;
use tokio::sync::Notify;
use tool_api::{
    AdapterError, AdapterSink, Approver, CallInfo, CancellationToken, Completion, Decision, Finish,
    NewAttachment, PostExecute, Presentation, Replacement, Resource,
};
use tool_runtime::{CallError, RuntimeBuilder, RuntimeConfig};

use super::agent::{Agent, call_of, named, paginating, run, single};

fn name(name: &str) -> StreamName {
    name.parse().unwrap()
}

/// The stored bytes behind a result's stream.
async fn stored(agent: &Agent, uri: &ArtifactUri) -> Vec<u8> {
    let reader = ArtifactStore::open(&*agent.store, uri).await.unwrap();
    reader.read(0..reader.bytes()).await.unwrap().to_vec()
}

async fn stream(agent: &Agent, result: &ToolResult, index: usize) -> Vec<u8> {
    stored(agent, result.output.streams[index].artifact.as_ref().unwrap()).await
}

async fn one(agent: &Agent, tool: ScriptedTool) -> ToolResult {
    let runtime = agent.builder().tool(tool).build().unwrap();
    run(&runtime, call_of("t", "c", json!({}))).await
}

#[tokio::test]
async fn custom_streams_in_declaration_order() {
    let agent = Agent::new();
    let declared = ["results", "diagnostics", "unused"];
    let streamed = named("t", &declared, async |cx| {
        let sink = cx.sink.stream();
        let delta = Delta {
            chunks: vec![
                Chunk::named(name("diagnostics"), "warned\n"),
                Chunk::named(name("results"), "1\n"),
                Chunk::named(name("results"), "2\n"),
            ],
            display: Some("never in a stream".to_owned()),
        };
        sink.send(delta).await.unwrap();
        Completion::completed(sink.finish())
    });
    let full = named("t", &declared, async |cx| {
        let streams = [("unused", ""), ("diagnostics", "warned\n"), ("results", "1\n2\n")];
        let streams = streams.map(|(stream, text)| (name(stream), text));
        Completion::completed(cx.sink.named(streams).unwrap())
    });
    let mut manifests = Vec::new();
    for tool in [streamed, full] {
        let result = one(&agent, tool).await;
        assert_eq!(result.text(), "[results]\n1\n2\n\n[diagnostics]\nwarned\n\n[unused]");
        assert_eq!(result.output.kind, OutputKind::Named);
        assert_eq!(stream(&agent, &result, 0).await, b"1\n2\n");
        assert_eq!(stream(&agent, &result, 2).await, b"");
        manifests.push(result.output.manifest.unwrap());
    }
    assert_eq!(manifests[0], manifests[1], "both ways make the same artifacts");
}

#[tokio::test]
async fn a_single_output_has_no_heading_and_no_manifest() {
    let agent = Agent::new();
    for text in ["", "text", "text\n"] {
        let tool =
            single(
                "t",
                move |cx| async move { Completion::completed(cx.sink.full(text).unwrap()) },
            );
        let result = one(&agent, tool).await;
        assert_eq!(result.text(), text);
        assert_eq!((result.output.kind, result.output.manifest), (OutputKind::Single, None));
        assert_eq!(stream(&agent, &result, 0).await, text.as_bytes());
    }
    let tool = single("t", async |cx| Completion::completed(cx.sink.empty()));
    assert_eq!(one(&agent, tool).await.output.streams[0].bytes, 0);
}

#[tokio::test]
async fn mixed_ways_of_finishing_are_distinct_errors() {
    let agent = Agent::new();
    let tool = single("t", async |cx| {
        let mut sink = AdapterSink::new(cx.sink);
        sink.delta(Chunk::single("sent\n").into()).await.unwrap();
        let full = Finish::Full(FullOutput::Single("again\n".into()));
        assert_eq!(sink.finish(full.clone()).unwrap_err(), AdapterError::MixedModes);
        sink.delta(Chunk::single("more\n").into()).await.unwrap();
        let output = sink.finish(Finish::Streamed).unwrap();
        assert_eq!(sink.finish(Finish::Streamed).unwrap_err(), AdapterError::SecondFinish);
        assert_eq!(sink.finish(full).unwrap_err(), AdapterError::SecondFinish);
        let late = sink.delta(Chunk::single("late\n").into()).await;
        assert_eq!(late, Err(AdapterError::LateChunk));
        Completion::completed(output)
    });
    let result = one(&agent, tool).await;
    assert_eq!(result.status, Status::Completed);
    assert_eq!(stream(&agent, &result, 0).await, b"sent\nmore\n");

    let tool = named("t", &["a", "b"], async |cx| {
        let mut sink = AdapterSink::new(cx.sink);
        for wrong in [
            FullOutput::Single("x".into()),
            FullOutput::Named(vec![(name("a"), "x".into())]),
            FullOutput::Named(vec![(name("a"), "x".into()), (name("c"), "x".into())]),
        ] {
            let refused = sink.finish(Finish::Full(wrong)).unwrap_err();
            assert!(matches!(refused, AdapterError::Rejected(_)), "{refused}");
        }
        let refused = sink.delta(Chunk::single("x").into()).await.unwrap_err();
        assert!(matches!(refused, AdapterError::Sink(_)), "{refused}");
        Completion::completed(sink.finish(Finish::Streamed).unwrap())
    });
    assert_eq!(one(&agent, tool).await.text(), "[a]\n\n[b]");
}

#[tokio::test]
async fn a_failure_keeps_what_was_sent_and_stays_a_failure() {
    let agent = Agent::new();
    let tool = single("t", async |cx| {
        let sink = cx.sink.stream();
        sink.send(Chunk::single("so far\n")).await.unwrap();
        Completion::failed(sink.finish())
    });
    let result = one(&agent, tool).await;
    assert_eq!(result.text(), "so far\n[failed]");
    assert_eq!(result.incomplete, None, "it ended by itself: all of its output is there");
    assert_eq!(result.display, "the title: failed");
    assert_eq!(agent.saved("s", "c"), Some(result));
}

#[tokio::test]
async fn a_panic_is_failed_and_interrupted() {
    let agent = Agent::new();
    let tool = single("t", async |cx| {
        let sink = cx.sink.stream();
        sink.send(Chunk::single("so far\n")).await.unwrap();
        panic!("out of ideas")
    });
    let result = one(&agent, tool).await;
    assert_eq!(result.status, Status::Failed);
    assert_eq!(result.incomplete.as_ref().unwrap().reason, IncompleteReason::Interrupted);
    assert_eq!(result.metadata["error"], "the tool panicked: out of ideas");
    assert!(result.text().starts_with("so far\n"), "{}", result.text());
    assert!(result.text().ends_with("\n[failed]"), "{}", result.text());
    assert_eq!(result.display, "the title: failed (output incomplete)");
    assert_eq!(stream(&agent, &result, 0).await, b"so far\n");
}

#[tokio::test]
async fn a_dropped_sink_is_failed_and_interrupted() {
    let agent = Agent::new();
    let tool = single("t", async |cx| {
        let sink = cx.sink.stream();
        sink.send(Chunk::single("so far\n")).await.unwrap();
        drop(sink);
        std::future::pending().await
    });
    let config = RuntimeConfig { cancel_grace: Duration::ZERO, ..RuntimeConfig::default() };
    let runtime = agent.builder().config(config).tool(tool).build().unwrap();
    let result = run(&runtime, call_of("t", "c", json!({}))).await;
    assert_eq!(result.status, Status::Failed);
    assert_eq!(result.incomplete.as_ref().unwrap().reason, IncompleteReason::Interrupted);
    assert_eq!(stream(&agent, &result, 0).await, b"so far\n");
}

/// A tool that has sent something and waits; whether it heeds cancellation.
fn waiting(begun: Arc<Notify>, heeds: bool) -> ScriptedTool {
    single("t", move |cx| {
        let begun = begun.clone();
        async move {
            let sink = cx.sink.stream();
            sink.send(Chunk::single("so far\n")).await.unwrap();
            begun.notify_one();
            if heeds {
                cx.cancel.cancelled().await;
                return Completion::new(sink.finish(), Status::Cancelled);
            }
            std::future::pending().await
        }
    })
}

#[tokio::test]
async fn a_cancelled_call_keeps_what_was_sent() {
    for heeds in [true, false] {
        let agent = Agent::new();
        let begun = Arc::new(Notify::new());
        let config = RuntimeConfig { cancel_grace: Duration::ZERO, ..RuntimeConfig::default() };
        let config = if heeds { RuntimeConfig::default() } else { config };
        let tool = waiting(begun.clone(), heeds);
        let runtime = agent.builder().config(config).tool(tool).build().unwrap();
        let cancel = CancellationToken::new();
        let (result, ()) =
            tokio::join!(runtime.call(call_of("t", "c", json!({})), &cancel), async {
                begun.notified().await;
                cancel.cancel();
            });
        let result = result.unwrap();
        assert_eq!(result.status, Status::Cancelled);
        assert_eq!(result.text(), "so far\n[cancelled; output incomplete]");
        assert_eq!(result.display, "the title: cancelled (output incomplete)");
        assert_eq!(stream(&agent, &result, 0).await, b"so far\n");
        assert_eq!(agent.saved("s", "c"), Some(result));
    }
}

#[tokio::test]
async fn a_dropped_call_is_finalised_in_the_background() {
    let agent = Agent::new();
    let begun = Arc::new(Notify::new());
    let runtime = agent.builder().tool(waiting(begun.clone(), true)).build().unwrap();
    let mut events = runtime.subscribe();
    let never = CancellationToken::new();
    tokio::select! {
        ended = runtime.call(call_of("t", "c", json!({})), &never) => panic!("{ended:?}"),
        () = begun.notified() => {}
    }
    while !matches!(events.next().await, Some(output_contract::LiveEvent::CallFinished { .. })) {}
    let saved = agent.saved("s", "c").unwrap();
    assert_eq!(saved.status, Status::Cancelled);
    assert_eq!(stream(&agent, &saved, 0).await, b"so far\n");
}

#[derive(Debug)]
struct Judge(Arc<AtomicUsize>);

#[async_trait]
impl Approver for Judge {
    async fn decide(&self, call: &CallInfo, resources: &[Resource]) -> Decision {
        assert_eq!(resources, [Resource::Command { line: "scripted".to_owned() }]);
        self.0.fetch_add(1, Ordering::Relaxed);
        match call.call_id.as_str() {
            "pending" => std::future::pending().await,
            "no" => Decision::Deny { reason: "not today".to_owned() },
            _ => Decision::Allow,
        }
    }
}

#[tokio::test]
async fn what_may_not_run_is_a_result_and_leaves_nothing() {
    let agent = Agent::new();
    let asked = Arc::new(AtomicUsize::new(0));
    let ran = Arc::new(AtomicUsize::new(0));
    let count = ran.clone();
    let tool = single("t", move |cx| {
        count.fetch_add(1, Ordering::Relaxed);
        async move { Completion::completed(cx.sink.empty()) }
    });
    let tool = tool.touching(vec![Resource::Command { line: "scripted".to_owned() }]);
    let picky = single("picky", async |cx| Completion::completed(cx.sink.empty()))
        .refusing("there is no argument `wrong`");
    let builder = agent.builder().tool(tool).tool(picky).approver(Judge(asked.clone()));
    let runtime = builder.build().unwrap();

    let unknown = run(&runtime, call_of("u", "unknown", json!({}))).await;
    assert_eq!(unknown.text(), "unknown tool u; there are: picky, t");
    let wrong = run(&runtime, call_of("picky", "wrong", json!({ "wrong": 1 }))).await;
    assert_eq!(wrong.text(), "invalid arguments: there is no argument `wrong`");
    assert_eq!(asked.load(Ordering::Relaxed), 0, "nobody is asked about what cannot run");
    let denied = run(&runtime, call_of("t", "no", json!({}))).await;
    assert_eq!(denied.text(), "the call was not allowed: not today");
    for result in [&unknown, &wrong, &denied] {
        assert_eq!(result.status, Status::Failed);
        assert_eq!(agent.saved("s", result.call_id.as_str()).as_ref(), Some(result));
    }

    let cancel = CancellationToken::new();
    let pending = runtime.call(call_of("t", "pending", json!({})), &cancel);
    let (pending, ()) = tokio::join!(pending, async {
        while asked.load(Ordering::Relaxed) < 2 {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    });
    assert_eq!(pending.unwrap().status, Status::Cancelled);
    assert_eq!(ran.load(Ordering::Relaxed), 0);
    assert_eq!(agent.events("s").len(), 5, "a session, four results, and no start");

    run(&runtime, call_of("t", "yes", json!({}))).await;
    assert_eq!(ran.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn attachments_and_values_are_stored_and_rooted() {
    let agent = Agent::new();
    let large = json!({ "list": vec!["x"; MAX_INLINE_STRUCTURED_BYTES] });
    let value = large.clone();
    let tool = single("t", move |cx| {
        let value = value.clone();
        async move {
            let mut completion = Completion::completed(cx.sink.full("text\n").unwrap());
            for byte in [1_u8, 2] {
                let image = NewAttachment::new("image/png", None, vec![byte; 1000]).unwrap();
                completion.attach(image).unwrap();
            }
            completion.structured = Some(value);
            let text = "look at the pictures".to_owned();
            completion.emit(EmittedMessage { role: EmittedRole::User, text }).unwrap();
            completion.set_metadata("pages", 2).unwrap();
            completion
        }
    });
    let result = one(&agent, tool).await;
    let everything = CollectOptions { grace: Duration::ZERO, dry_run: false, force: false };
    ArtifactStore::collect(&*agent.store, everything).await.unwrap();

    assert_eq!(result.content.len(), 3);
    assert_eq!(result.content[0].as_text(), Some("text\n"));
    for (content, byte) in result.content[1..].iter().zip([1_u8, 2]) {
        let ContentBody::Attachment(attachment) = &content.body else { panic!("{content:?}") };
        let uri = ArtifactUri::bare(attachment.artifact.unwrap());
        assert_eq!(stored(&agent, &uri).await, vec![byte; 1000]);
    }
    let Some(Structured::Stored { artifact, bytes }) = result.structured else { panic!() };
    let json = stored(&agent, &ArtifactUri::bare(artifact.unwrap())).await;
    assert_eq!(json, large.to_string().as_bytes());
    assert_eq!(bytes, json.len() as u64);
    assert_eq!(result.emitted[0].text, "look at the pictures");
    assert_eq!(result.metadata["pages"], 2);
    let log = fs_err::read(agent.logs.path(&"s".parse().unwrap())).unwrap();
    assert!(log.len() < 8000, "no bytes of attachments in events: {}", log.len());
}

#[tokio::test]
async fn a_self_paginating_tool_is_kept_inline_and_sends_nothing() {
    let agent = Agent::new();
    let tool = paginating("t", async |cx| {
        let page = vec![output_contract::Content::text("the page\n")];
        Completion::completed(cx.sink.page(page).unwrap())
    });
    let result = one(&agent, tool).await;
    assert_eq!(result.text(), "the page\n");
    assert_eq!((result.output.kind, result.output.streams.len()), (OutputKind::Page, 0));

    let tool = paginating("t", async |cx| {
        let sink = cx.sink.stream();
        assert!(sink.send(Chunk::single("delta")).await.is_err());
        Completion::completed(sink.finish())
    });
    let result = one(&agent, tool).await;
    assert_eq!(result.status, Status::Failed);
    let everything = CollectOptions { grace: Duration::ZERO, dry_run: true, force: false };
    let report = ArtifactStore::collect(&*agent.store, everything).await.unwrap();
    assert_eq!((report.live, report.removed), (0, 0));
}

#[derive(Debug)]
struct Append(&'static str);

#[async_trait]
impl PostExecute for Append {
    async fn apply(&self, _call: &CallInfo, presentation: Presentation) -> Presentation {
        let text = match presentation {
            Presentation::Full { text, .. } => text,
            Presentation::Replaced(replacement) => replacement.text,
            Presentation::Preview(preview) => return Presentation::Preview(preview),
        };
        Presentation::Replaced(Replacement::text(text + self.0))
    }
}

#[tokio::test]
async fn post_execute_is_a_waterfall_over_the_presentation_only() {
    let agent = Agent::new();
    let tool = single("t", async |cx| {
        Completion::failed(cx.sink.full("text").unwrap()).with_display("display")
    });
    let runtime = agent.builder().tool(tool).post_execute(Append(" 1")).post_execute(Append(" 2"));
    let result = run(&runtime.build().unwrap(), call_of("t", "c", json!({}))).await;
    assert_eq!(result.text(), "text 1 2");
    assert_eq!((result.status, result.display.as_str()), (Status::Failed, "display"));
    assert_eq!(stream(&agent, &result, 0).await, b"text");

    let streamed = single("t", async |cx| {
        let sink = cx.sink.stream();
        sink.send(Chunk::single("text")).await.unwrap();
        Completion::completed(sink.finish())
    });
    let runtime = agent.builder().tool(streamed).post_execute(Append(" 1")).build().unwrap();
    assert_eq!(run(&runtime, call_of("t", "d", json!({}))).await.text(), "text");
}

/// Collects with no grace right before and right after each commit.
#[derive(Debug)]
struct CollectingJournal {
    inner: Arc<dyn Journal>,
    store: Arc<dyn ArtifactStore>,
    fails: bool,
}

#[async_trait]
impl Journal for CollectingJournal {
    async fn append(&self, session: &SessionId, event: &SavedEvent) -> Result<(), JournalError> {
        self.inner.append(session, event).await
    }

    async fn commit(
        &self,
        session: &SessionId,
        call: &CallId,
        guard: &dyn Guard,
        event: &SavedEvent,
    ) -> Result<(), JournalError> {
        let everything = CollectOptions { grace: Duration::ZERO, dry_run: false, force: false };
        self.store.collect(everything.clone()).await.unwrap();
        if self.fails {
            return Err(JournalError::Backend("no room".into()));
        }
        self.inner.commit(session, call, guard, event).await?;
        self.store.collect(everything).await.unwrap();
        Ok(())
    }

    async fn has_finished(&self, session: &SessionId, call: &CallId) -> Result<bool, JournalError> {
        self.inner.has_finished(session, call).await
    }
}

fn collecting(agent: &Agent, fails: bool) -> RuntimeBuilder {
    let journal = CollectingJournal { inner: agent.logs.clone(), store: agent.artifacts(), fails };
    let tool = single("t", async |cx| Completion::completed(cx.sink.full("kept\n").unwrap()));
    RuntimeBuilder::new(agent.artifacts(), Arc::new(journal), || Timestamp(0)).tool(tool)
}

#[tokio::test]
async fn references_are_saved_before_protection_ends() {
    let agent = Agent::new();
    let runtime = collecting(&agent, false).build().unwrap();
    let result = run(&runtime, call_of("t", "c", json!({}))).await;
    let everything = CollectOptions { grace: Duration::ZERO, dry_run: false, force: false };
    ArtifactStore::collect(&*agent.store, everything).await.unwrap();
    assert_eq!(stream(&agent, &result, 0).await, b"kept\n");
    let captures = agent.store.captures().path();
    assert_eq!(fs_err::read_dir(captures).unwrap().count(), 0, "nothing is left behind");
}

#[tokio::test]
async fn a_result_that_cannot_be_saved_is_not_lost() {
    let agent = Agent::new();
    let runtime = collecting(&agent, true).build().unwrap();
    let never = CancellationToken::new();
    let error = runtime.call(call_of("t", "c", json!({})), &never).await.unwrap_err();
    let CallError::NotSaved { result, .. } = error else { panic!("{error}") };
    assert_eq!(result.text(), "kept\n");
    // The capture is still there, and recovery saves what it holds.
    let journal: Arc<dyn Journal> = agent.logs.clone();
    let config = RuntimeConfig::default();
    let recovered =
        tool_runtime::recover(&agent.artifacts(), &journal, &config, Timestamp(1)).await.unwrap();
    assert_eq!(recovered.len(), 1);
    let saved = agent.saved("s", "c").unwrap();
    assert_eq!(saved.status, Status::Interrupted);
    assert_eq!(stream(&agent, &saved, 0).await, b"kept\n");
}
