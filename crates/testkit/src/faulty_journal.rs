//! A journal that fails when told to.

use std::ops::RangeBounds;
use std::sync::Arc;

use artifacts::{Guard, Journal, JournalError};
use async_trait::async_trait;
use output_contract::{CallId, SavedEvent, SessionId};

use crate::faults::Faults;

/// Wraps a journal and makes chosen calls of its operations fail.
///
/// Calls are counted from 1 and chosen by a range, as with a
/// [`FaultyStore`](crate::FaultyStore).
#[derive(Debug)]
pub struct FaultyJournal {
    inner: Arc<dyn Journal>,
    append: Faults<JournalError>,
    commit: Faults<(CommitFault, JournalError)>,
    has_finished: Faults<JournalError>,
}

/// How far a failing commit gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CommitFault {
    /// Nothing is retained or saved.
    BeforeRoots,
    /// The roots are retained, the event is not saved.
    BeforeEvent,
    /// Both are done, and the caller is told that they failed: as after a crash
    /// of a remote journal between its work and its answer.
    AfterEvent,
}

impl FaultyJournal {
    /// A wrapper without faults.
    pub fn new(inner: Arc<dyn Journal>) -> Self {
        Self {
            inner,
            append: Faults::default(),
            commit: Faults::default(),
            has_finished: Faults::default(),
        }
    }

    /// Makes [`Journal::append`] fail, with nothing saved.
    pub fn fail_append(
        &self,
        calls: impl RangeBounds<u64> + Send + 'static,
        error: impl Fn() -> JournalError + Send + 'static,
    ) {
        self.append.add(calls, error);
    }

    /// Makes [`Journal::commit`] fail where `fault` says.
    pub fn fail_commit(
        &self,
        calls: impl RangeBounds<u64> + Send + 'static,
        fault: CommitFault,
        error: impl Fn() -> JournalError + Send + 'static,
    ) {
        self.commit.add(calls, move || (fault, error()));
    }

    /// Makes [`Journal::has_finished`] fail.
    pub fn fail_has_finished(
        &self,
        calls: impl RangeBounds<u64> + Send + 'static,
        error: impl Fn() -> JournalError + Send + 'static,
    ) {
        self.has_finished.add(calls, error);
    }

    /// How often [`Journal::commit`] was called.
    pub fn commits(&self) -> u64 {
        self.commit.calls()
    }

    /// How often [`Journal::append`] was called.
    pub fn appends(&self) -> u64 {
        self.append.calls()
    }
}

#[async_trait]
impl Journal for FaultyJournal {
    async fn append(&self, session: &SessionId, event: &SavedEvent) -> Result<(), JournalError> {
        self.append.call()?;
        self.inner.append(session, event).await
    }

    async fn commit(
        &self,
        session: &SessionId,
        call: &CallId,
        guard: &dyn Guard,
        event: &SavedEvent,
    ) -> Result<(), JournalError> {
        match self.commit.call() {
            Ok(()) => self.inner.commit(session, call, guard, event).await,
            Err((CommitFault::BeforeRoots, error)) => Err(error),
            Err((CommitFault::BeforeEvent, error)) => {
                guard.retain(session, call).await?;
                Err(error)
            }
            Err((CommitFault::AfterEvent, error)) => {
                self.inner.commit(session, call, guard, event).await?;
                Err(error)
            }
        }
    }

    async fn has_finished(&self, session: &SessionId, call: &CallId) -> Result<bool, JournalError> {
        self.has_finished.call()?;
        self.inner.has_finished(session, call).await
    }
}
