//! `overspill rm`: removing sessions and letting go of their outputs.

use std::collections::BTreeSet;

use anyhow::{Context, bail};
use artifacts::ArtifactStore;
use output_contract::SessionId;

use crate::cli::{EVERY_SESSION, RmArgs};
use crate::exit;
use crate::home::Home;
use crate::terminal;

pub(crate) async fn run(args: RmArgs) -> anyhow::Result<u8> {
    let home = Home::open().await?;
    let known = sessions(&home)?;
    let every = args.session.as_str() == EVERY_SESSION;
    let sessions = if every {
        known
    } else if known.contains(&args.session) {
        BTreeSet::from([args.session])
    } else {
        bail!("there is no session {}; `overspill ls` lists them", args.session);
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
    if every {
        home.sessions.remove_nameless()?;
    }
    if !busy.is_empty() {
        let names: Vec<&str> = busy.iter().map(SessionId::as_str).collect();
        bail!(
            "not removed, because a call is still running there: {} (removed {removed} others)",
            names.join(", ")
        );
    }
    let plural = if removed == 1 { "session" } else { "sessions" };
    terminal::print_text(&format!(
        "removed {removed} {plural}; `overspill gc` frees what nothing else refers to"
    ))?;
    Ok(exit::OK)
}

fn is_running(home: &Home, session: &SessionId) -> anyhow::Result<bool> {
    let live = home.store.captures().live()?;
    Ok(live.iter().any(|capture| capture.session_id == *session))
}

/// Every session that has a log or keeps outputs: a removal that was cut short
/// leaves one without the other.
fn sessions(home: &Home) -> anyhow::Result<BTreeSet<SessionId>> {
    let logs = home.sessions.sessions()?.into_iter().map(|summary| summary.session);
    let owners = home.store.blocking().owners()?;
    Ok(logs.chain(owners).collect())
}

async fn remove(home: &Home, session: &SessionId) -> anyhow::Result<()> {
    let released = home.store.release(session, None).await;
    released.context("could not let go of the session's outputs")?;
    home.sessions.remove(session)?;
    Ok(())
}
