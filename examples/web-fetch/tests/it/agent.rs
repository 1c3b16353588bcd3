//! An agent's runtime with the tool in it.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use output_contract::{Timestamp, ToolResult};
use serde_json::{Value, json};
use spill_local::LocalSpill;
use spill_policy::{MaxInlineBytes, SpillPlugin};
use testkit::{MemoryJournal, MemoryStore};
use tool_api::{Access, ApproveAll, CancellationToken, Plugin, PluginError, Registrar};
use tool_read::{ReadConfig, ReadTool, WorkspaceApprover};
use tool_runtime::{Runtime, RuntimeBuilder, ToolCall};
use web_fetch_example::{FetchLimits, WebFetch};

#[derive(Debug)]
struct Spill(Arc<LocalSpill>);

impl Plugin for Spill {
    fn install(&self, registrar: &mut Registrar) -> Result<(), PluginError> {
        registrar.spill_store(self.0.clone())
    }
}

/// A runtime that may read what it spilled and no other file.
pub(crate) struct Agent {
    dir: tempfile::TempDir,
    runtime: Runtime,
}

impl Agent {
    pub(crate) fn new(limits: FetchLimits, max_inline_bytes: Option<usize>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = Utf8Path::from_path(dir.path()).unwrap().canonicalize_utf8().unwrap();
        let store = Arc::new(MemoryStore::new().unwrap());
        let spill = Arc::new(LocalSpill::new(home.join("spill")).unwrap());
        let approver = WorkspaceApprover::new().allow(Access::Read, spill.root()).unwrap();
        let max_inline_bytes = max_inline_bytes.map(|bytes| MaxInlineBytes::new(bytes).unwrap());
        let journal = Arc::new(MemoryJournal::default());
        let runtime = RuntimeBuilder::new(store.clone(), journal, || Timestamp(0))
            .approver(approver.otherwise(ApproveAll))
            .tool(ReadTool::new(store, ReadConfig::new(&home)).unwrap())
            .plugin(&WebFetch::new(limits).unwrap())
            .plugin(&Spill(spill))
            .plugin(&SpillPlugin { max_inline_bytes })
            .build()
            .unwrap();
        Self { dir, runtime }
    }

    pub(crate) async fn fetch(&self, url: &str) -> ToolResult {
        self.call("web_fetch", json!({ "url": url }), &CancellationToken::new()).await
    }

    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: Value,
        cancel: &CancellationToken,
    ) -> ToolResult {
        let call = ToolCall {
            session_id: "session".parse().unwrap(),
            call_id: "call".parse().unwrap(),
            parent_call_id: None,
            tool: tool.parse().unwrap(),
            arguments,
        };
        self.runtime.call(call, cancel).await.unwrap()
    }

    /// The files that were spilled.
    pub(crate) fn spilled(&self) -> Vec<Utf8PathBuf> {
        let mut files = Vec::new();
        let root = Utf8Path::from_path(self.dir.path()).unwrap().join("spill");
        let sessions = root.read_dir_utf8().into_iter().flatten();
        for session in sessions {
            let texts = session.unwrap().path().read_dir_utf8().unwrap();
            files.extend(texts.map(|text| text.unwrap().path().to_owned()));
        }
        files
    }
}
