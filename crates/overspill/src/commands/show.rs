//! `overspill show`: a session replayed from what was saved of it.

use anyhow::{bail, ensure};
use output_contract::SessionId;
use session_log::{CallState, ReplayedCall, replay};

use crate::cli::ShowArgs;
use crate::exit;
use crate::home::Home;
use crate::terminal;

pub(crate) async fn run(args: ShowArgs) -> anyhow::Result<u8> {
    let home = Home::open().await?;
    let (calls, one) = find(&home, &args.what)?;
    if args.json {
        let results: Vec<_> = calls.iter().filter_map(ReplayedCall::result).collect();
        match (one, results.as_slice()) {
            (true, [result]) => terminal::print_json(result)?,
            _ => terminal::print_json(&results)?,
        }
        return Ok(exit::OK);
    }
    for (index, call) in calls.iter().enumerate() {
        if !one {
            let gap = if index == 0 { "" } else { "\n" };
            terminal::print_text(&format!("{gap}== {}", super::ls::row(call)))?;
        }
        match &call.state {
            CallState::Finished(result) if args.display => terminal::print_text(&result.display)?,
            CallState::Finished(result) => terminal::print_text(&result.text())?,
            CallState::Running if one => bail!("call {} is still running", call.call_id),
            CallState::Running => {}
        }
    }
    Ok(exit::OK)
}

/// The calls of a session; `None` where there is no such session. What could
/// not be read is reported.
pub(crate) fn replay_session(
    home: &Home,
    session: &SessionId,
) -> anyhow::Result<Option<Vec<ReplayedCall>>> {
    if !home.sessions.sessions()?.iter().any(|summary| summary.session == *session) {
        return Ok(None);
    }
    let records = home.sessions.read(session)?;
    for skipped in &records.diagnostics {
        terminal::note(&format!("overspill: session {session}: skipped {skipped}"));
    }
    let events = records.events.into_iter().map(|(_, event)| event);
    Ok(Some(replay(events).calls))
}

/// The calls that `what` names, and whether it names one.
fn find(home: &Home, what: &str) -> anyhow::Result<(Vec<ReplayedCall>, bool)> {
    if let Ok(session) = SessionId::new(what)
        && let Some(calls) = replay_session(home, &session)?
    {
        return Ok((calls, false));
    }
    let Some((session, prefix)) = what.rsplit_once('/') else {
        bail!("there is no session {what}; `overspill ls` lists them");
    };
    let session = SessionId::new(session)?;
    let Some(calls) = replay_session(home, &session)? else {
        bail!("there is no session {session}; `overspill ls` lists them");
    };
    ensure!(!prefix.is_empty(), "give a call after the slash; `overspill ls {session}` lists them");
    let exact = calls.iter().position(|call| call.call_id.as_str() == prefix);
    let mut found: Vec<_> = match exact {
        Some(index) => calls.into_iter().skip(index).take(1).collect(),
        None => calls.into_iter().filter(|c| c.call_id.as_str().starts_with(prefix)).collect(),
    };
    ensure!(
        !found.is_empty(),
        "session {session} has no call {prefix}; `overspill ls {session}` lists them"
    );
    ensure!(found.len() == 1, "{} calls of session {session} begin with {prefix}", found.len());
    Ok((found.split_off(0), true))
}
