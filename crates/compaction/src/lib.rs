//! Compaction of a history: a summary in the place of what was said before.
//!
//! - [`Compactor`] asks a [`Summarizer`] for the summary of the whole active
//!   history. If that is too long for it, and for no other reason, it tries a
//!   private copy once, in which outputs are references ([`prune()`]). It says
//!   what to put in the place of what ([`Compacted`]), or why all stays as it is
//!   ([`Unchanged`]), and changes nothing itself.
//! - [`Item`] is the seam to a history: an agent's own type, the
//!   [`HistoryItem`](output_contract::HistoryItem) of this house, or a part of a
//!   file of Anthropic's or OpenAI's form ([`formats`]).
//! - [`Retainer`] is the seam to outputs; [`StoreRetainer`] is over a store.
//!
//! `docs/design/compaction.md` has the rules. No model is known here.
//!
//! ```
//! use std::sync::Arc;
//! use compaction::*;
//! use tokio_util::sync::CancellationToken;
//! #[derive(Debug, Clone, PartialEq)]
//! enum Entry {
//!     User(String),
//!     Call { id: String, tool: String, arguments: String },
//!     Result { id: String, output: String },
//! }
//!
//! impl Item for Entry {
//!     fn view(&self) -> ItemView<'_> {
//!         match self {
//!             Self::User(_) => ItemView::User,
//!             Self::Call { id, tool, arguments } => ItemView::Call(CallView {
//!                 id: Some(id),
//!                 tool,
//!                 arguments: Arguments::Text(arguments.into()),
//!             }),
//!             Self::Result { id, output } => ItemView::Result(ResultView {
//!                 call: Some(id),
//!                 ended: Ended::default(),
//!                 output: OutputView::of_text(output),
//!             }),
//!         }
//!     }
//!
//!     fn bytes(&self) -> usize {
//!         match self {
//!             Self::User(text) => text.len(),
//!             Self::Call { arguments, .. } => arguments.len(),
//!             Self::Result { output, .. } => output.len(),
//!         }
//!     }
//!
//!     fn with_output(&self, output: NewOutput<'_>) -> Self {
//!         match self {
//!             Self::Result { id, .. } => {
//!                 Self::Result { id: id.clone(), output: output.text().to_owned() }
//!             }
//!             other => other.clone(),
//!         }
//!     }
//! }
//!
//! /// Its model takes a kilobyte.
//! #[derive(Debug)]
//! struct Model;
//!
//! #[async_trait::async_trait]
//! impl Summarizer<Entry> for Model {
//!     async fn summarize(&self, items: &[Entry]) -> Result<String, SummarizeError> {
//!         if items.iter().map(Item::bytes).sum::<usize>() > 1024 {
//!             return Err(SummarizeError::ContextLength);
//!         }
//!         Ok(format!("{} things happened", items.len()))
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let store = Arc::new(testkit::MemoryStore::new()?); // or any other
//! let retainer = Arc::new(StoreRetainer::new(store, "session".parse()?));
//! let options = CompactOptions { keep_turns: 1, ..CompactOptions::default() };
//! let compactor = Compactor::new(Arc::new(Model), retainer, options);
//!
//! let history = [
//!     Entry::User("list the files".into()),
//!     Entry::Call { id: "1".into(), tool: "bash".into(), arguments: r#"{"command":"ls"}"#.into() },
//!     Entry::Result { id: "1".into(), output: "a.txt\n".repeat(1000) },
//!     Entry::User("thank you".into()),
//! ];
//! let compacted = compactor.compact(&history, &CancellationToken::new()).await?;
//! assert_eq!(compacted.summary, "4 things happened");
//! assert_eq!(history[compacted.retained_from..], [Entry::User("thank you".into())]);
//! assert_eq!(compacted.report.pruned.map(|pruned| pruned.references), Some(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
pub use suffix::active;
pub use summarizer::{SummarizeError, Summarizer};
