//! `overspill verify`: whether everything that is kept is whole.

use std::num::NonZero;
use std::thread::available_parallelism;

use anyhow::Context;
use artifact_store::{CorruptArtifact, VerifyReport};
use indicatif::{ProgressBar, ProgressStyle};
use output_contract::{CallId, SessionId};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use crate::cli::VerifyArgs;
use crate::exit;
use crate::home::Home;
use crate::terminal::{self, cell};

/// Calls that are named of one damaged artifact.
const MAX_CALLS: usize = 3;

pub(crate) async fn run(args: VerifyArgs) -> anyhow::Result<u8> {
    let home = Home::open().await?;
    let store = home.store.blocking().clone();
    let threads = available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    // Drawn on standard error, and only where that is a terminal.
    let bar = ProgressBar::new(0);
    let style = "{elapsed} {wide_bar} {binary_bytes} of {binary_total_bytes}";
    bar.set_style(ProgressStyle::with_template(style).expect("the template is valid"));
    let shown = bar.clone();
    let verified = spawn_blocking(move || {
        store.verify(threads, &|progress| {
            shown.set_length(progress.total);
            shown.inc(progress.read);
        })
    });
    let verified = verified.await;
    bar.finish_and_clear();
    let report = verified.context("verifying was interrupted")?.context("could not verify")?;
    let damage = [report.corrupt.len(), report.missing.len(), report.unreadable.len()];
    let good = damage.iter().all(|count| *count == 0);
    if args.json {
        terminal::print_json(&as_json(&report))?;
    } else {
        terminal::print_text(&as_text(&report))?;
    }
    Ok(if good { exit::OK } else { exit::FAILED })
}

fn as_json(report: &VerifyReport) -> Value {
    let call =
        |(session, call): &(SessionId, CallId)| json!({ "sessionId": session, "callId": call });
    let corrupt = report.corrupt.iter().map(|found| {
        json!({
            "sha256": found.digest,
            "kind": kind(found),
            "bytes": found.bytes,
            "quarantined": found.quarantined,
            "calls": found.calls.iter().map(call).collect::<Vec<_>>(),
        })
    });
    let missing = report.missing.iter().map(|found| {
        json!({
            "sha256": found.digest,
            "calls": found.calls.iter().map(call).collect::<Vec<_>>(),
        })
    });
    let unreadable = report.unreadable.iter().map(|error| format!("{error}: {}", error.detail()));
    json!({
        "artifacts": report.artifacts,
        "bytes": report.bytes,
        "repairedSidecars": report.repaired,
        "corrupt": corrupt.collect::<Vec<_>>(),
        "missing": missing.collect::<Vec<_>>(),
        "unreadable": unreadable.collect::<Vec<_>>(),
    })
}

const fn kind(found: &CorruptArtifact) -> &'static str {
    if found.is_manifest { "manifest" } else { "blob" }
}

fn as_text(report: &VerifyReport) -> String {
    let mut text = format!("checked {} artifacts, {} bytes", report.artifacts, report.bytes);
    let damage = [
        (report.corrupt.len(), "corrupt"),
        (report.missing.len(), "missing"),
        (report.unreadable.len(), "unreadable"),
    ];
    let damage = damage.iter().filter(|(count, _)| *count > 0);
    let damage: Vec<String> = damage.map(|(count, what)| format!("{count} {what}")).collect();
    text.push_str(": ");
    text.push_str(&if damage.is_empty() { "all are whole".to_owned() } else { damage.join(", ") });
    text.push('\n');
    if report.repaired > 0 {
        text.push_str(&format!("made {} indexes anew\n", report.repaired));
    }
    for found in &report.corrupt {
        text.push_str(&format!(
            "corrupt {} {} ({} bytes), kept by {}\n",
            kind(found),
            found.digest,
            found.bytes,
            kept_by(&found.calls)
        ));
        if let Some(path) = &found.quarantined {
            text.push_str(&format!("  put aside: {path}\n"));
        }
    }
    for found in &report.missing {
        text.push_str(&format!("missing {}, kept by {}\n", found.digest, kept_by(&found.calls)));
    }
    for error in &report.unreadable {
        text.push_str(&format!("unreadable: could not {error}: {}\n", error.detail()));
    }
    text
}

fn kept_by(calls: &[(SessionId, CallId)]) -> String {
    let mut named: Vec<String> = (calls.iter().take(MAX_CALLS))
        .map(|(session, call)| format!("{}/{call}", cell(session.as_str())))
        .collect();
    if calls.len() > MAX_CALLS {
        named.push(format!("{} more", calls.len() - MAX_CALLS));
    }
    if named.is_empty() { "no call".to_owned() } else { named.join(", ") }
}
