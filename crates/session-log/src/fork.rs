//! Forking: a session that goes on where another one was.
//!
//! Responsible for keeping what the fork inherits: its owner retains it too, so
//! that removing the other session takes nothing from it.

use artifacts::error::OpenError;
use artifacts::{ArtifactStore, RootError};
use output_contract::{Digest, HistoryItem, SavedEvent, SessionId, Timestamp};
use tokio::task::spawn_blocking;

use crate::error::LogError;
use crate::logs::SessionLogs;
use crate::replay::ForkPoint;

/// What a fork came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forked {
    /// What it inherits and keeps.
    pub retained: usize,
    /// What its history refers to and no store has any more.
    pub missing: Vec<Digest>,
}

/// Why there is no fork.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForkError {
    /// The session that is to be the fork has a log already.
    #[error("session {session} exists already")]
    Exists {
        /// The session.
        session: SessionId,
    },
    /// A log cannot be read or written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// What is inherited cannot be protected.
    #[error("could not protect artifact {digest}")]
    Borrow {
        /// The artifact.
        digest: Digest,
        /// Why.
        source: OpenError,
    },
    /// What is inherited cannot be kept.
    #[error("could not retain what the fork inherits")]
    Retain(#[from] RootError),
}

impl SessionLogs {
    /// Begins the session `fork` with the history that another one has at a
    /// point. Every artifact that the active history refers to there is
    /// retained for the fork, then the event is saved. What is gone already is
    /// said and holds nothing up.
    ///
    /// # Errors
    /// [`ForkError`]; nothing is saved then. What was retained costs space, and
    /// goes with the session `fork`.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub async fn fork(
        &self,
        store: &dyn ArtifactStore,
        point: ForkPoint,
        fork: &SessionId,
        time: Timestamp,
    ) -> Result<Forked, ForkError> {
        if self.path(fork).exists() {
            return Err(ForkError::Exists { session: fork.clone() });
        }
        let inherited = {
            let (logs, point) = (self.clone(), point.clone());
            blocking(move || logs.history_at(&point)).await?
        };
        let mut forked = Forked::default();
        for item in inherited.items() {
            let HistoryItem::ToolResult(result) = item else { continue };
            for digest in result.digests() {
                match store.borrow(digest).await {
                    Ok(guard) => {
                        let retained = guard.retain(fork, &result.call_id).await;
                        guard.release().await;
                        retained?;
                        forked.retained += 1;
                    }
                    Err(OpenError::Unknown { .. } | OpenError::Expired { .. }) => {
                        forked.missing.push(digest);
                    }
                    Err(source) => return Err(ForkError::Borrow { digest, source }),
                }
            }
        }
        let (logs, fork, ForkPoint { from, at }) = (self.clone(), fork.clone(), point);
        let event = SavedEvent::SessionForked { from, at, time };
        blocking(move || logs.append_blocking(&fork, &event)).await?;
        Ok(forked)
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    spawn_blocking(work).await.expect("reading and appending do not panic")
}
