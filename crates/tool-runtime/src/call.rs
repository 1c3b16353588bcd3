//! One call of a tool, and what can keep it from having a saved result.

use artifacts::JournalError;
use output_contract::{CallId, SessionId, ToolName, ToolResult};
use serde_json::Value;

/// A call as the model made it.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// The session that owns it.
    pub session_id: SessionId,
    /// Its id, unique within the session.
    pub call_id: CallId,
    /// The call that makes this one, where it is nested.
    pub parent_call_id: Option<CallId>,
    /// The tool.
    pub tool: ToolName,
    /// Its arguments.
    pub arguments: Value,
}

/// Why a call has no saved result. Everything a tool, an approver or a full
/// disk does is a result, not an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The journal did not take the result: here it is.
    #[error("could not save the result of the call")]
    NotSaved {
        /// The result, as it would have been saved.
        result: Box<ToolResult>,
        /// Why.
        source: JournalError,
    },
    /// The runtime itself failed: a bug, or the executor is shutting down.
    #[error("the runtime ended during the call; what was captured is kept for recovery")]
    Aborted,
}
