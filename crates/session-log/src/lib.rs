//! Session logs: what happened in a session, one JSON line an event, appended
//! by any number of processes and read back whatever happened to the file.
//!
//! - [`SessionLogs`] appends under a lock, lists, reads and removes. It is the
//!   [`Journal`](artifacts::Journal) of a runtime whose store is local.
//! - [`SessionRecords`] is what a log holds: the events that are whole, and the
//!   stretches that are not. Reading takes no lock and content is no error.
//! - [`replay()`] rebuilds a session from its events, and runs nothing. Its
//!   [history](Replay::history) is what is active after reverts and summaries.
//! - A [fork](SessionLogs::fork) goes on where another session was.
//!
//! An event refers to stored output and never holds it, so that a log grows by
//! what was shown, not by what was produced. The format itself belongs to
//! [`output_contract::SavedEvent`]; this crate knows no tools and no stores.
//! Unix only.
//!
//! ```
//! use artifacts::Durability;
//! use output_contract::{SavedEvent, SessionId, Timestamp};
//! use session_log::{SessionLogs, replay};
//!
//! # let scratch = tempfile::tempdir()?;
//! # let home = camino::Utf8Path::from_path(scratch.path()).expect("a UTF-8 path");
//! let logs = SessionLogs::open(home.join("sessions"), Durability::Fast)?;
//! let session = SessionId::new("2026-11-30")?;
//! logs.append_blocking(&session, &SavedEvent::CallStarted {
//!     session_id: session.clone(),
//!     call_id: "call-1".parse()?,
//!     parent_call_id: None,
//!     tool: "bash".parse()?,
//!     arguments: serde_json::json!({"command": "ls"}),
//!     output: None,
//!     at: Timestamp(1_796_000_000_000),
//! })?;
//!
//! let records = logs.read(&session)?;
//! assert!(records.diagnostics.is_empty());
//! let replay = replay(records);
//! assert_eq!(replay.session, Some(session));
//! assert_eq!(replay.running().count(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod calls;
mod check;
mod directory;
mod encode;
mod error;
mod file_name;
mod fork;
mod history;
mod journal;
mod log_file;
mod logs;
mod pieces;
mod records;
mod replay;

pub use calls::LoggedCall;
pub use error::LogError;
pub use fork::{ForkError, Forked};
pub use history::SessionHistory;
pub use logs::{SessionLogs, SessionSummary};
pub use records::{SessionRecords, SkipReason, Skipped};
pub use replay::{
    ActiveItem, CallState, Conflict, ForkPoint, LoggedEvent, Replay, ReplayedCall, ReplayedItem,
    replay,
};
