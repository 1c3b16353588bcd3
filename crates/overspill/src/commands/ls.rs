//! `overspill ls`: sessions, and the calls of one.

use anyhow::bail;
use output_contract::{Exit, SessionId, Status, ToolResult};
use serde_json::{Value, json};
use session_log::{CallState, ReplayedCall};

use crate::cli::LsArgs;
use crate::exit;
use crate::home::{Home, rfc3339};
use crate::terminal::{self, cell};

pub(crate) async fn run(args: LsArgs) -> anyhow::Result<u8> {
    let home = Home::open().await?;
    match args.session {
        Some(session) => list_calls(&home, &session, args.json)?,
        None => list_sessions(&home, args.json)?,
    }
    Ok(exit::OK)
}

fn list_sessions(home: &Home, as_json: bool) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    for summary in home.sessions.sessions()? {
        // Removed since it was listed: no row.
        let Some(calls) = own_calls(home, &summary.session)? else { continue };
        let bytes: u64 = calls.iter().map(stored_bytes).sum();
        rows.push((summary.session, calls, bytes));
    }
    if rows.is_empty() && !as_json {
        terminal::note("nothing is kept yet; `overspill run -- COMMAND` begins");
    }
    if as_json {
        let rows: Vec<Value> = rows
            .iter()
            .map(|(session, calls, bytes)| {
                json!({ "sessionId": session, "calls": calls.len(), "storedBytes": bytes })
            })
            .collect();
        return terminal::print_json(&rows);
    }
    let text: String = rows
        .iter()
        .map(|(session, calls, bytes)| {
            let plural = if calls.len() == 1 { "call" } else { "calls" };
            format!("{}  {} {plural}, {bytes} bytes\n", cell(session.as_str()), calls.len())
        })
        .collect();
    terminal::print_text(&text)?;
    Ok(())
}

fn list_calls(home: &Home, session: &SessionId, as_json: bool) -> anyhow::Result<()> {
    let Some(calls) = own_calls(home, session)? else {
        bail!("there is no session {session}; `overspill ls` lists them");
    };
    if as_json {
        let rows: Vec<Value> = calls.iter().map(row_json).collect();
        return terminal::print_json(&rows);
    }
    let text: String = calls.iter().map(|call| format!("{}\n", row(call))).collect();
    terminal::print_text(&text)?;
    Ok(())
}

/// The calls that a session itself made, reverted or not.
fn own_calls(home: &Home, session: &SessionId) -> anyhow::Result<Option<Vec<ReplayedCall>>> {
    let replayed = super::show::replay_session(home, session)?;
    Ok(replayed.map(|mut history| history.lineage.pop().map_or(Vec::new(), |(_, own)| own.calls)))
}

fn stored_bytes(call: &ReplayedCall) -> u64 {
    call.result().map_or(0, |result| result.output.streams.iter().map(|s| s.bytes).sum())
}

fn row_json(call: &ReplayedCall) -> Value {
    let result = call.result();
    json!({
        "callId": call.call_id,
        "tool": call.tool,
        "status": result.map(|result| result.status),
        "exit": result.and_then(|result| result.exit),
        "title": result.map(|result| &result.title),
        "storedBytes": stored_bytes(call),
        "startedAt": result.map_or(call.started_at, |result| result.started_at),
    })
}

/// How a call ended, in a word or two.
fn ending(result: &ToolResult) -> String {
    match (result.status, result.exit) {
        (Status::Failed, Some(Exit::Code(code))) if code != 0 => format!("exit {code}"),
        (Status::Failed, Some(Exit::Signal(signal))) => format!("signal {signal}"),
        (status, _) => status.to_string(),
    }
}

/// One call as one line.
pub(crate) fn row(call: &ReplayedCall) -> String {
    let id = &call.call_id;
    match &call.state {
        CallState::Running => {
            format!("{id}  {:<11}  {}  {}", "running", rfc3339(call.started_at), call.tool)
        }
        CallState::Finished(result) => format!(
            "{id}  {:<11}  {}  {} bytes  {}",
            ending(result),
            rfc3339(result.started_at),
            stored_bytes(call),
            cell(&result.title),
        ),
    }
}
