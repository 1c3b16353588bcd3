//! The seam between what makes or reads artifacts and where they are kept.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use output_contract::{ArtifactUri, CallId, Digest, SessionId, Timestamp};

use crate::capture::{CaptureRoot, SealedCapture};
use crate::error::{CollectError, OpenError, PublishError, ReadError, RootError};
use crate::manifest::Manifest;

/// A place that keeps artifacts until nothing refers to them.
///
/// - **Atomicity.** After [`publish`](Self::publish) returns, every blob and
///   the manifest can be opened; before, or where it fails, the manifest
///   cannot. Nothing partial is ever at a final address.
/// - **Ordering.** What a guard names is kept while the guard lives. What was
///   [retained](Guard::retain) through it is kept until it is released, also
///   after the guard is gone and across crashes.
/// - **Cancellation.** A dropped `publish` finishes in the background and then
///   releases what it published. Dropping any other future has no effect on
///   what is stored.
/// - **Idempotence.** Publishing the same bytes twice is one blob; retaining
///   the same call twice is one root; releasing what is not there succeeds.
/// - Callers must not assume that a digest can be opened because it once
///   could, unless they hold a guard or a root for it.
#[async_trait]
pub trait ArtifactStore: Debug + Send + Sync {
    /// What this store does beyond the others.
    fn capabilities(&self) -> Capabilities;

    /// Where captures for this store are made: always a local directory.
    fn captures(&self) -> &CaptureRoot;

    /// Stores sealed captures, and the manifest that names them.
    ///
    /// # Errors
    /// [`PublishError`]; the captures are left as they were.
    async fn publish(&self, publication: Publication) -> Result<Box<dyn Guard>, PublishError>;

    /// Protects what is already stored, by digest alone: a blob, or a manifest
    /// with its streams.
    ///
    /// # Errors
    /// [`OpenError`] where it is not there, not whole, or not readable.
    async fn borrow(&self, digest: Digest) -> Result<Box<dyn Guard>, OpenError>;

    /// Opens what `uri` names: a blob or a manifest as they are, or a stream
    /// of a manifest.
    ///
    /// # Errors
    /// [`OpenError`] tells unknown, expired, not named, unknown stream and
    /// corrupt apart.
    async fn open(&self, uri: &ArtifactUri) -> Result<Arc<dyn ArtifactReader>, OpenError>;

    /// Which of these are stored, blobs or manifests, in their order. It looks
    /// at names and verifies nothing, so that many can be asked for at once.
    ///
    /// # Errors
    /// [`OpenError`] where that cannot be told of one of them.
    async fn has(&self, digests: &[Digest]) -> Result<Vec<bool>, OpenError> {
        let mut stored = Vec::with_capacity(digests.len());
        for &digest in digests {
            stored.push(match self.open(&ArtifactUri::bare(digest)).await {
                Ok(_) | Err(OpenError::Corrupt { .. } | OpenError::Manifest { .. }) => true,
                Err(OpenError::Unknown { .. } | OpenError::Expired { .. }) => false,
                Err(error) => return Err(error),
            });
        }
        Ok(stored)
    }

    /// Releases one call of an owner, or, without one, the whole owner.
    ///
    /// # Errors
    /// [`RootError`] where that could not be recorded; then nothing is released.
    async fn release(&self, owner: &SessionId, call: Option<&CallId>) -> Result<(), RootError>;

    /// Removes what nothing refers to.
    ///
    /// # Errors
    /// [`CollectError`] where any root, lease or manifest cannot be read: then
    /// nothing is removed.
    async fn collect(&self, options: CollectOptions) -> Result<CollectReport, CollectError>;
}

/// How stores differ, beside where they keep things.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// What was collected is [`OpenError::Expired`] for a while, and not
    /// [`OpenError::Unknown`] at once.
    pub tombstones: bool,
}

impl Capabilities {
    /// A store that remembers for a while what it collected.
    #[must_use]
    pub const fn with_tombstones(mut self) -> Self {
        self.tombstones = true;
        self
    }
}

/// What is published together, under one guard.
#[derive(Debug, Default)]
pub struct Publication {
    /// The blobs: streams, attachments, stored values.
    pub blobs: Vec<Arc<SealedCapture>>,
    /// The manifest of named streams, each of which is among `blobs`.
    pub manifest: Option<Manifest>,
}

/// Protection of stored artifacts while someone works with them.
///
/// Dropping it releases the protection, as [`release`](Self::release) does
/// without waiting.
#[async_trait]
pub trait Guard: Debug + Send + Sync {
    /// The digests that this guard names: the manifest first, where there is
    /// one, then the blobs in order.
    fn digests(&self) -> &[Digest];

    /// Keeps everything that this guard names for a call, until the call or
    /// its owner is released. Durable when it returns, where the store is.
    ///
    /// # Errors
    /// [`RootError`]; nothing is retained then.
    async fn retain(&self, owner: &SessionId, call: &CallId) -> Result<(), RootError>;

    /// Ends the protection. What was retained stays.
    async fn release(self: Box<Self>);

    /// For a backend that commits its roots together with an event.
    fn as_any(&self) -> &dyn std::any::Any;
}

/// Verified access to one stored artifact.
///
/// Every byte it returns was checked against the artifact's digest, from the
/// same buffer. A page at any offset costs the page.
#[async_trait]
pub trait ArtifactReader: Debug + Send + Sync {
    /// The digest of the bytes.
    fn digest(&self) -> Digest;

    /// How many bytes there are.
    fn bytes(&self) -> u64;

    /// How many lines there are; an unterminated rest is one more.
    fn lines(&self) -> u64;

    /// Reads exactly `range`, which must lie within the artifact.
    ///
    /// # Errors
    /// [`ReadError::Corrupt`] where the bytes do not have the digest; nothing
    /// is returned of them then.
    async fn read(&self, range: Range<u64>) -> Result<Bytes, ReadError>;

    /// The position of the first byte of the zero-based `line`; the end of the
    /// artifact for a line past the last.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    async fn line_start(&self, line: u64) -> Result<u64, ReadError>;
}

/// How a collection is done.
#[derive(Debug, Clone)]
pub struct CollectOptions {
    /// Leave alone what is younger than this and referred to by nothing.
    pub grace: Duration,
    /// Report what would be removed and remove nothing.
    pub dry_run: bool,
    /// Remove even most of what is stored where its roots were lost instead of
    /// released ([`CollectError::RootsLost`]).
    pub force: bool,
}

/// What a collection found and did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CollectReport {
    /// Blobs and manifests that something refers to.
    pub live: u64,
    /// Blobs and manifests removed, or to be removed in a dry run.
    pub removed: u64,
    /// Their size, in bytes.
    pub removed_bytes: u64,
    /// Those left alone because they are younger than the grace.
    pub young: u64,
    /// Those of the removed whose roots were lost instead of released.
    pub unexplained: u64,
    /// Captures whose process died before it could describe them, removed.
    pub removed_captures: u64,
    /// Another collection was running; nothing was done.
    pub busy: bool,
}

/// Calls that an owner retains, for listings and recovery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetainedCall {
    /// The owner.
    pub owner: SessionId,
    /// The call.
    pub call: CallId,
    /// What it retains.
    pub digests: Vec<Digest>,
    /// When it was recorded.
    pub at: Timestamp,
}
