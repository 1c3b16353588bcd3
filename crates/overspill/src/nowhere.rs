//! A store and a journal that keep nothing, for a command that must run although
//! the home cannot be opened.

use std::sync::Arc;

use artifacts::{
    ArtifactReader, ArtifactStore, Capabilities, CaptureRoot, CollectError, CollectOptions,
    CollectReport, Durability, Guard, Journal, JournalError, OpenError, Publication, PublishError,
    RootError,
};
use async_trait::async_trait;
use camino::Utf8Path;
use output_contract::{ArtifactUri, CallId, Digest, SavedEvent, SessionId};

/// Refuses everything, for a reason.
#[derive(Debug)]
pub(crate) struct Nowhere {
    captures: CaptureRoot,
    reason: String,
}

impl Nowhere {
    /// In place of the store at `store`. A capture is still tried there: where
    /// it succeeds, the next command that can open the store finds it.
    pub(crate) fn new(store: &Utf8Path, reason: String) -> Self {
        let captures = CaptureRoot::new(store.join("captures"), Durability::Fast);
        Self { captures, reason }
    }

    fn refusal(&self) -> artifacts::error::BackendError {
        self.reason.clone().into()
    }
}

#[async_trait]
impl ArtifactStore for Nowhere {
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn captures(&self) -> &CaptureRoot {
        &self.captures
    }

    async fn publish(&self, _publication: Publication) -> Result<Box<dyn Guard>, PublishError> {
        Err(PublishError::Backend(self.refusal()))
    }

    async fn borrow(&self, _digest: Digest) -> Result<Box<dyn Guard>, OpenError> {
        Err(OpenError::Backend(self.refusal()))
    }

    async fn open(&self, _uri: &ArtifactUri) -> Result<Arc<dyn ArtifactReader>, OpenError> {
        Err(OpenError::Backend(self.refusal()))
    }

    async fn release(&self, _owner: &SessionId, _call: Option<&CallId>) -> Result<(), RootError> {
        Err(RootError::Backend(self.refusal()))
    }

    async fn collect(&self, _options: CollectOptions) -> Result<CollectReport, CollectError> {
        Err(CollectError::Backend(self.refusal()))
    }
}

#[async_trait]
impl Journal for Nowhere {
    async fn append(&self, _session: &SessionId, _event: &SavedEvent) -> Result<(), JournalError> {
        Err(JournalError::Backend(self.refusal()))
    }

    async fn commit(
        &self,
        _session: &SessionId,
        _call: &CallId,
        _guard: &dyn Guard,
        _event: &SavedEvent,
    ) -> Result<(), JournalError> {
        Err(JournalError::Backend(self.refusal()))
    }

    async fn has_finished(
        &self,
        _session: &SessionId,
        _call: &CallId,
    ) -> Result<bool, JournalError> {
        Ok(false)
    }
}
