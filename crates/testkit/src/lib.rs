//! What tests of several crates need: stores and journals in memory, ones that
//! fail when told to, tools that follow a script, and real inputs.
//!
//! - [`MemoryStore`] and [`MemoryJournal`] mean what their seams say and are
//!   fast. Their state can be looked at.
//! - [`FaultyStore`] and [`FaultyJournal`] wrap any backend and make chosen
//!   calls fail.
//! - [`FaultyDisk`] fails chosen system calls of the local store, and
//!   [`CrashingDisk`] loses what was not synced.
//! - [`MemorySpill`] and [`FaultySpill`] do the same for spilled texts; saves
//!   can also be made to wait.
//! - [`ScriptedTool`] does with its output whatever a [`Script`] says, good or
//!   bad.
//! - [`ScriptedSummarizer`] answers as it is told and remembers what it was
//!   asked.
//! - [`corpus()`] lists real inputs, where the machine has them.
//!
//! For development only: no crate that is shipped depends on this one.
//!
//! ```
//! use std::sync::Arc;
//!
//! use artifacts::{ArtifactStore, OpenError};
//! use output_contract::{ArtifactUri, Digest};
//! use testkit::{FaultyStore, MemoryStore};
//!
//! let store = FaultyStore::new(Arc::new(MemoryStore::new()?));
//! store.fail_open(2.., || OpenError::Backend("the network is down".into()));
//!
//! let uri = ArtifactUri::bare(Digest::EMPTY);
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # runtime.block_on(async {
//! assert!(matches!(store.open(&uri).await, Err(OpenError::Unknown { .. })));
//! assert!(matches!(store.open(&uri).await, Err(OpenError::Backend(_))));
//! # });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod corpus;
mod crashing_disk;
mod faults;
mod faulty_disk;
mod faulty_journal;
mod faulty_spill;
mod faulty_store;
mod memory_guard;
mod memory_journal;
mod memory_reader;
mod memory_spill;
mod memory_state;
mod memory_store;
mod script;
mod scripted_summarizer;
mod scripted_tool;

pub use corpus::{CORPUS_VARIABLE, CorpusEntry, corpus, corpus_in};
pub use crashing_disk::{CrashingDisk, DiskLie, Moment, Survival};
pub use faulty_disk::{DiskFault, FaultyDisk};
pub use faulty_journal::{CommitFault, FaultyJournal};
pub use faulty_spill::{FaultySpill, HeldSaves};
pub use faulty_store::FaultyStore;
pub use memory_journal::MemoryJournal;
pub use memory_spill::MemorySpill;
pub use memory_store::MemoryStore;
pub use script::Script;
pub use scripted_summarizer::{ScriptedSummarizer, SummarizerAnswer};
pub use scripted_tool::ScriptedTool;
