//! One compaction: the whole active history first, one pruned retry.

use std::error::Error;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::item::{Item, ItemView};
use crate::pairing::Pairs;
use crate::prune::{PruneError, PruneOptions, Pruned, prune};
use crate::report::{Report, Size};
use crate::retainer::{RetainError, Retainer};
use crate::suffix::{active_start, suffix_start};
use crate::summarizer::{SummarizeError, Summarizer};

/// How a history is compacted.
#[derive(Debug, Clone, Default)]
pub struct CompactOptions {
    /// How many of the last turns are kept as they are after the summary. A
    /// turn begins with what the user says.
    pub keep_turns: usize,
    /// How the private copy is pruned, where the first trial is too long.
    pub prune: PruneOptions,
}

/// Compacts histories.
#[derive(Debug, Clone)]
pub struct Compactor<I> {
    summarizer: Arc<dyn Summarizer<I>>,
    retainer: Arc<dyn Retainer>,
    options: CompactOptions,
}

/// A history that was compacted: the summary, then the items from
/// `retained_from` on, as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compacted {
    /// What stands for the items before the suffix.
    pub summary: String,
    /// Where the kept suffix begins in the history that was given; its length
    /// where nothing is kept.
    pub retained_from: usize,
    /// What was done.
    pub report: Report,
}

/// Why a history stays as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unchanged {
    /// There is nothing before the suffix that is kept, or only a summary and
    /// instructions.
    #[error("nothing to compact: all of the history is kept")]
    NothingToCompact,
    /// The pruned copy too exceeds the context of the summariser's model.
    #[error("even the pruned history exceeds the context of the model that is to summarise it")]
    ContextLength,
    /// The pruned copy too does not fit into a request.
    #[error("even the pruned history does not fit into a request for its summary")]
    DoesNotFit,
    /// Pruning, or the summary, made nothing smaller.
    #[error("no progress: {} bytes before, {} bytes after", before.bytes, after.bytes)]
    NoProgress {
        /// What was to be made smaller.
        before: Size,
        /// What it was made.
        after: Size,
    },
    /// The summary is empty or white space.
    #[error("the summary is empty")]
    EmptySummary,
    /// The summariser gave something else than a text.
    #[error("the summary is no text")]
    NotText,
    /// The summariser failed in another way.
    #[error("the summariser failed")]
    Summarizer(#[source] Box<dyn Error + Send + Sync>),
    /// An output that the private copy refers to could not be kept.
    #[error("could not keep an output that the history alone has")]
    Retain(#[source] RetainError),
    /// The caller cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl<I: Item> Compactor<I> {
    /// Summaries come from `summarizer`; outputs that only the history has are
    /// kept by `retainer` before the private copy refers to them.
    pub fn new(
        summarizer: Arc<dyn Summarizer<I>>,
        retainer: Arc<dyn Retainer>,
        options: CompactOptions,
    ) -> Self {
        Self { summarizer, retainer, options }
    }

    /// Compacts `history`, which is not changed whatever happens.
    ///
    /// The active history, from its last summary on, is summarised as a whole,
    /// the suffix included that is kept afterwards. If that is too long for the
    /// summariser, and for no other reason, a private pruned copy is tried,
    /// once. Cancelling works at every await, and so does dropping the future.
    ///
    /// # Errors
    /// [`Unchanged`] says why the history stays as it is.
    pub async fn compact(
        &self,
        history: &[I],
        cancel: &CancellationToken,
    ) -> Result<Compacted, Unchanged> {
        let start = active_start(history);
        let active = &history[start..];
        let kept = suffix_start(active, &Pairs::of(active), self.options.keep_turns);
        if active[..kept].iter().all(|item| is_summary(item) || is_instructions(item)) {
            return Err(Unchanged::NothingToCompact);
        }

        let (summary, pruned) = match self.ask(active, cancel).await? {
            Answer::Text(summary) => (summary, None),
            Answer::TooLong(_) => {
                let Pruned { items, report } = self.pruned(active, cancel).await?;
                if !report.made_progress() {
                    let (before, after) = (report.before, report.after);
                    return Err(Unchanged::NoProgress { before, after });
                }
                match self.ask(&items, cancel).await? {
                    Answer::Text(summary) => (summary, Some(report)),
                    Answer::TooLong(TooLong::Context) => return Err(Unchanged::ContextLength),
                    Answer::TooLong(TooLong::Local) => return Err(Unchanged::DoesNotFit),
                }
            }
        };

        let before: Size = active.iter().map(Item::bytes).sum();
        let instructions = active[..kept].iter().filter(|item| is_instructions(*item));
        let stays = instructions.chain(&active[kept..]).map(Item::bytes);
        let after: Size = stays.chain([summary.len()]).sum();
        if after.bytes >= before.bytes {
            return Err(Unchanged::NoProgress { before, after });
        }
        let report = Report { before, after, pruned };
        Ok(Compacted { summary, retained_from: start + kept, report })
    }

    async fn ask(&self, items: &[I], cancel: &CancellationToken) -> Result<Answer, Unchanged> {
        let asked = self.summarizer.summarize(items);
        match cancel.run_until_cancelled(asked).await.ok_or(Unchanged::Cancelled)? {
            Ok(summary) if summary.trim().is_empty() => Err(Unchanged::EmptySummary),
            Ok(summary) => Ok(Answer::Text(summary)),
            Err(SummarizeError::ContextLength) => Ok(Answer::TooLong(TooLong::Context)),
            Err(SummarizeError::DoesNotFit) => Ok(Answer::TooLong(TooLong::Local)),
            Err(SummarizeError::NotText) => Err(Unchanged::NotText),
            Err(SummarizeError::Other(source)) => Err(Unchanged::Summarizer(source)),
        }
    }

    async fn pruned(
        &self,
        active: &[I],
        cancel: &CancellationToken,
    ) -> Result<Pruned<I>, Unchanged> {
        let pruned = prune(active, &self.options.prune, &*self.retainer, cancel).await;
        pruned.map_err(|error| match error {
            PruneError::Cancelled => Unchanged::Cancelled,
            PruneError::Retain(source) => Unchanged::Retain(source),
        })
    }
}

fn is_summary<I: Item>(item: &I) -> bool {
    matches!(item.view(), ItemView::Summary)
}

fn is_instructions<I: Item>(item: &I) -> bool {
    matches!(item.view(), ItemView::Instructions)
}

/// What a summariser said that does not end the compaction.
enum Answer {
    Text(String),
    TooLong(TooLong),
}

enum TooLong {
    Context,
    Local,
}
