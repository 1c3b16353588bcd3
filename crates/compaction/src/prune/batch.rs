//! Batches: the outputs that are stored together.

use super::plan::{Plan, Slot};

/// Most outputs in a batch: each is an open file until it is stored.
const MAX_PARTS: usize = 64;
/// A batch that has so many bytes takes no more outputs.
const FULL_BYTES: usize = 4 * 1024 * 1024;

/// Outputs that are stored together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// What they are parts of.
    pub(super) slots: Vec<Slot>,
    /// Their bytes.
    pub(super) parts: Vec<Vec<u8>>,
}

impl Batch {
    /// Takes the next batch out of a plan; `None` where all is taken.
    pub(super) fn next(plan: &mut Plan<'_>) -> Option<Self> {
        let mut batch = Self::default();
        let mut bytes = 0;
        while bytes < FULL_BYTES && batch.parts.len() < MAX_PARTS {
            let Some((slot, part)) = plan.inline.pop_front() else { break };
            bytes += part.len();
            batch.slots.push(slot);
            batch.parts.push(part.into_owned());
        }
        (!batch.parts.is_empty()).then_some(batch)
    }
}
