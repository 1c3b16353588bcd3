//! A store that fails when told to.

use std::any::Any;
use std::ops::{Range, RangeBounds};
use std::sync::Arc;

use artifacts::{
    ArtifactReader, ArtifactStore, Capabilities, CaptureRoot, CollectError, CollectOptions,
    CollectReport, Guard, OpenError, Publication, PublishError, ReadError, RootError,
};
use async_trait::async_trait;
use bytes::Bytes;
use output_contract::{ArtifactUri, CallId, Digest, SessionId};

use crate::faults::Faults;

/// Wraps a store and makes chosen calls of its operations fail. A failed call
/// does not reach the store.
///
/// Calls are counted from 1, over all guards and readers of the store, and
/// chosen by a range: `2..=2` is the second only, `2..` is every one from
/// then on.
#[derive(Debug)]
pub struct FaultyStore {
    inner: Arc<dyn ArtifactStore>,
    faults: Arc<StoreFaults>,
}

#[derive(Debug, Default)]
struct StoreFaults {
    publish: Faults<PublishError>,
    borrow: Faults<OpenError>,
    open: Faults<OpenError>,
    has: Faults<OpenError>,
    read: Faults<ReadError>,
    retain: Faults<RootError>,
    release: Faults<RootError>,
    collect: Faults<CollectError>,
}

impl FaultyStore {
    /// A wrapper without faults.
    pub fn new(inner: Arc<dyn ArtifactStore>) -> Self {
        Self { inner, faults: Arc::default() }
    }

    /// Makes [`ArtifactStore::publish`] fail.
    pub fn fail_publish(
        &self,
        calls: impl RangeBounds<u64> + Send + 'static,
        error: impl Fn() -> PublishError + Send + 'static,
    ) {
        self.faults.publish.add(calls, error);
    }

    /// Makes [`ArtifactStore::borrow`] fail.
    pub fn fail_borrow(
        &self,
        calls: impl RangeBounds<u64> + Send + 'static,
        error: impl Fn() -> OpenError + Send + 'static,
    ) {
        self.faults.borrow.add(calls, error);
    }

    /// Makes [`ArtifactStore::open`] fail.
    pub fn fail_open(
        &self,
        calls: impl RangeBounds<u64> + Send + 'static,
        error: impl Fn() -> OpenError + Send + 'static,
    ) {
        self.faults.open.add(calls, error);
    }

    /// Makes [`ArtifactStore::has`] fail.
    pub fn fail_has(
        &self,
        calls: impl RangeBounds<u64> + Send + 'static,
        error: impl Fn() -> OpenError + Send + 'static,
    ) {
        self.faults.has.add(calls, error);
    }

    /// Makes [`ArtifactReader::read`] and [`ArtifactReader::line_start`] fail.
    pub fn fail_read(
        &self,
        calls: impl RangeBounds<u64> + Send + 'static,
        error: impl Fn() -> ReadError + Send + 'static,
    ) {
        self.faults.read.add(calls, error);
    }

    /// Makes [`Guard::retain`] fail.
    pub fn fail_retain(
        &self,
        calls: impl RangeBounds<u64> + Send + 'static,
        error: impl Fn() -> RootError + Send + 'static,
    ) {
        self.faults.retain.add(calls, error);
    }

    /// Makes [`ArtifactStore::release`] fail.
    pub fn fail_release(
        &self,
        calls: impl RangeBounds<u64> + Send + 'static,
        error: impl Fn() -> RootError + Send + 'static,
    ) {
        self.faults.release.add(calls, error);
    }

    /// Makes [`ArtifactStore::collect`] fail.
    pub fn fail_collect(
        &self,
        calls: impl RangeBounds<u64> + Send + 'static,
        error: impl Fn() -> CollectError + Send + 'static,
    ) {
        self.faults.collect.add(calls, error);
    }

    /// How often [`ArtifactStore::publish`] was called.
    pub fn publishes(&self) -> u64 {
        self.faults.publish.calls()
    }

    /// How often [`ArtifactStore::open`] was called.
    pub fn opens(&self) -> u64 {
        self.faults.open.calls()
    }

    /// How often [`Guard::retain`] was called.
    pub fn retains(&self) -> u64 {
        self.faults.retain.calls()
    }

    fn guard(&self, inner: Box<dyn Guard>) -> Box<dyn Guard> {
        Box::new(FaultyGuard { inner, faults: Arc::clone(&self.faults) })
    }
}

#[async_trait]
impl ArtifactStore for FaultyStore {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn captures(&self) -> &CaptureRoot {
        self.inner.captures()
    }

    async fn publish(&self, publication: Publication) -> Result<Box<dyn Guard>, PublishError> {
        self.faults.publish.call()?;
        Ok(self.guard(self.inner.publish(publication).await?))
    }

    async fn borrow(&self, digest: Digest) -> Result<Box<dyn Guard>, OpenError> {
        self.faults.borrow.call()?;
        Ok(self.guard(self.inner.borrow(digest).await?))
    }

    async fn open(&self, uri: &ArtifactUri) -> Result<Arc<dyn ArtifactReader>, OpenError> {
        self.faults.open.call()?;
        let inner = self.inner.open(uri).await?;
        Ok(Arc::new(FaultyReader { inner, faults: Arc::clone(&self.faults) }))
    }

    async fn has(&self, digests: &[Digest]) -> Result<Vec<bool>, OpenError> {
        self.faults.has.call()?;
        self.inner.has(digests).await
    }

    async fn release(&self, owner: &SessionId, call: Option<&CallId>) -> Result<(), RootError> {
        self.faults.release.call()?;
        self.inner.release(owner, call).await
    }

    async fn collect(&self, options: CollectOptions) -> Result<CollectReport, CollectError> {
        self.faults.collect.call()?;
        self.inner.collect(options).await
    }
}

#[derive(Debug)]
struct FaultyGuard {
    inner: Box<dyn Guard>,
    faults: Arc<StoreFaults>,
}

#[async_trait]
impl Guard for FaultyGuard {
    fn digests(&self) -> &[Digest] {
        self.inner.digests()
    }

    async fn retain(&self, owner: &SessionId, call: &CallId) -> Result<(), RootError> {
        self.faults.retain.call()?;
        self.inner.retain(owner, call).await
    }

    async fn release(self: Box<Self>) {
        self.inner.release().await;
    }

    fn as_any(&self) -> &dyn Any {
        self.inner.as_any()
    }
}

#[derive(Debug)]
struct FaultyReader {
    inner: Arc<dyn ArtifactReader>,
    faults: Arc<StoreFaults>,
}

#[async_trait]
impl ArtifactReader for FaultyReader {
    fn digest(&self) -> Digest {
        self.inner.digest()
    }

    fn bytes(&self) -> u64 {
        self.inner.bytes()
    }

    fn lines(&self) -> u64 {
        self.inner.lines()
    }

    async fn read(&self, range: Range<u64>) -> Result<Bytes, ReadError> {
        self.faults.read.call()?;
        self.inner.read(range).await
    }

    async fn line_start(&self, line: u64) -> Result<u64, ReadError> {
        self.faults.read.call()?;
        self.inner.line_start(line).await
    }
}
