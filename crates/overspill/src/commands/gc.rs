//! `overspill gc`: removing what nothing refers to.

use artifacts::{ArtifactStore, CollectError, CollectOptions};
use serde_json::json;

use crate::cli::GcArgs;
use crate::exit;
use crate::home::{Home, now};
use crate::terminal;

pub(crate) async fn run(args: GcArgs) -> anyhow::Result<u8> {
    let home = Home::open().await?;
    let grace = args.grace.unwrap_or(home.config.store.grace);
    let (limits, store) = ((&home.config.retention).into(), home.store.blocking());
    let retired = store.retire(&limits, now(), args.dry_run).map_err(explained)?;
    let options = CollectOptions { grace, dry_run: args.dry_run, force: args.force };
    let report = home.store.collect(options).await.map_err(explained)?;
    if args.json {
        terminal::print_json(&json!({
            "dryRun": args.dry_run,
            "busy": report.busy,
            "live": report.live,
            "removed": report.removed,
            "removedBytes": report.removed_bytes,
            "young": report.young,
            "released": retired.len(),
            "unexplained": report.unexplained,
            "removedCaptures": report.removed_captures,
        }))?;
        return Ok(exit::OK);
    }
    if report.busy {
        terminal::print_text("another collection is running; nothing was done")?;
        return Ok(exit::OK);
    }
    if !retired.is_empty() {
        let what = if args.dry_run { "would let" } else { "let" };
        terminal::print_text(&format!("{what} go of {} calls past [retention]", retired.len()))?;
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
    if report.unexplained > 0 {
        terminal::print_text(&format!(
            "{} of them were never let go: records of what is kept are missing",
            report.unexplained
        ))?;
    }
    Ok(exit::OK)
}

/// Why nothing was removed, and how to go on.
fn explained(error: CollectError) -> anyhow::Error {
    let how = match &error {
        CollectError::RootsLost { lost, .. } => {
            let first = lost.first().map(ToString::to_string).unwrap_or_default();
            let more = lost.len().saturating_sub(1);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            format!(
                "nothing was removed; restore {first}{more} from a backup, or let it all go with \
                 `overspill gc --force`"
            )
        }
        _ => "nothing was removed".to_owned(),
    };
    anyhow::Error::new(error).context(how)
}
