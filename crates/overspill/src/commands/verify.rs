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
    let good = report.corrupt.is_empty() && report.unreadable.is_empty();
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
    let unreadable = report.unreadable.iter().map(|error| format!("{error}: {}", error.detail()));
    json!({
        "artifacts": report.artifacts,
        "bytes": report.bytes,
        "repairedSidecars": report.repaired,
        "corrupt": corrupt.collect::<Vec<_>>(),
        "unreadable": unreadable.collect::<Vec<_>>(),
    })
}

const fn kind(found: &CorruptArtifact) -> &'static str {
    if found.is_manifest { "manifest" } else { "blob" }
}

fn as_text(report: &VerifyReport) -> String {
    let mut text = format!("checked {} artifacts, {} bytes", report.artifacts, report.bytes);
    text.push_str(&match (report.corrupt.len(), report.unreadable.len()) {
        (0, 0) => ": all are whole\n".to_owned(),
        (corrupt, 0) => format!(": {corrupt} corrupt\n"),
        (corrupt, unreadable) => format!(": {corrupt} corrupt, {unreadable} unreadable\n"),
    });
    if report.repaired > 0 {
        text.push_str(&format!("made {} indexes anew\n", report.repaired));
    }
    for found in &report.corrupt {
        let mut calls: Vec<String> = (found.calls.iter().take(MAX_CALLS))
            .map(|(session, call)| format!("{}/{call}", cell(session.as_str())))
            .collect();
        if found.calls.len() > MAX_CALLS {
            calls.push(format!("{} more", found.calls.len() - MAX_CALLS));
        }
        let by = if calls.is_empty() { "no call".to_owned() } else { calls.join(", ") };
        text.push_str(&format!(
            "corrupt {} {} ({} bytes), kept by {by}\n",
            kind(found),
            found.digest,
            found.bytes
        ));
        if let Some(path) = &found.quarantined {
            text.push_str(&format!("  put aside: {path}\n"));
        }
    }
    for error in &report.unreadable {
        text.push_str(&format!("unreadable: could not {error}: {}\n", error.detail()));
    }
    text
}
