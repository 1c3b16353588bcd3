//! What a subscriber sees while calls run.

use serde::{Deserialize, Serialize};

use crate::ids::{CallId, SessionId, ToolName};
use crate::result::ToolResult;

/// Something that happens in a running session.
///
/// Subscribers never hold capture back: one that is too slow is told of a gap,
/// and continues by the offsets that the events carry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS, schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum LiveEvent {
    /// A call is about to run.
    CallStarted {
        /// The session that owns it.
        session_id: SessionId,
        /// The call.
        call_id: CallId,
        /// The tool.
        tool: ToolName,
    },
    /// Text was appended to a call's live display.
    Display {
        /// The call.
        call_id: CallId,
        /// How many bytes had been appended before this, kept or not.
        offset: u64,
        /// The text, already safe to print.
        text: String,
    },
    /// A call ended; its final display replaces the live one.
    CallFinished {
        /// All that is kept of it.
        result: Box<ToolResult>,
    },
    /// Events were left out because this subscriber was too slow.
    Gap {
        /// How many.
        missed: u64,
    },
}
