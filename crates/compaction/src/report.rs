//! What a compaction did, in numbers.

use std::iter::Sum;

use serde::Serialize;

/// How many bytes count as one token in an estimate. A common rule for English
/// and code; only a tokeniser knows better.
pub const BYTES_PER_TOKEN: u64 = 4;

/// A size, as a summariser or model takes it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Size {
    /// Bytes of the serialised items.
    pub bytes: u64,
    /// Tokens, estimated: a token for each started [`BYTES_PER_TOKEN`] bytes.
    pub estimated_tokens: u64,
}

impl Size {
    /// The size of so many bytes.
    pub const fn of_bytes(bytes: u64) -> Self {
        Self { bytes, estimated_tokens: bytes.div_ceil(BYTES_PER_TOKEN) }
    }
}

impl Sum<usize> for Size {
    fn sum<T: Iterator<Item = usize>>(bytes: T) -> Self {
        Self::of_bytes(bytes.map(|bytes| bytes as u64).sum())
    }
}

/// What a pruning did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PruneReport {
    /// The size of the items before.
    pub before: Size,
    /// The size of the pruned copy.
    pub after: Size,
    /// Outputs that became a reference.
    pub references: u64,
    /// Outputs of artifact reads that became the marker.
    pub omitted: u64,
    /// Results left as they are, because they are empty or were pruned before.
    pub left_alone: u64,
    /// Parts of outputs that no store had and that were stored now.
    pub retained: u64,
    /// Parts that a store had once and has no more.
    pub expired: u64,
}

impl PruneReport {
    /// Results that have another output now.
    pub const fn touched(&self) -> u64 {
        self.references + self.omitted
    }

    /// Whether the copy is smaller than what it was made of.
    pub const fn made_progress(&self) -> bool {
        self.after.bytes < self.before.bytes
    }
}

/// What a compaction did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The size of the active history before.
    pub before: Size,
    /// The size of the summary and the kept suffix.
    pub after: Size,
    /// The pruning of the private copy, where the first trial was too long.
    pub pruned: Option<PruneReport>,
}
