//! A journal in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use artifacts::{Guard, Journal, JournalError};
use async_trait::async_trait;
use output_contract::{CallId, SavedEvent, SessionId};

/// Keeps events as they are. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct MemoryJournal {
    events: Arc<Mutex<BTreeMap<SessionId, Vec<SavedEvent>>>>,
}

impl MemoryJournal {
    /// The events of a session, in order.
    pub fn events(&self, session: &SessionId) -> Vec<SavedEvent> {
        self.lock().get(session).cloned().unwrap_or_default()
    }

    /// The sessions that have events.
    pub fn sessions(&self) -> Vec<SessionId> {
        self.lock().keys().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<SessionId, Vec<SavedEvent>>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Journal for MemoryJournal {
    async fn append(&self, session: &SessionId, event: &SavedEvent) -> Result<(), JournalError> {
        self.lock().entry(session.clone()).or_default().push(event.clone());
        Ok(())
    }

    async fn commit(
        &self,
        session: &SessionId,
        call: &CallId,
        guard: &dyn Guard,
        event: &SavedEvent,
    ) -> Result<(), JournalError> {
        guard.retain(session, call).await?;
        self.append(session, event).await
    }

    async fn has_finished(&self, session: &SessionId, call: &CallId) -> Result<bool, JournalError> {
        let finishes = |event: &SavedEvent| matches!(event, SavedEvent::CallFinished { result, .. } if result.call_id == *call);
        Ok(self.lock().get(session).is_some_and(|events| events.iter().any(finishes)))
    }
}
