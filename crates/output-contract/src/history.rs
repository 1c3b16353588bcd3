//! The active history of a conversation, as far as tool output is concerned.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::content::Content;
use crate::ids::{CallId, ToolName};
use crate::result::ToolResult;

/// One item of a history. A call and its result are paired by call id, not by
/// position.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS, schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum HistoryItem {
    /// Something said.
    Message {
        /// Who said it.
        role: MessageRole,
        /// What was said.
        content: Vec<Content>,
    },
    /// A call that the model made.
    ToolCall {
        /// The call.
        call_id: CallId,
        /// The tool that is called.
        tool: ToolName,
        /// The arguments, exactly as the model gave them.
        arguments: Value,
    },
    /// What came back.
    ToolResult(Box<ToolResult>),
    /// A summary that stands for everything before it.
    Summary {
        /// The summary.
        text: String,
    },
}

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS, schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    /// Instructions to the model.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
}
