//! Events, and logs in directories that go away.

use std::ops::Deref;

use artifacts::Durability;
use camino::Utf8PathBuf;
use output_contract::{
    CallId, Content, OutputKind, ResultOutput, SavedEvent, SessionId, Status, Timestamp, ToolResult,
};
use serde_json::Value;
use session_log::SessionLogs;
use tempfile::TempDir;

/// Logs in a directory of their own.
pub(crate) struct TempLogs {
    logs: SessionLogs,
    home: TempDir,
}

impl TempLogs {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let logs = SessionLogs::open(path(&home).join("sessions"), Durability::Fast).unwrap();
        Self { logs, home }
    }

    /// The directory above that of the logs.
    pub(crate) fn home(&self) -> Utf8PathBuf {
        path(&self.home)
    }
}

impl Deref for TempLogs {
    type Target = SessionLogs;

    fn deref(&self) -> &SessionLogs {
        &self.logs
    }
}

pub(crate) fn path(dir: &TempDir) -> Utf8PathBuf {
    Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap()
}

pub(crate) fn session(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

pub(crate) fn call(name: &str) -> CallId {
    CallId::new(name).unwrap()
}

pub(crate) fn session_started(name: &str) -> SavedEvent {
    SavedEvent::SessionStarted { session_id: session(name), at: Timestamp(1) }
}

pub(crate) fn started(name: &str, call_id: &str, arguments: Value) -> SavedEvent {
    SavedEvent::CallStarted {
        session_id: session(name),
        call_id: call(call_id),
        parent_call_id: None,
        tool: "bash".parse().unwrap(),
        arguments,
        output: None,
        at: Timestamp(1),
    }
}

pub(crate) fn finished(name: &str, call_id: &str, text: impl Into<String>) -> SavedEvent {
    SavedEvent::CallFinished { result: Box::new(result(name, call_id, text)), at: Timestamp(2) }
}

pub(crate) fn result(name: &str, call_id: &str, text: impl Into<String>) -> ToolResult {
    ToolResult {
        session_id: session(name),
        call_id: call(call_id),
        parent_call_id: None,
        tool: "bash".parse().unwrap(),
        status: Status::Completed,
        exit: None,
        timeout_ms: None,
        incomplete: None,
        output: ResultOutput { kind: OutputKind::Page, manifest: None, streams: Vec::new() },
        content: vec![Content::text(text)],
        structured: None,
        display: String::new(),
        title: String::new(),
        started_at: Timestamp(1),
        duration_ms: 1,
        metadata: [].into(),
        emitted: Vec::new(),
    }
}
