//! An agent's side: a runtime over a real store, and tools that do what a test
//! says.

use std::future::Future;
use std::sync::Arc;

use artifact_store::{AsyncStore, LocalStore, StoreOptions};
use artifacts::{ArtifactStore, Durability, Journal};
use camino::{Utf8Path, Utf8PathBuf};
use output_contract::{
    CallId, Fields, OutputDeclaration, SavedEvent, SessionId, Timestamp, ToolName, ToolResult,
};
use serde_json::{Value, json};
use session_log::{SessionLogs, replay};
use tempfile::TempDir;
use testkit::ScriptedTool;
use tool_api::{CallContext, CancellationToken, Completion, OutputHandling, ToolSpec};
use tool_runtime::{Runtime, RuntimeBuilder, ToolCall};

/// A home directory with a store and session logs.
pub(crate) struct Agent {
    _dir: TempDir,
    pub(crate) root: Utf8PathBuf,
    pub(crate) store: Arc<AsyncStore>,
    pub(crate) logs: Arc<SessionLogs>,
}

impl Agent {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap().canonicalize_utf8().unwrap();
        let options = StoreOptions { durability: Durability::Fast, ..StoreOptions::default() };
        let store = LocalStore::open(&root.join("store"), options).unwrap();
        let store = Arc::new(AsyncStore::new(store));
        let logs = SessionLogs::open(root.join("sessions"), Durability::Fast).unwrap();
        Self { _dir: dir, root, store, logs: Arc::new(logs) }
    }

    pub(crate) fn artifacts(&self) -> Arc<dyn ArtifactStore> {
        self.store.clone()
    }

    pub(crate) fn builder(&self) -> RuntimeBuilder {
        let journal: Arc<dyn Journal> = self.logs.clone();
        RuntimeBuilder::new(self.artifacts(), journal, || Timestamp(1_700_000_000_000))
    }

    /// What the session's log tells of a call.
    pub(crate) fn saved(&self, session: &str, call: &str) -> Option<ToolResult> {
        let replayed = replay(self.events(session));
        replayed.call(&call.parse().unwrap())?.result().cloned()
    }

    pub(crate) fn events(&self, session: &str) -> Vec<SavedEvent> {
        let records = self.logs.read(&session.parse().unwrap()).unwrap();
        assert!(records.diagnostics.is_empty(), "{:?}", records.diagnostics);
        records.events.into_iter().map(|(_, event)| event).collect()
    }
}

/// A call of `tool`, as a model makes it.
pub(crate) fn call_of(tool: &str, call: &str, arguments: Value) -> ToolCall {
    ToolCall {
        session_id: SessionId::new("s").unwrap(),
        call_id: CallId::new(call).unwrap(),
        parent_call_id: None,
        tool: ToolName::new(tool).unwrap(),
        arguments,
    }
}

/// Runs a call that nobody cancels.
pub(crate) async fn run(runtime: &Runtime, call: ToolCall) -> ToolResult {
    runtime.call(call, &CancellationToken::new()).await.unwrap()
}

/// A tool with a single output that runs a closure.
pub(crate) fn single<F, E>(name: &str, script: F) -> ScriptedTool
where
    F: Fn(CallContext) -> E + Send + Sync + 'static,
    E: Future<Output = Completion> + Send + 'static,
{
    scripted(name, OutputDeclaration::Single, OutputHandling::Captured, script)
}

/// A tool with named streams that runs a closure.
pub(crate) fn named<F, E>(name: &str, streams: &[&str], script: F) -> ScriptedTool
where
    F: Fn(CallContext) -> E + Send + Sync + 'static,
    E: Future<Output = Completion> + Send + 'static,
{
    let output = OutputDeclaration::named(streams.iter().copied()).unwrap();
    scripted(name, output, OutputHandling::Captured, script)
}

/// A tool that bounds its output itself and runs a closure.
pub(crate) fn paginating<F, E>(name: &str, script: F) -> ScriptedTool
where
    F: Fn(CallContext) -> E + Send + Sync + 'static,
    E: Future<Output = Completion> + Send + 'static,
{
    scripted(name, OutputDeclaration::Single, OutputHandling::SelfPaginating, script)
}

fn scripted<F, E>(
    name: &str,
    output: OutputDeclaration,
    handling: OutputHandling,
    script: F,
) -> ScriptedTool
where
    F: Fn(CallContext) -> E + Send + Sync + 'static,
    E: Future<Output = Completion> + Send + 'static,
{
    let spec = ToolSpec {
        name: name.parse().unwrap(),
        description: "does what a test says".to_owned(),
        input_schema: json!({ "type": "object" }),
        output_schema: None,
        annotations: Fields::new(),
        output,
        handling,
        reads_artifacts: false,
    };
    ScriptedTool::running(spec, move |cx, _arguments| script(cx)).titled("the title")
}
