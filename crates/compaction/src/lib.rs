//! Compaction of a history: one summary in the place of what was said before.

mod arguments;
mod history;
mod item;

pub use arguments::Arguments;
pub use item::{
    Body, CallView, InlinePart, Item, ItemView, NewOutput, OutputView, ResultView, StoredPart,
};
pub use output_retention::Ended;
