//! The calls of a log, without reading what they put out.

use std::collections::HashMap;
use std::io::{self, BufRead};
use std::ops::ControlFlow;

use output_contract::{CallId, EventDiagnostic, ResultOutput, SessionId, Status, ToolName};
use serde::Deserialize;

use crate::records::{Entry, scan};

/// That a log knows a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedCall {
    /// The call.
    pub call_id: CallId,
    /// The tool that was called.
    pub tool: ToolName,
    /// How it ended; `None` while no terminal record of it is there.
    pub status: Option<Status>,
}

/// The calls of a log, in the order in which it first mentions them.
pub(crate) fn logged_calls(input: impl BufRead) -> io::Result<Vec<LoggedCall>> {
    let mut calls: Vec<LoggedCall> = Vec::new();
    let mut known = HashMap::new();
    scan(input, mention, |entry| {
        if let Entry::Record { value: Some(call), .. } = entry {
            match known.get(&call.call_id) {
                // The first terminal record stands.
                Some(&index) => {
                    let before: &mut LoggedCall = &mut calls[index];
                    before.status = before.status.or(call.status);
                }
                None => {
                    known.insert(call.call_id.clone(), calls.len());
                    calls.push(call);
                }
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(calls)
}

/// Whether a log mentions a call of which `what` holds.
pub(crate) fn mentions(
    input: impl BufRead,
    what: impl Fn(&LoggedCall) -> bool,
) -> io::Result<bool> {
    let mut found = false;
    scan(input, mention, |entry| match entry {
        Entry::Record { value: Some(call), .. } if what(&call) => {
            found = true;
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    })?;
    Ok(found)
}

#[derive(Deserialize)]
struct Kind {
    #[serde(default, rename = "type")]
    kind: String,
}

/// The required fields of a started event, and nothing else of it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Started {
    #[serde(rename = "sessionId")]
    _session_id: SessionId,
    call_id: CallId,
    tool: ToolName,
}

/// The same of a finished event.
#[derive(Deserialize)]
struct Finished {
    result: FinishedResult,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FinishedResult {
    #[serde(rename = "sessionId")]
    _session_id: SessionId,
    call_id: CallId,
    tool: ToolName,
    status: Status,
    #[serde(rename = "output")]
    _output: ResultOutput,
}

/// The call that an event mentions. It reads what makes the event valid and
/// passes over the rest, so that it agrees with a full decoding.
fn mention(json: &[u8]) -> Result<Option<LoggedCall>, EventDiagnostic> {
    let not_json =
        |error: serde_json::Error| EventDiagnostic::NotJson { message: error.to_string() };
    let Kind { kind } = serde_json::from_slice(json).map_err(not_json)?;
    let broken = |error: serde_json::Error| EventDiagnostic::Broken {
        kind: kind.clone(),
        message: error.to_string(),
    };
    match kind.as_str() {
        "call_started" => {
            let Started { call_id, tool, .. } = serde_json::from_slice(json).map_err(broken)?;
            Ok(Some(LoggedCall { call_id, tool, status: None }))
        }
        "call_finished" => {
            let Finished { result } = serde_json::from_slice(json).map_err(broken)?;
            let FinishedResult { call_id, tool, status, .. } = result;
            Ok(Some(LoggedCall { call_id, tool, status: Some(status) }))
        }
        _ => Ok(None),
    }
}
