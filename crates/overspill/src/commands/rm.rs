//! `overspill rm`: removing sessions and letting go of their outputs.

use anyhow::{Context, bail};
use artifacts::ArtifactStore;
use output_contract::SessionId;

use crate::cli::RmArgs;
use crate::exit;
use crate::home::Home;

pub(crate) async fn run(args: RmArgs) -> anyhow::Result<u8> {
    let home = Home::open().await?;
    let sessions = if args.session.as_str() == "all" {
        home.sessions.sessions()?.into_iter().map(|summary| summary.session).collect()
    } else {
        vec![args.session]
    };
    let mut busy = Vec::new();
    let mut removed = 0;
    for session in sessions {
        if is_running(&home, &session)? {
            busy.push(session);
            continue;
        }
        remove(&home, &session).await?;
        removed += 1;
    }
    if !busy.is_empty() {
        let names: Vec<&str> = busy.iter().map(SessionId::as_str).collect();
        bail!(
            "not removed, because a call is still running there: {} (removed {removed} others)",
            names.join(", ")
        );
    }
    let plural = if removed == 1 { "session" } else { "sessions" };
    super::print_text(&format!(
        "removed {removed} {plural}; `overspill gc` frees what nothing else refers to"
    ))?;
    Ok(exit::OK)
}

fn is_running(home: &Home, session: &SessionId) -> anyhow::Result<bool> {
    let live = home.store.captures().live()?;
    Ok(live.iter().any(|capture| capture.session_id == *session))
}

async fn remove(home: &Home, session: &SessionId) -> anyhow::Result<()> {
    // The log first: what it no longer names may go, never the reverse.
    let existed = home.sessions.remove(session)?;
    if !existed {
        bail!("there is no session {session}; `overspill ls` lists them");
    }
    home.store.release(session, None).await.context("could not let go of the session's outputs")?;
    Ok(())
}
