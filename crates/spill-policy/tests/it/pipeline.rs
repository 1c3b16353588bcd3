//! The policy in a real runtime, over both backends of this workspace.

use std::sync::Arc;

use camino::Utf8Path;
use output_contract::{
    Chunk, Content, ContentBody, EmittedMessage, EmittedRole, FullOutput, Status, Timestamp,
    ToolResult,
};
use output_retention::Hints;
use spill::SpillStore;
use spill_artifact::ArtifactSpill;
use spill_local::LocalSpill;
use spill_policy::{MaxInlineBytes, SpillPlugin};
use testkit::{FaultyStore, MemoryJournal, MemoryStore, Script, ScriptedTool};
use tool_api::{CancellationToken, Completion, NewAttachment, Plugin, PluginError, Registrar};
use tool_runtime::{Runtime, RuntimeBuilder, ToolCall};

/// A plugin that brings a store.
#[derive(Debug)]
struct Store(Arc<dyn SpillStore>);

impl Plugin for Store {
    fn install(&self, registrar: &mut Registrar) -> Result<(), PluginError> {
        registrar.spill_store(self.0.clone())
    }
}

const CAP: usize = 400;

fn page() -> String {
    (1..=500).map(|n| format!("line {n} of the page\n")).collect()
}

/// Makes the completion a rich one: failed, with everything beside the text.
fn enrich(completion: &mut Completion) {
    completion.status = Status::Failed;
    completion.display = Some("a display".to_owned());
    completion.set_metadata("url", "http://example").unwrap();
    let emitted = EmittedMessage { role: EmittedRole::User, text: "emitted".to_owned() };
    completion.emit(emitted).unwrap();
}

fn runtime(cap: Option<usize>, store: Arc<FaultyStore>, spill: Arc<dyn SpillStore>) -> Runtime {
    let fetch = |name| ScriptedTool::single(name, Script::Full(FullOutput::Single(page().into())));
    let max_inline_bytes = cap.map(|cap| MaxInlineBytes::new(cap).unwrap());
    let attach = |completion: &mut Completion| {
        completion.attach(NewAttachment::new("image/png", None, "png").unwrap()).unwrap();
    };
    let chunks = page().lines().map(|line| Chunk::single(format!("{line}\n")).into()).collect();
    RuntimeBuilder::new(store, Arc::new(MemoryJournal::default()), || Timestamp(0))
        .tool(fetch("fetch").completing(enrich))
        .tool(fetch("mixed").completing(attach))
        .tool(ScriptedTool::single("stream", Script::Stream(chunks)))
        .tool(ScriptedTool::paginating("page", Script::Page(vec![Content::text(page())])))
        .plugin(&Store(spill))
        .plugin(&SpillPlugin { max_inline_bytes })
        .build()
        .unwrap()
}

async fn call(runtime: &Runtime, tool: &str, parent: Option<&str>) -> ToolResult {
    let call = ToolCall {
        session_id: "session".parse().unwrap(),
        call_id: format!("{tool} {parent:?}").parse().unwrap(),
        parent_call_id: parent.map(|parent| parent.parse().unwrap()),
        tool: tool.parse().unwrap(),
        arguments: serde_json::json!({}),
    };
    runtime.call(call, &CancellationToken::new()).await.unwrap()
}

/// Stores and backends that the runtime is tried with.
fn backends(dir: &Utf8Path) -> [(Arc<FaultyStore>, Arc<dyn SpillStore>); 2] {
    let store = || Arc::new(FaultyStore::new(Arc::new(MemoryStore::new().unwrap())));
    let (local, artifact) = (store(), store());
    let hints = Hints::Tool { read_tool: "read".to_owned() };
    let spill = ArtifactSpill::new(artifact.clone(), &hints, || Timestamp(0));
    [(local, Arc::new(LocalSpill::new(dir.join("spill")).unwrap())), (artifact, Arc::new(spill))]
}

#[tokio::test]
async fn only_the_text_differs_and_the_whole_of_it_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    for (store, spill) in backends(Utf8Path::from_path(dir.path()).unwrap()) {
        let without = call(&runtime(None, store.clone(), spill.clone()), "fetch", None).await;
        let published = store.publishes();
        let with = call(&runtime(Some(CAP), store.clone(), spill), "fetch", None).await;
        assert_eq!(store.publishes(), published + 1, "only the call's own output");

        let text = with.text();
        assert!(text.len() <= CAP && text.ends_with(")\n[failed]"), "{text}");
        assert!(text.starts_with("line 1 of the page\nline 2 "), "{text}");
        let (_, rest) = text.split_once(" stored at: ").unwrap();
        let (locator, _) = rest.split_once(". Use read ").unwrap();
        match locator.strip_prefix("artifact://") {
            Some(digest) => assert_eq!(digest, with.output.streams[0].sha256.unwrap().to_string()),
            None => assert_eq!(fs_err::read_to_string(locator).unwrap(), page()),
        }

        assert_eq!(with.status, Status::Failed);
        let stream = |result: &ToolResult| result.output.streams[0].clone();
        assert!(stream(&with).truncated && stream(&with).shown_bytes < CAP as u64);
        // Apart from the text, and what is said to be shown of it, nothing differs.
        let (mut with, mut without) = (with, without);
        for result in [&mut with, &mut without] {
            result.content.clear();
            let stream = &mut result.output.streams[0];
            (stream.truncated, stream.shown_bytes) = (false, 0);
            (stream.next_offset, stream.next_byte_offset) = (None, None);
        }
        assert_eq!(with, without);
        assert_eq!(with.emitted.len(), 1);
    }
}

#[tokio::test]
async fn what_is_not_for_the_policy_is_untouched() {
    let dir = tempfile::tempdir().unwrap();
    for (store, spill) in backends(Utf8Path::from_path(dir.path()).unwrap()) {
        let without = runtime(None, store.clone(), spill.clone());
        let with = runtime(Some(CAP), store, spill);
        assert_eq!((without.post_execute().count(), with.post_execute().count()), (0, 1));
        for (tool, parent) in [("mixed", None), ("page", None), ("fetch", Some("outer"))] {
            let found = call(&with, tool, parent).await;
            assert!(found.text().len() > CAP);
            assert_eq!(found, call(&without, tool, parent).await, "{tool}");
        }
        let mixed = call(&with, "mixed", None).await;
        assert!(matches!(mixed.content[1].body, ContentBody::Attachment(_)));
    }
}

#[tokio::test]
async fn streamed_output_is_shown_smaller_and_stays_where_it_is() {
    let dir = tempfile::tempdir().unwrap();
    for (store, spill) in backends(Utf8Path::from_path(dir.path()).unwrap()) {
        let result = call(&runtime(Some(CAP), store.clone(), spill), "stream", None).await;
        let (text, stream) = (result.text(), &result.output.streams[0]);
        assert!(text.len() <= CAP && text.contains("[Truncated"), "{text}");
        assert!(stream.truncated && stream.shown_bytes < CAP as u64);
        assert_eq!(stream.bytes, page().len() as u64);
        assert_eq!((store.publishes(), store.retains()), (1, 1), "saved once, by the runtime");
    }
    assert!(!dir.path().join("spill").exists());
}
