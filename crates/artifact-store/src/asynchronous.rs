//! The asynchronous face: the same store, on tokio's blocking threads or, where
//! that is asked for, in place.
//!
//! A blocking task runs to its end whether or not anyone waits for it. That is
//! how a dropped `publish` finishes, and then releases what it published.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use artifacts::{
    ArtifactReader, ArtifactStore, BlockingWork, Capabilities, CaptureRoot, CollectError,
    CollectOptions, CollectReport, Guard, OpenError, Publication, PublishError, ReadError,
    RootError,
};
use async_trait::async_trait;
use bytes::Bytes;
use output_contract::{ArtifactUri, CallId, Digest, SessionId};
use tokio::task::{JoinError, spawn_blocking};

use crate::artifact::StoredArtifact;
use crate::guard::StoreGuard;
use crate::local::LocalStore;

/// A [`LocalStore`] as an [`ArtifactStore`]. Needs a tokio runtime around it.
#[derive(Debug, Clone)]
pub struct AsyncStore {
    store: LocalStore,
    work: BlockingWork,
}

impl AsyncStore {
    /// The asynchronous face of `store`, which works on threads of its own.
    pub const fn new(store: LocalStore) -> Self {
        Self { store, work: BlockingWork::OnThreads }
    }

    /// The same, doing its work there.
    #[must_use]
    pub fn with_blocking_work(self, work: BlockingWork) -> Self {
        Self { work, ..self }
    }

    /// The blocking store behind it.
    pub const fn blocking(&self) -> &LocalStore {
        &self.store
    }
}

/// Runs `operation` where it is to be done, and passes a panic on.
async fn run<T: Send + 'static>(
    work: BlockingWork,
    operation: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    if work == BlockingWork::InPlace {
        return Ok(operation());
    }
    match spawn_blocking(operation).await {
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        // The runtime is shutting down, and did not begin with it.
        other => other,
    }
}

#[async_trait]
impl ArtifactStore for AsyncStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::default().with_tombstones()
    }

    fn captures(&self) -> &CaptureRoot {
        self.store.captures()
    }

    async fn publish(&self, publication: Publication) -> Result<Box<dyn Guard>, PublishError> {
        let store = self.store.clone();
        let guard = run(self.work, move || store.publish(&publication))
            .await
            .map_err(|error| PublishError::Backend(Box::new(error)))??;
        Ok(Box::new(AsyncGuard { guard: Arc::new(guard), work: self.work }))
    }

    async fn borrow(&self, digest: Digest) -> Result<Box<dyn Guard>, OpenError> {
        let store = self.store.clone();
        let guard = run(self.work, move || store.borrow(digest))
            .await
            .map_err(|error| OpenError::Backend(Box::new(error)))??;
        Ok(Box::new(AsyncGuard { guard: Arc::new(guard), work: self.work }))
    }

    async fn open(&self, uri: &ArtifactUri) -> Result<Arc<dyn ArtifactReader>, OpenError> {
        let (store, uri) = (self.store.clone(), uri.clone());
        let artifact = run(self.work, move || store.open_artifact(&uri))
            .await
            .map_err(|error| OpenError::Backend(Box::new(error)))??;
        Ok(Arc::new(AsyncArtifact { artifact: Arc::new(artifact), work: self.work }))
    }

    async fn has(&self, digests: &[Digest]) -> Result<Vec<bool>, OpenError> {
        let (store, digests) = (self.store.clone(), digests.to_vec());
        run(self.work, move || store.has(&digests))
            .await
            .map_err(|error| OpenError::Backend(Box::new(error)))?
    }

    async fn release(&self, owner: &SessionId, call: Option<&CallId>) -> Result<(), RootError> {
        let (store, owner, call) = (self.store.clone(), owner.clone(), call.cloned());
        run(self.work, move || store.release(&owner, call.as_ref()))
            .await
            .map_err(|error| RootError::Backend(Box::new(error)))?
    }

    async fn collect(&self, options: CollectOptions) -> Result<CollectReport, CollectError> {
        let store = self.store.clone();
        run(self.work, move || store.collect(&options))
            .await
            .map_err(|error| CollectError::Backend(Box::new(error)))?
    }
}

#[derive(Debug)]
struct AsyncGuard {
    guard: Arc<StoreGuard>,
    work: BlockingWork,
}

#[async_trait]
impl Guard for AsyncGuard {
    fn digests(&self) -> &[Digest] {
        self.guard.digests()
    }

    async fn retain(&self, owner: &SessionId, call: &CallId) -> Result<(), RootError> {
        let (guard, owner, call) = (Arc::clone(&self.guard), owner.clone(), call.clone());
        run(self.work, move || guard.retain(&owner, &call))
            .await
            .map_err(|error| RootError::Backend(Box::new(error)))?
    }

    async fn release(self: Box<Self>) {
        // A retain whose future was dropped may still hold the guard; the last
        // one to let go releases.
        let released = run(self.work, move || drop(self)).await;
        drop(released);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[derive(Debug)]
struct AsyncArtifact {
    artifact: Arc<StoredArtifact>,
    work: BlockingWork,
}

#[async_trait]
impl ArtifactReader for AsyncArtifact {
    fn digest(&self) -> Digest {
        self.artifact.digest()
    }

    fn bytes(&self) -> u64 {
        self.artifact.bytes()
    }

    fn lines(&self) -> u64 {
        self.artifact.lines()
    }

    async fn read(&self, range: Range<u64>) -> Result<Bytes, ReadError> {
        let artifact = Arc::clone(&self.artifact);
        run(self.work, move || artifact.read(range))
            .await
            .map_err(|error| ReadError::Backend(Box::new(error)))?
    }

    async fn line_start(&self, line: u64) -> Result<u64, ReadError> {
        let artifact = Arc::clone(&self.artifact);
        run(self.work, move || artifact.line_start(line))
            .await
            .map_err(|error| ReadError::Backend(Box::new(error)))?
    }
}
