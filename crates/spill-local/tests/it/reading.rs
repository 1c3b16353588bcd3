//! What the hint says, done: the `read` tool on the locator.

use std::sync::Arc;

use camino::Utf8Path;
use output_contract::{Content, Status, Timestamp, ToolResult};
use serde_json::json;
use spill::SpillStore as _;
use spill_local::LocalSpill;
use testkit::{MemoryJournal, MemoryStore};
use tool_api::{Access, CancellationToken};
use tool_read::{ReadConfig, ReadTool, WorkspaceApprover};
use tool_runtime::{Runtime, RuntimeBuilder, ToolCall};

use crate::harness::{Scratch, text};

/// An agent that offers `read`, whose working directory is elsewhere.
fn agent() -> Runtime {
    builder().build().unwrap()
}

fn builder() -> RuntimeBuilder {
    let store = Arc::new(MemoryStore::new().unwrap());
    let read = ReadTool::new(store.clone(), ReadConfig::new("/")).unwrap();
    let journal = Arc::new(MemoryJournal::default());
    RuntimeBuilder::new(store, journal, || Timestamp(0)).tool(read)
}

async fn read(agent: &Runtime, path: &str, offset: u64, byte_offset: u64) -> ToolResult {
    let call = ToolCall {
        session_id: "another session".parse().unwrap(),
        call_id: format!("{offset} {byte_offset}").parse().unwrap(),
        parent_call_id: None,
        tool: "read".parse().unwrap(),
        arguments: json!({"filePath": path, "offset": offset, "byteOffset": byte_offset}),
    };
    agent.call(call, &CancellationToken::new()).await.unwrap()
}

/// All of a file by pages, without the numbers of its lines, and how many pages
/// there were.
async fn read_all(agent: &Runtime, path: &str) -> (String, usize) {
    let (mut all, mut pages) = (String::new(), 0);
    let (mut offset, mut byte_offset) = (0, 0);
    loop {
        let result = read(agent, path, offset, byte_offset).await;
        assert_eq!(result.status, Status::Completed, "{result:?}");
        let page = result.content.first().and_then(Content::as_text).unwrap_or_default();
        for line in page.split_inclusive('\n') {
            let (number, line) = line.split_once('\t').unwrap();
            assert!(number.trim().parse::<u64>().is_ok(), "{number}");
            all.push_str(line);
        }
        pages += 1;
        let next = |field: &str| result.metadata.get(field).and_then(serde_json::Value::as_u64);
        match next("nextOffset") {
            Some(next_offset) => offset = next_offset,
            None => return (all, pages),
        }
        byte_offset = next("nextByteOffset").unwrap_or(0);
    }
}

#[tokio::test]
async fn every_byte_is_read_back_by_pages() {
    let scratch = Scratch::new();
    let agent = agent();
    let lines: String = (0..5_000).map(|n| format!("line {n} é\n")).collect();
    let long_line = format!("short\n{}\nlast", "0123456789 語".repeat(20_000));
    for (content, fewest_pages) in [(lines, 3), (long_line, 3)] {
        let saved = scratch.store.save_text(text("s", "a.txt", &*content)).await.unwrap();
        assert!(saved.retrieval_hint.contains("byteOffset"));
        let (all, pages) = read_all(&agent, saved.locator.as_str()).await;
        assert!(all == content, "{} of {} bytes", all.len(), content.len());
        assert!(pages >= fewest_pages, "{pages}");
    }
}

#[tokio::test]
async fn forks_and_resumed_sessions_read_what_they_inherited() {
    let scratch = Scratch::new();
    let saved = scratch.store.save_text(text("parent", "a.txt", "inherited\n")).await.unwrap();
    // A later process, which saves for a fork in the same place.
    let later = LocalSpill::new(scratch.root()).unwrap();
    let own = later.save_text(text("fork", "a.txt", "of the fork\n")).await.unwrap();
    let agent = agent();
    assert_eq!(read_all(&agent, saved.locator.as_str()).await.0, "inherited\n");
    assert_eq!(read_all(&agent, own.locator.as_str()).await.0, "of the fork\n");
    let directory = |locator: &str| Utf8Path::new(locator).parent().unwrap().to_owned();
    assert_ne!(directory(saved.locator.as_str()), directory(own.locator.as_str()));
}

#[tokio::test]
async fn an_agent_that_keeps_to_its_workspace_allows_the_root() {
    let scratch = Scratch::new();
    let saved = scratch.store.save_text(text("s", "a.txt", "outside\n")).await.unwrap();
    let workspace = WorkspaceApprover::new().allow(Access::Write, "/workspace").unwrap();
    let with_root = workspace.clone().allow(Access::Read, scratch.root()).unwrap();
    let agent = builder().approver(workspace).build().unwrap();
    assert_eq!(read(&agent, saved.locator.as_str(), 0, 0).await.status, Status::Failed);
    let agent = builder().approver(with_root).build().unwrap();
    assert_eq!(read_all(&agent, saved.locator.as_str()).await.0, "outside\n");
}

#[tokio::test]
async fn what_was_removed_is_a_clear_error() {
    let scratch = Scratch::new();
    let saved = scratch.store.save_text(text("parent", "a.txt", "gone\n")).await.unwrap();
    fs_err::remove_dir_all(Utf8Path::new(saved.locator.as_str()).parent().unwrap()).unwrap();
    let result = read(&agent(), saved.locator.as_str(), 0, 0).await;
    assert_eq!(result.status, Status::Failed);
    let said = result.text();
    assert!(said.contains(saved.locator.as_str()) && said.contains("no such file"), "{said}");
}
