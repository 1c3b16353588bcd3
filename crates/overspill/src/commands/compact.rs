//! `overspill compact`: the history in a file, with a summary in the place of
//! what was said before.

mod own;
mod source;
mod summarizer;

use std::fmt::Debug;
use std::sync::Arc;

use anyhow::Context;
use camino::Utf8Path;
use compaction::formats::{Document, Format};
use compaction::{
    CompactOptions, Compactor, Item, PruneOptions, Pruned, StoreRetainer, Unchanged, active, prune,
};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tool_api::CancellationToken;

use self::own::OwnHistory;
use self::source::Source;
use self::summarizer::CommandSummarizer;
use crate::cli::{CompactArgs, HistoryFormat};
use crate::exit;
use crate::home::{Home, default_session, now};
use crate::terminal;

pub(crate) async fn run(args: CompactArgs) -> anyhow::Result<u8> {
    let bytes = fs_err::read(&args.file)?;
    match args.format {
        HistoryFormat::Anthropic => {
            compact(document(Format::Anthropic, bytes, &args.file)?, &args).await
        }
        HistoryFormat::Openai => compact(document(Format::OpenAi, bytes, &args.file)?, &args).await,
        HistoryFormat::Overspill => {
            let history = OwnHistory::parse(&bytes);
            compact(history.with_context(|| format!("could not read {}", args.file))?, &args).await
        }
    }
}

/// Cancelled by a signal that asks the program to end, so that the summariser
/// ends as well.
fn cancelled_by_signals() -> anyhow::Result<CancellationToken> {
    let cancel = CancellationToken::new();
    for kind in [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()] {
        let mut signals = signal(kind).context("could not listen for signals")?;
        let cancel = cancel.clone();
        tokio::spawn(async move {
            signals.recv().await;
            cancel.cancel();
        });
    }
    Ok(cancel)
}

fn document(format: Format, bytes: Vec<u8>, file: &Utf8Path) -> anyhow::Result<Document> {
    Document::parse(format, bytes).with_context(|| format!("could not read {file}"))
}

async fn compact<S: Source>(source: S, args: &CompactArgs) -> anyhow::Result<u8>
where
    S::Item: Item + Debug + 'static,
{
    for damage in source.damage() {
        terminal::note(&format!("overspill: {}: {damage}", args.file));
    }
    let home = Home::open().await?;
    let session = args.session.clone().unwrap_or_else(|| default_session(now()));
    let retainer = Arc::new(StoreRetainer::new(home.artifacts(), session));
    let (options, cancel) = (PruneOptions::default(), cancelled_by_signals()?);
    let source = Arc::new(source);

    let Some(command) = args.summarizer.clone().filter(|_| !args.prune_only) else {
        let Pruned { items, report } =
            prune(active(source.items()), &options, &*retainer, &cancel).await?;
        terminal::print_bytes(&source.with_items(&items))?;
        terminal::note(&json!({ "outcome": "pruned", "pruned": report }).to_string());
        return Ok(exit::OK);
    };
    let summarizer = Arc::new(CommandSummarizer::new(command, Arc::clone(&source)));
    let options = CompactOptions { keep_turns: args.keep, prune: options };
    let compactor = Compactor::new(summarizer, retainer, options);
    match compactor.compact(source.items(), &cancel).await {
        Ok(compacted) => {
            let new = source.compacted(&compacted.summary, compacted.retained_from)?;
            terminal::print_bytes(&new)?;
            let report = json!({
                "outcome": "compacted",
                "retainedFrom": compacted.retained_from,
                "before": compacted.report.before,
                "after": compacted.report.after,
                "pruned": compacted.report.pruned,
            });
            terminal::note(&report.to_string());
            Ok(exit::OK)
        }
        Err(too_long @ (Unchanged::ContextLength | Unchanged::DoesNotFit)) => {
            terminal::note(&format!("overspill: {too_long}"));
            Ok(exit::CONTEXT_LENGTH)
        }
        Err(unchanged) => Err(anyhow::Error::new(unchanged).context("the history stays as it is")),
    }
}
