//! Saved events: one JSON object a line, without a version, read as well as
//! can be.
//!
//! The format only ever gains fields and kinds. A line of an unknown kind or
//! with a broken required field is skipped with an [`EventDiagnostic`]; an
//! optional field that does not fit is its default.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::declaration::OutputDeclaration;
use crate::history::HistoryItem;
use crate::ids::{CallId, SessionId, ToolName};
use crate::lenient;
use crate::result::ToolResult;
use crate::timestamp::Timestamp;

/// Something that a session keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS, schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum SavedEvent {
    /// The first event of a session: its name, which a file name may not hold.
    SessionStarted {
        /// The session.
        session_id: SessionId,
        /// When.
        #[serde(default, deserialize_with = "lenient::field")]
        at: Timestamp,
    },
    /// A call was approved and is about to run.
    CallStarted {
        /// The session that owns it.
        session_id: SessionId,
        /// The call.
        call_id: CallId,
        /// The call that made this one, where it is nested.
        #[serde(
            default,
            deserialize_with = "lenient::field",
            skip_serializing_if = "Option::is_none"
        )]
        parent_call_id: Option<CallId>,
        /// The tool.
        tool: ToolName,
        /// Its arguments, exactly as given.
        #[serde(default, deserialize_with = "lenient::field")]
        arguments: Value,
        /// Its streams; `None` for a tool whose output is not captured.
        #[serde(
            default,
            deserialize_with = "lenient::field",
            skip_serializing_if = "Option::is_none"
        )]
        output: Option<OutputDeclaration>,
        /// When.
        #[serde(default, deserialize_with = "lenient::field")]
        at: Timestamp,
    },
    /// A call ended, in whatever way; from this alone its output and display
    /// are rebuilt.
    CallFinished {
        /// All that is kept of it.
        result: Box<ToolResult>,
        /// When.
        #[serde(default, deserialize_with = "lenient::field")]
        at: Timestamp,
    },
    /// Another item of the history.
    Item {
        /// The item.
        item: HistoryItem,
        /// When.
        #[serde(default, deserialize_with = "lenient::field")]
        at: Timestamp,
    },
}

impl SavedEvent {
    /// The call that this is about, where it is about one.
    pub fn call_id(&self) -> Option<&CallId> {
        match self {
            Self::CallStarted { call_id, .. } => Some(call_id),
            Self::CallFinished { result, .. } => Some(&result.call_id),
            Self::SessionStarted { .. } | Self::Item { .. } => None,
        }
    }
}

/// Why a saved line was skipped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EventDiagnostic {
    /// Not a JSON object: torn, or not ours.
    #[error("not a JSON object: {message}")]
    NotJson {
        /// What the parser said.
        message: String,
    },
    /// A kind that this version does not know.
    #[error("unknown event type {kind:?}")]
    UnknownType {
        /// The kind found; empty where there is none.
        kind: String,
    },
    /// A required field that is missing or broken.
    #[error("broken {kind} event: {message}")]
    Broken {
        /// The kind of event.
        kind: String,
        /// What the parser said.
        message: String,
    },
}

/// Reads one line.
///
/// # Errors
/// [`EventDiagnostic`] says why the line is to be skipped.
pub fn decode_event(line: &[u8]) -> Result<SavedEvent, EventDiagnostic> {
    let value = serde_json::from_slice(line)
        .map_err(|error| EventDiagnostic::NotJson { message: error.to_string() })?;
    decode_event_value(value)
}

/// Reads one event that is already parsed as JSON.
///
/// # Errors
/// [`EventDiagnostic`] says why it is to be skipped.
pub fn decode_event_value(value: Value) -> Result<SavedEvent, EventDiagnostic> {
    let Value::Object(fields) = &value else {
        return Err(EventDiagnostic::NotJson { message: "not an object".to_owned() });
    };
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    if !["session_started", "call_started", "call_finished", "item"].contains(&kind.as_str()) {
        return Err(EventDiagnostic::UnknownType { kind });
    }
    serde_json::from_value(value)
        .map_err(|error| EventDiagnostic::Broken { kind, message: error.to_string() })
}

/// Writes one event as one line, its `\n` included.
pub fn encode_event(event: &SavedEvent) -> Vec<u8> {
    let mut line = serde_json::to_vec(event).expect("events have string keys and finite numbers");
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OutputKind, Status};

    const MINIMAL: &str = r#"{"type":"call_finished","result":{"sessionId":"s","callId":"c",
        "tool":"read_tool_result","status":"completed","output":{"kind":"page"}}}"#;

    fn result(line: &str) -> ToolResult {
        match decode_event(line.as_bytes()).unwrap() {
            SavedEvent::CallFinished { result, .. } => *result,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn optional_fields_default_and_unknown_ones_are_ignored() {
        let minimal = result(MINIMAL);
        assert_eq!(minimal.status, Status::Completed);
        assert_eq!(minimal.output.kind, OutputKind::Page);
        let odd = MINIMAL.replace(
            r#""tool""#,
            r#""title":7,"exit":"?","content":[{"type":"hologram"},{"type":"text","text":"x"}],
               "durationMs":-1,"emitted":{},"new":[1],"tool""#,
        );
        let odd = result(&odd);
        assert_eq!(odd.text(), "x");
        assert_eq!(ToolResult { content: vec![], ..odd }, minimal);
    }

    #[test]
    fn lines_that_cannot_be_read_say_why() {
        let decode = |line: &str| decode_event(line.as_bytes()).unwrap_err();
        assert!(matches!(decode("{\"type\":"), EventDiagnostic::NotJson { .. }));
        assert!(matches!(decode("[1]"), EventDiagnostic::NotJson { .. }));
        assert!(matches!(decode("{}"), EventDiagnostic::UnknownType { .. }));
        assert_eq!(
            decode(r#"{"type":"elided"}"#),
            EventDiagnostic::UnknownType { kind: "elided".into() }
        );
        for (field, broken) in [
            (r#""callId":"c""#, r#""callId":"""#),
            (r#""status":"completed""#, r#""status":"odd""#),
            (r#""output":{"kind":"page"}"#, r#""output":{}"#),
        ] {
            let line = MINIMAL.replace(field, broken);
            assert!(matches!(decode(&line), EventDiagnostic::Broken { .. }), "{line}");
        }
    }

    #[test]
    fn an_event_is_one_line_and_reads_back() {
        let mut finished = result(MINIMAL);
        finished.content.push(crate::Content::text("a\nb\u{2028}c"));
        let event = SavedEvent::CallFinished {
            result: Box::new(finished),
            at: Timestamp(1_700_000_000_000),
        };
        let line = encode_event(&event);
        assert_eq!(line.iter().filter(|&&b| b == b'\n').count(), 1);
        assert_eq!(decode_event(&line).unwrap(), event);
    }
}
