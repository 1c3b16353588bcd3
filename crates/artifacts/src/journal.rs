//! The seam between finished calls and where a session's events are saved.

use std::fmt::Debug;

use async_trait::async_trait;
use output_contract::{CallId, SavedEvent, SessionId};

use crate::error::{BackendError, FileError, RootError};
use crate::store::Guard;

/// An append-only record of what happened in sessions.
///
/// - **Atomicity.** An event is there whole or not at all, whatever else is
///   written at the same time, by whichever process.
/// - **Ordering.** Events of a session keep the order in which their calls
///   returned. A committed event is never there without its roots.
/// - **Durability.** What returned survives as the store's artifacts do, never
///   better than them. The start of a call may be lost until its end is saved.
/// - **Cancellation.** A dropped future may have saved the event or not.
/// - **Idempotence.** None: the same event twice is there twice.
#[async_trait]
pub trait Journal: Debug + Send + Sync {
    /// Saves an event that refers to nothing stored.
    ///
    /// # Errors
    /// [`JournalError`] where it is not saved.
    async fn append(&self, session: &SessionId, event: &SavedEvent) -> Result<(), JournalError>;

    /// Retains what `guard` names for `call`, then saves the event: roots
    /// before event, or both atomically.
    ///
    /// # Errors
    /// [`JournalError`] where the event is not saved; roots may be retained
    /// then, which costs space and loses nothing.
    async fn commit(
        &self,
        session: &SessionId,
        call: &CallId,
        guard: &dyn Guard,
        event: &SavedEvent,
    ) -> Result<(), JournalError>;

    /// Whether the end of `call` is saved. Recovery asks, so that a call that
    /// was saved right before a crash does not end twice.
    ///
    /// # Errors
    /// [`JournalError`] where the record cannot be read.
    async fn has_finished(&self, session: &SessionId, call: &CallId) -> Result<bool, JournalError>;
}

/// Why an event is not saved, or the record cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The roots could not be retained; the event was not written.
    #[error("could not retain what the call refers to")]
    Root(#[from] RootError),
    /// A file operation.
    #[error(transparent)]
    File(#[from] FileError),
    /// A journal of another kind.
    #[error("the journal failed")]
    Backend(#[source] BackendError),
}
