//! `overspill show`: a session replayed from what was saved of it.
//!
//! A fork shows first what it inherits. What was reverted is shown and said to
//! be so.

use anyhow::{bail, ensure};
use output_contract::SessionId;
use session_log::{CallState, ReplayedCall, SessionHistory};

use crate::cli::ShowArgs;
use crate::exit;
use crate::home::Home;
use crate::terminal;

pub(crate) async fn run(args: ShowArgs) -> anyhow::Result<u8> {
    let home = Home::open().await?;
    let (calls, one) = find(&home, &args.what)?;
    if args.json {
        let results: Vec<_> = calls.iter().filter_map(|shown| shown.call.result()).collect();
        match (one, results.as_slice()) {
            (true, [result]) => terminal::print_json(result)?,
            _ => terminal::print_json(&results)?,
        }
        return Ok(exit::OK);
    }
    for (index, Shown { call, note }) in calls.iter().enumerate() {
        if !one {
            let gap = if index == 0 { "" } else { "\n" };
            terminal::print_text(&format!("{gap}== {}{note}", super::ls::row(call)))?;
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

/// A call to show, and what to say of it.
struct Shown {
    call: ReplayedCall,
    note: String,
}

/// The session with what it inherits; `None` where there is no such session.
/// What could not be read is reported.
pub(crate) fn replay_session(
    home: &Home,
    session: &SessionId,
) -> anyhow::Result<Option<SessionHistory>> {
    if !home.sessions.sessions()?.iter().any(|summary| summary.session == *session) {
        return Ok(None);
    }
    let history = home.sessions.history(session)?;
    for (session, skipped) in &history.skipped {
        terminal::note(&format!("overspill: session {session}: skipped {skipped}"));
    }
    if let Some(missing) = &history.missing {
        terminal::note(&format!(
            "overspill: session {session} continues session {missing}, which is gone"
        ));
    }
    Ok(Some(history))
}

/// The calls of a session, those it inherits first.
fn shown(history: SessionHistory) -> Vec<Shown> {
    let SessionHistory { mut lineage, .. } = history;
    let Some((_, own)) = lineage.pop() else { return Vec::new() };
    let inherited = lineage.iter().flat_map(|(session, replay)| {
        let note = format!("  (session {})", terminal::cell(session.as_str()));
        replay.active_calls().map(move |call| Shown { call: call.clone(), note: note.clone() })
    });
    let mut shown: Vec<Shown> = inherited.collect();
    let reverted: Vec<_> = own.reverted_calls().map(|call| call.call_id.clone()).collect();
    shown.extend(own.calls.into_iter().map(|call| {
        let note = if reverted.contains(&call.call_id) { "  (reverted)" } else { "" };
        Shown { call, note: note.to_owned() }
    }));
    shown
}

/// The calls that `what` names, and whether it names one.
fn find(home: &Home, what: &str) -> anyhow::Result<(Vec<Shown>, bool)> {
    if let Ok(session) = SessionId::new(what)
        && let Some(history) = replay_session(home, &session)?
    {
        return Ok((shown(history), false));
    }
    let Some((session, prefix)) = what.rsplit_once('/') else {
        bail!("there is no session {what}; `overspill ls` lists them");
    };
    let session = SessionId::new(session)?;
    let Some(history) = replay_session(home, &session)? else {
        bail!("there is no session {session}; `overspill ls` lists them");
    };
    let calls = shown(history);
    ensure!(!prefix.is_empty(), "give a call after the slash; `overspill ls {session}` lists them");
    // Of an id that comes again, the session's own call.
    let exact = calls.iter().rposition(|shown| shown.call.call_id.as_str() == prefix);
    let mut found: Vec<_> = match exact {
        Some(index) => calls.into_iter().skip(index).take(1).collect(),
        None => calls
            .into_iter()
            .filter(|shown| shown.call.call_id.as_str().starts_with(prefix))
            .collect(),
    };
    ensure!(
        !found.is_empty(),
        "session {session} has no call {prefix}; `overspill ls {session}` lists them"
    );
    ensure!(found.len() == 1, "{} calls of session {session} begin with {prefix}", found.len());
    Ok((found.split_off(0), true))
}
