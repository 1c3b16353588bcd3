//! What the hint says, done: the `read` tool on the locator.

use std::sync::Arc;

use artifacts::ArtifactStore as _;
use output_contract::{Status, Timestamp, ToolResult};
use output_retention::Hints;
use serde_json::json;
use spill::SpillStore as _;
use testkit::MemoryJournal;
use tool_api::CancellationToken;
use tool_read::{ReadConfig, ReadTool};
use tool_runtime::{Runtime, RuntimeBuilder, ToolCall};

use crate::harness::{World, text};

async fn read(agent: &Runtime, uri: &str, offset: u64, limit: u64) -> ToolResult {
    let call = ToolCall {
        session_id: "another session".parse().unwrap(),
        call_id: format!("{offset}").parse().unwrap(),
        parent_call_id: None,
        tool: "read".parse().unwrap(),
        arguments: json!({"filePath": uri, "offset": offset, "limit": limit}),
    };
    agent.call(call, &CancellationToken::new()).await.unwrap()
}

#[tokio::test]
async fn the_hint_works_as_printed() {
    let world = World::on_disk();
    let content: String = (0..5_000).map(|n| format!("line {n} é\n")).collect();
    let saved = world.spill.save_text(text("s", "c", &content)).await.unwrap();
    let hint =
        "Use read with this URI as filePath, offset and limit, and byteOffset inside long lines.";
    assert_eq!(saved.retrieval_hint, hint);

    let reader = ReadTool::new(world.store.clone(), ReadConfig::new("/")).unwrap();
    let journal = Arc::new(MemoryJournal::default());
    let agent = RuntimeBuilder::new(world.store.clone(), journal, || Timestamp(0))
        .tool(reader)
        .build()
        .unwrap();
    let page = read(&agent, saved.locator.as_str(), 4_999, 1).await;
    assert_eq!((page.status, page.text()), (Status::Completed, "line 4999 é\n".to_owned()));

    world.store.release(&"s".parse().unwrap(), None).await.unwrap();
    world.collect().await;
    let gone = read(&agent, saved.locator.as_str(), 0, 1).await;
    assert_eq!(gone.status, Status::Failed);
    assert!(gone.text().contains("expired"), "{}", gone.text());
}

#[test]
fn other_readers_have_other_hints() {
    let cli = Hints::Cli { program: "overspill".to_owned() };
    assert_eq!(
        cli.artifact_in_words(),
        "Use `overspill read` with this URI, --offset and --limit, and --byte-offset inside long \
         lines."
    );
}
