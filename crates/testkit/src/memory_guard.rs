//! Protection of what is in a memory store.

use std::any::Any;
use std::sync::Arc;

use artifacts::{Guard, RootError};
use async_trait::async_trait;
use output_contract::{CallId, Digest, SessionId};

use crate::memory_store::Shared;

/// A guard of a [`MemoryStore`](crate::MemoryStore).
#[derive(Debug)]
pub(crate) struct MemoryGuard {
    shared: Arc<Shared>,
    id: u64,
    digests: Vec<Digest>,
}

impl MemoryGuard {
    pub(crate) fn new(shared: Arc<Shared>, id: u64, digests: Vec<Digest>) -> Self {
        Self { shared, id, digests }
    }
}

#[async_trait]
impl Guard for MemoryGuard {
    fn digests(&self) -> &[Digest] {
        &self.digests
    }

    async fn retain(&self, owner: &SessionId, call: &CallId) -> Result<(), RootError> {
        let mut state = self.shared.lock();
        if !state.guards.contains_key(&self.id) {
            return Err(RootError::LeaseLost);
        }
        state.retain(owner, call, &self.digests);
        Ok(())
    }

    async fn release(self: Box<Self>) {
        drop(self);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for MemoryGuard {
    fn drop(&mut self) {
        self.shared.lock().guards.remove(&self.id);
    }
}
