//! Compaction of a history: one summary in the place of what was said before.

mod arguments;
mod compactor;
pub mod formats;
mod history;
mod item;
mod pairing;
mod prune;
mod report;
mod retainer;
mod store_retainer;
mod suffix;
mod summarizer;

pub use arguments::Arguments;
pub use compactor::{CompactOptions, Compacted, Compactor, Unchanged};
pub use item::{
    Body, CallView, InlinePart, Item, ItemView, NewOutput, OutputView, ResultView, StoredPart,
};
pub use output_retention::Ended;
pub use prune::{PruneError, PruneOptions, Pruned, prune};
pub use report::{BYTES_PER_TOKEN, PruneReport, Report, Size};
pub use retainer::{RetainError, Retained, Retainer};
pub use store_retainer::StoreRetainer;
pub use summarizer::{SummarizeError, Summarizer};
