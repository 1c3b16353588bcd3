//! `overspill stat`: what is kept, in numbers.

use anyhow::Context;
use serde_json::json;

use crate::cli::StatArgs;
use crate::exit;
use crate::home::Home;
use crate::terminal::{self, cell};

pub(crate) async fn run(args: StatArgs) -> anyhow::Result<u8> {
    let home = Home::open().await?;
    let stat = home.store.blocking().stat().context("could not look at the store")?;
    if args.json {
        let sessions = stat.owners.iter().map(
            |owner| json!({ "sessionId": owner.owner, "calls": owner.calls, "bytes": owner.bytes }),
        );
        let unreadable =
            stat.unreadable.iter().map(|(path, why)| json!({ "path": path, "why": why }));
        terminal::print_json(&json!({
            "artifacts": stat.artifacts,
            "bytes": stat.bytes,
            "retained": stat.retained,
            "retainedBytes": stat.retained_bytes,
            "savedBytes": stat.saved_bytes(),
            "liveCaptures": stat.live_captures,
            "quarantined": stat.quarantined,
            "quarantinedBytes": stat.quarantined_bytes,
            "sessions": sessions.collect::<Vec<_>>(),
            "unreadable": unreadable.collect::<Vec<_>>(),
        }))?;
        return Ok(exit::OK);
    }
    let mut text = format!(
        "{} artifacts, {} bytes; {} of them, {} bytes, are kept by calls\n",
        stat.artifacts, stat.bytes, stat.retained, stat.retained_bytes
    );
    let saved = stat.saved_bytes();
    if saved > 0 {
        text.push_str(&format!("{saved} bytes saved, because equal outputs are stored once\n"));
    }
    if stat.live_captures > 0 {
        text.push_str(&format!("{} calls are running\n", stat.live_captures));
    }
    if stat.quarantined > 0 {
        text.push_str(&format!(
            "{} damaged artifacts, {} bytes, are in quarantine\n",
            stat.quarantined, stat.quarantined_bytes
        ));
    }
    for owner in &stat.owners {
        let plural = if owner.calls == 1 { "call" } else { "calls" };
        let name = cell(owner.owner.as_str());
        text.push_str(&format!("{name}  {} {plural}, {} bytes\n", owner.calls, owner.bytes));
    }
    terminal::print_text(&text)?;
    for (path, why) in &stat.unreadable {
        terminal::note(&format!("overspill: not counted, because {path} is damaged: {why}"));
    }
    Ok(exit::OK)
}
