//! Session logs as the journal of a runtime: the same operations, each on a
//! thread that may block or, where that is asked for, in place.

use artifacts::{BlockingWork, Guard, Journal, JournalError};
use async_trait::async_trait;
use output_contract::{CallId, SavedEvent, SessionId};
use tokio::task::spawn_blocking;

use crate::error::LogError;
use crate::logs::SessionLogs;

/// Needs a tokio runtime. An operation whose future is dropped goes on to its
/// end in the background.
#[async_trait]
impl Journal for SessionLogs {
    async fn append(&self, session: &SessionId, event: &SavedEvent) -> Result<(), JournalError> {
        let (session, event) = (session.clone(), event.clone());
        self.blocking(move |logs| logs.append_blocking(&session, &event)).await
    }

    async fn commit(
        &self,
        session: &SessionId,
        call: &CallId,
        guard: &dyn Guard,
        event: &SavedEvent,
    ) -> Result<(), JournalError> {
        guard.retain(session, call).await?;
        let (owner, event) = (session.clone(), event.clone());
        if self.blocking(move |logs| logs.append_to(&owner, &event)).await? {
            // The session was removed meanwhile, and its roots with it. The
            // guard still protects what this event refers to; retaining it
            // again is the same root, or a new one.
            guard.retain(session, call).await?;
        }
        Ok(())
    }

    async fn has_finished(&self, session: &SessionId, call: &CallId) -> Result<bool, JournalError> {
        let (session, call) = (session.clone(), call.clone());
        self.blocking(move |logs| logs.has_finished_blocking(&session, &call)).await
    }
}

impl SessionLogs {
    async fn blocking<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&Self) -> Result<T, LogError> + Send + 'static,
    ) -> Result<T, JournalError> {
        if self.work == BlockingWork::InPlace {
            return Ok(operation(self)?);
        }
        let logs = self.clone();
        match spawn_blocking(move || operation(&logs)).await {
            Ok(outcome) => Ok(outcome?),
            // It panicked, or the runtime ends.
            Err(error) => Err(JournalError::Backend(Box::new(error))),
        }
    }
}
