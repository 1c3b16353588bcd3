//! `overspill gc`: removing what nothing refers to.

use anyhow::Context;
use artifacts::{ArtifactStore, CollectOptions};
use serde_json::json;

use crate::cli::GcArgs;
use crate::exit;
use crate::home::Home;
use crate::terminal;

pub(crate) async fn run(args: GcArgs) -> anyhow::Result<u8> {
    let home = Home::open().await?;
    let grace = args.grace.unwrap_or(home.config.store.grace);
    let options = CollectOptions { grace, dry_run: args.dry_run };
    let report = home.store.collect(options).await.context("nothing was removed")?;
    if args.json {
        terminal::print_json(&json!({
            "dryRun": args.dry_run,
            "busy": report.busy,
            "live": report.live,
            "removed": report.removed,
            "removedBytes": report.removed_bytes,
            "young": report.young,
            "removedCaptures": report.removed_captures,
        }))?;
        return Ok(exit::OK);
    }
    if report.busy {
        terminal::print_text("another collection is running; nothing was done")?;
        return Ok(exit::OK);
    }
    let what = if args.dry_run { "would remove" } else { "removed" };
    terminal::print_text(&format!(
        "{what} {} artifacts ({} bytes); {} are in use, {} are younger than {}",
        report.removed,
        report.removed_bytes,
        report.live,
        report.young,
        humantime::format_duration(grace),
    ))?;
    Ok(exit::OK)
}
