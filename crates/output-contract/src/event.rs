//! Saved events: one JSON object a line, without a version, read as well as
//! can be.
//!
//! Some events name a *position* in a log. Its reader gives one with each event:
//! for a log in a file, where the event begins, in bytes. Logs are only ever
//! appended to, so that a position keeps its meaning.
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
    /// The session continues another: its history begins with that of the
    /// other, as it was at a point.
    SessionForked {
        /// The other session.
        from: SessionId,
        /// The position in the other's log: what begins before it is inherited.
        at: u64,
        /// When.
        #[serde(default, deserialize_with = "lenient::field")]
        time: Timestamp,
    },
    /// The history is again what it was at an earlier point. Nothing that was
    /// saved goes away, and stored output can still be read.
    Reverted {
        /// The position in this log: what begins before it is the history.
        to: u64,
        /// When.
        #[serde(default, deserialize_with = "lenient::field")]
        time: Timestamp,
    },
    /// A summary stands for the history up to a point.
    Compacted {
        /// The summary.
        summary: String,
        /// The position in this log from which on the history stays as it is,
        /// after the summary.
        retained_from: u64,
        /// When.
        #[serde(default, deserialize_with = "lenient::field")]
        time: Timestamp,
    },
}

/// The kinds of saved events, as `type` has them.
pub const EVENT_KINDS: [&str; 7] = [
    "session_started",
    "call_started",
    "call_finished",
    "item",
    "session_forked",
    "reverted",
    "compacted",
];

impl SavedEvent {
    /// The call that this is about, where it is about one.
    pub fn call_id(&self) -> Option<&CallId> {
        match self {
            Self::CallStarted { call_id, .. } => Some(call_id),
            Self::CallFinished { result, .. } => Some(&result.call_id),
            Self::SessionStarted { .. }
            | Self::Item { .. }
            | Self::SessionForked { .. }
            | Self::Reverted { .. }
            | Self::Compacted { .. } => None,
        }
    }

    /// When it was saved.
    pub const fn saved_at(&self) -> Timestamp {
        match self {
            Self::SessionStarted { at, .. }
            | Self::CallStarted { at, .. }
            | Self::CallFinished { at, .. }
            | Self::Item { at, .. } => *at,
            Self::SessionForked { time, .. }
            | Self::Reverted { time, .. }
            | Self::Compacted { time, .. } => *time,
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
    if !EVENT_KINDS.contains(&kind.as_str()) {
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
    fn every_kind_is_known_by_its_name() {
        let from: SessionId = "a".parse().unwrap();
        let time = Timestamp(1);
        let summary = "so far".to_owned();
        for (event, json) in [
            (
                SavedEvent::SessionForked { from, at: 7, time },
                r#"{"type":"session_forked","from":"a","at":7,"time":1}"#,
            ),
            (SavedEvent::Reverted { to: 7, time }, r#"{"type":"reverted","to":7,"time":1}"#),
            (
                SavedEvent::Compacted { summary, retained_from: 7, time },
                r#"{"type":"compacted","summary":"so far","retainedFrom":7,"time":1}"#,
            ),
        ] {
            assert_eq!(String::from_utf8(encode_event(&event)).unwrap(), format!("{json}\n"));
            assert_eq!(decode_event(json.as_bytes()).unwrap(), event);
            assert_eq!(event.saved_at(), time);
        }
        let broken = decode_event(br#"{"type":"reverted","to":-1}"#).unwrap_err();
        assert!(matches!(broken, EventDiagnostic::Broken { .. }), "{broken}");
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
