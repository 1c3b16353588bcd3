//! A spill backend of private files on the machine that runs the agent.
//!
//! ```text
//! <root>/                                    0700
//!     session-<12 hex of SHA-256(session)>/  0700
//!         <12 hex at random>-<name>          0600
//! ```
//!
//! The locator is the path, so that any tool that reads files reads it. What
//! else is on the machine is not trusted: a root or a session's directory that
//! is a symbolic link, another user's, or writable by others is refused; names
//! cannot be guessed; a file appears under its name when it is whole, and never
//! over another. Every step is relative to an open directory, so that a path
//! that is swapped under way leads nothing astray.
//!
//! ```
//! use spill::{SaveText, SpillOwner, SpillSource, SpillStore};
//! use spill_local::LocalSpill;
//!
//! # let scratch = tempfile::tempdir()?;
//! # let root = camino::Utf8Path::from_path(scratch.path()).expect("a UTF-8 path").join("spill");
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # runtime.block_on(async {
//! let store = LocalSpill::new(&root)?;
//! let saved = store.save_text(SaveText {
//!     owner: SpillOwner { session: "session-1".parse()? },
//!     source: SpillSource { tool: "fetch".parse()?, call: "call-1".parse()?, label: "result".into() },
//!     suggested_name: "fetch.txt".to_owned(),
//!     content: "all of it\n".to_owned(),
//! }).await?;
//! assert!(saved.locator.as_str().ends_with("-fetch.txt"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Limitations: Unix only. Nothing is ever removed but what failed: texts stay
//! until someone removes their file, their session's directory or the root,
//! after which a reader says that the file is not there. A process that dies
//! while it saves leaves a hidden file, `.<12 hex>.tmp`. A save brings the text
//! to the medium, but not its name.

mod directory;
mod error;
mod file;
mod local;
#[cfg(test)]
mod testing;

pub use error::LocalSpillError;
pub use local::{DEFAULT_HINT, LocalSpill};
