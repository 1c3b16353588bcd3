//! An agent's side: a runtime over a real store, and tools that do what a test
//! says.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use artifact_store::{AsyncStore, LocalStore, StoreOptions};
use artifacts::{ArtifactStore, Durability, Journal};
use async_trait::async_trait;
use camino::{Utf8Path, Utf8PathBuf};
use output_contract::{
    CallId, Fields, OutputDeclaration, SavedEvent, SessionId, Timestamp, ToolName, ToolResult,
};
use serde_json::{Value, json};
use session_log::{SessionLogs, replay};
use tempfile::TempDir;
use tool_api::{
    CallContext, CancellationToken, Completion, OutputHandling, PrepareError, PreparedCall,
    Resource, Tool, ToolSpec,
};
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

type Execution = Pin<Box<dyn Future<Output = Completion> + Send>>;
type Script = Arc<dyn Fn(CallContext) -> Execution + Send + Sync>;

/// A tool that runs a closure.
#[derive(Clone)]
pub(crate) struct Scripted {
    spec: Arc<ToolSpec>,
    script: Script,
}

impl Scripted {
    pub(crate) fn new<F, E>(name: &str, output: OutputDeclaration, script: F) -> Self
    where
        F: Fn(CallContext) -> E + Send + Sync + 'static,
        E: Future<Output = Completion> + Send + 'static,
    {
        Self {
            spec: Arc::new(ToolSpec {
                name: name.parse().unwrap(),
                description: "does what a test says".to_owned(),
                input_schema: json!({ "type": "object" }),
                output_schema: None,
                annotations: Fields::new(),
                output,
                handling: OutputHandling::Captured,
                reads_artifacts: false,
            }),
            script: Arc::new(move |cx| Box::pin(script(cx))),
        }
    }

    pub(crate) fn single<F, E>(name: &str, script: F) -> Self
    where
        F: Fn(CallContext) -> E + Send + Sync + 'static,
        E: Future<Output = Completion> + Send + 'static,
    {
        Self::new(name, OutputDeclaration::Single, script)
    }

    pub(crate) fn self_paginating(mut self) -> Self {
        Arc::make_mut(&mut self.spec).handling = OutputHandling::SelfPaginating;
        self
    }
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scripted").field("name", &self.spec.name).finish_non_exhaustive()
    }
}

#[async_trait]
impl Tool for Scripted {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn prepare(&self, arguments: Value) -> Result<Box<dyn PreparedCall>, PrepareError> {
        if arguments.get("wrong").is_some() {
            return Err(PrepareError::arguments("there is no argument `wrong`"));
        }
        Ok(Box::new(ScriptedCall(self.clone())))
    }
}

#[derive(Debug)]
struct ScriptedCall(Scripted);

#[async_trait]
impl PreparedCall for ScriptedCall {
    fn title(&self) -> String {
        "the title".to_owned()
    }

    fn resources(&self) -> Vec<Resource> {
        vec![Resource::Command { line: "scripted".to_owned() }]
    }

    async fn execute(self: Box<Self>, cx: CallContext) -> Completion {
        (self.0.script)(cx).await
    }
}
