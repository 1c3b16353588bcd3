//! The private copy: the same items, with outputs by reference.
//!
//! Responsible for what becomes of each output, and for nothing else of an
//! item: calls, order, pairing and status are those of the original. It is
//! linear in the items, looks artifacts up by name and opens none, and holds no
//! more beside its result than a batch of outputs that it stores.

mod batch;
mod plan;

use output_contract::ToolName;
use output_retention::{ARTIFACT_READ_OMITTED, Reference};
use tokio_util::sync::CancellationToken;

use self::batch::Batch;
use self::plan::{Draft, Plan, Treatment};
use crate::item::{Item, NewOutput};
use crate::pairing::Pairs;
use crate::report::{PruneReport, Size};
use crate::retainer::{RetainError, Retainer};

/// How many items are looked at together: one question to the store for all.
const WINDOW_ITEMS: usize = 4096;

/// How a history is pruned.
#[derive(Debug, Clone)]
pub struct PruneOptions {
    /// The name under which the `read` tool is offered: calls of it, and of
    /// `read` itself, may be artifact reads, and references name it.
    pub reader: ToolName,
}

impl Default for PruneOptions {
    fn default() -> Self {
        Self { reader: ToolName::new("read").expect("a valid name") }
    }
}

/// A pruned copy.
#[derive(Debug, Clone)]
pub struct Pruned<I> {
    /// As many items as before, in their order.
    pub items: Vec<I>,
    /// What was done.
    pub report: PruneReport,
}

/// Why there is no pruned copy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PruneError {
    /// An output could not be kept, or not be looked up.
    #[error("could not keep an output that the history alone has")]
    Retain(#[from] RetainError),
    /// The caller cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// Copies `items` with outputs by reference; the originals are not changed.
///
/// - The output of an artifact read becomes [`ARTIFACT_READ_OMITTED`]: of a call
///   of the reader whose top-level argument `filePath` has artifact intent,
///   however it ended.
/// - Any other output becomes one [`Reference`] line, whatever its size and
///   age. What no store has yet is stored now.
/// - An output that is empty, or wholly such a line already, is left alone, so
///   that pruning again changes nothing.
///
/// # Errors
/// [`PruneError`]; nothing was changed, and what was stored on the way stays.
pub async fn prune<I: Item>(
    items: &[I],
    options: &PruneOptions,
    retainer: &dyn Retainer,
    cancel: &CancellationToken,
) -> Result<Pruned<I>, PruneError> {
    let pairs = Pairs::of(items);
    let mut pruned = Vec::with_capacity(items.len());
    let mut report = PruneReport::default();
    let mut start = 0;
    for window in items.chunks(WINDOW_ITEMS) {
        let mut plan = Plan::of(items, &pairs, start..start + window.len(), options);
        let looked_up = retainer.stored(plan.digests());
        let stored = cancel.run_until_cancelled(looked_up).await.ok_or(PruneError::Cancelled)??;
        plan.settle_stored(&stored, &mut report);
        while let Some(batch) = Batch::next(&mut plan) {
            let slots = batch.slots;
            let retained = retainer.retain(batch.parts);
            let retained =
                cancel.run_until_cancelled(retained).await.ok_or(PruneError::Cancelled)??;
            report.retained += retained.len() as u64;
            plan.settle_retained(&slots, &retained);
        }
        for (item, treatment) in window.iter().zip(plan.treatments) {
            pruned.push(treat(item, treatment, options, &mut report));
        }
        start += window.len();
    }
    report.before = items.iter().map(Item::bytes).sum::<Size>();
    report.after = pruned.iter().map(Item::bytes).sum::<Size>();
    Ok(Pruned { items: pruned, report })
}

fn treat<I: Item>(
    item: &I,
    treatment: Treatment,
    options: &PruneOptions,
    report: &mut PruneReport,
) -> I {
    match treatment {
        Treatment::Copy => item.clone(),
        Treatment::LeaveAlone => {
            report.left_alone += 1;
            item.clone()
        }
        Treatment::Omit => {
            report.omitted += 1;
            item.with_output(NewOutput::Omitted(ARTIFACT_READ_OMITTED))
        }
        Treatment::Refer(Draft { parts, ended }) => {
            report.references += 1;
            let line = Reference { parts, ended }.line(options.reader.as_str());
            item.with_output(NewOutput::Reference(&line))
        }
    }
}
