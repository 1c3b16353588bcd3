//! The store that a program opens.

use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use artifacts::fs::Fs;
use artifacts::{
    CaptureRoot, CollectError, CollectOptions, CollectReport, Durability, FileError, OpenError,
    Publication, PublishError, RetainedCall, RootError,
};
use camino::Utf8Path;
use output_contract::limits::DEFAULT_STORE_GRACE_SECS;
use output_contract::{ArtifactUri, CallId, Digest, SessionId, Timestamp};

use crate::artifact::{self, StoredArtifact};
use crate::error::{NewerFormat, StoreError};
use crate::guard::StoreGuard;
use crate::layout::{Layout, STORE_FORMAT};
use crate::lease::LeaseBook;
use crate::lock::Collector;
use crate::retention::{self, RetentionLimits};
use crate::roots::OwnerRoots;
use crate::stat::StoreStat;
use crate::verify::{VerifyProgress, VerifyReport};
use crate::{borrow, collect, expired, publish, stat, verify};

/// How a store is opened.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// What it survives.
    pub durability: Durability,
    /// How long a collection leaves alone what is referred to by nothing.
    pub grace: Duration,
    /// Open it on NFS, SMB, 9p, virtiofs or FUSE too, where locks and links
    /// may mean less than the store needs.
    pub allow_network_fs: bool,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            durability: Durability::Durable,
            grace: Duration::from_secs(DEFAULT_STORE_GRACE_SECS),
            allow_network_fs: false,
        }
    }
}

/// An artifact store in one local directory, shared by many processes.
///
/// It blocks. Clones are the same open store; each process opens its own.
#[derive(Debug, Clone)]
pub struct LocalStore {
    inner: Arc<Inner>,
}

/// What all parts of an open store share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) layout: Layout,
    pub(crate) options: StoreOptions,
    pub(crate) captures: CaptureRoot,
    pub(crate) leases: LeaseBook,
}

impl Inner {
    /// A newer format is read and not written.
    pub(crate) fn check_writable(&self) -> Result<(), NewerFormat> {
        let format = self.layout.format;
        if format > STORE_FORMAT {
            return Err(NewerFormat { format, supported: STORE_FORMAT });
        }
        Ok(())
    }

    fn check_roots_writable(&self) -> Result<(), RootError> {
        self.check_writable().map_err(|NewerFormat { format, supported }| RootError::NewerFormat {
            format,
            supported,
        })
    }

    /// Records that `call` retains `digests`.
    pub(crate) fn retain(
        &self,
        owner: &SessionId,
        call: &CallId,
        digests: &[Digest],
    ) -> Result<(), RootError> {
        self.check_roots_writable()?;
        self.layout.roots.retain(owner, call, digests)
    }
}

impl LocalStore {
    /// Opens the store in the directory `root`, and makes one where there is
    /// none or an empty directory.
    ///
    /// # Errors
    /// [`StoreError`] where the directory is someone else's, holds something
    /// else, lies on a network file system, or cannot be read or made.
    pub fn open(root: &Utf8Path, options: StoreOptions) -> Result<Self, StoreError> {
        Self::open_by(root, options, &Fs::real())
    }

    /// Opens a store by another way to the disk, one that fails or takes notes.
    /// For tests only: it may change with the store.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    #[cfg(feature = "fault-injection")]
    #[doc(hidden)]
    pub fn open_on(root: &Utf8Path, options: StoreOptions, fs: &Fs) -> Result<Self, StoreError> {
        Self::open_by(root, options, fs)
    }

    fn open_by(root: &Utf8Path, options: StoreOptions, fs: &Fs) -> Result<Self, StoreError> {
        let root =
            camino::absolute_utf8(root).map_err(|source| FileError::new("find", root, source))?;
        let layout = Layout::open(&root, options.durability, options.allow_network_fs, fs)?;
        let captures = CaptureRoot::new(root.join("captures"), options.durability).on(fs.clone());
        Ok(Self {
            inner: Arc::new(Inner { layout, options, captures, leases: LeaseBook::default() }),
        })
    }

    /// The id that the store was given when it was made.
    pub fn id(&self) -> &str {
        &self.inner.layout.store_id
    }

    /// The options that it was opened with.
    pub fn options(&self) -> &StoreOptions {
        &self.inner.options
    }

    /// Where captures for this store are made.
    pub fn captures(&self) -> &CaptureRoot {
        &self.inner.captures
    }

    /// Stores sealed captures of [`captures`](Self::captures), and the manifest
    /// that names them. The captures stay as they are and can be removed once
    /// the guard has been retained.
    ///
    /// # Errors
    /// [`PublishError`]; then nothing is stored that a collection would not
    /// remove.
    pub fn publish(&self, publication: &Publication) -> Result<StoreGuard, PublishError> {
        publish::publish(&self.inner, publication)
    }

    /// Protects what is stored, by digest alone: a blob, or a manifest with its
    /// streams. Checks that all is there and has its size; the bytes are
    /// verified when they are read.
    ///
    /// # Errors
    /// [`OpenError`] where something is missing, torn or unreadable.
    pub fn borrow(&self, digest: Digest) -> Result<StoreGuard, OpenError> {
        borrow::borrow(&self.inner, digest).map_err(|error| expired::explain(&self.inner, error))
    }

    /// Opens what `uri` names: a blob or a manifest as they are, or a stream of
    /// a manifest.
    ///
    /// # Errors
    /// [`OpenError`] tells unknown, expired, not named, unknown stream and corrupt
    /// apart.
    pub fn open_artifact(&self, uri: &ArtifactUri) -> Result<StoredArtifact, OpenError> {
        artifact::open(&self.inner, uri).map_err(|error| expired::explain(&self.inner, error))
    }

    /// Which of these are stored, blobs or manifests, in their order. It looks
    /// at names and opens nothing.
    ///
    /// # Errors
    /// [`OpenError`] where a directory cannot be read.
    pub fn has(&self, digests: &[Digest]) -> Result<Vec<bool>, OpenError> {
        let Layout { blobs, manifests, .. } = &self.inner.layout;
        let is_stored = |digest| -> Result<bool, OpenError> {
            Ok(blobs.stat(digest)?.is_some() || manifests.stat(digest)?.is_some())
        };
        digests.iter().map(is_stored).collect()
    }

    /// Releases one call of an owner, or, without one, the whole owner. What
    /// is not retained is released already.
    ///
    /// # Errors
    /// [`RootError`]; nothing is released then.
    pub fn release(&self, owner: &SessionId, call: Option<&CallId>) -> Result<(), RootError> {
        self.inner.check_roots_writable()?;
        self.inner.layout.roots.release(owner, call)
    }

    /// All calls that retain something, by owner.
    ///
    /// # Errors
    /// [`RootError`] where an owner's record cannot be read.
    pub fn retained(&self) -> Result<Vec<RetainedCall>, RootError> {
        let mut calls = Vec::new();
        for name in self.inner.layout.roots.names()? {
            calls.extend(
                self.inner.layout.roots.read(&name)?.into_iter().flat_map(OwnerRoots::into_calls),
            );
        }
        calls.sort_by(|a, b| (&a.owner, a.at, &a.call).cmp(&(&b.owner, b.at, &b.call)));
        Ok(calls)
    }

    /// The owners that retain something and whose records can be read. What is
    /// damaged hides nobody else.
    ///
    /// # Errors
    /// [`RootError`] where the records cannot be listed.
    pub fn owners(&self) -> Result<Vec<SessionId>, RootError> {
        let roots = &self.inner.layout.roots;
        let read = |name: &String| roots.read(name).ok().flatten();
        let found = roots
            .names()?
            .iter()
            .filter_map(read)
            .filter(|roots| !roots.is_empty())
            .collect::<Vec<_>>();
        Ok(found.iter().map(|roots| roots.owner().clone()).collect())
    }

    /// The calls of one owner that retain something.
    ///
    /// # Errors
    /// [`RootError`] where the owner's record cannot be read.
    pub fn retained_by(&self, owner: &SessionId) -> Result<Vec<RetainedCall>, RootError> {
        let roots = self.inner.layout.roots.read_owner(owner)?;
        Ok(roots.into_iter().flat_map(OwnerRoots::into_calls).collect())
    }

    /// What the store holds, in numbers. Damaged roots are left out and named.
    ///
    /// # Errors
    /// [`FileError`] where a directory cannot be read.
    pub fn stat(&self) -> Result<StoreStat, FileError> {
        stat::stat(&self.inner)
    }

    /// Checks every byte of everything that is stored, on so many threads. A
    /// damaged sidecar is made anew; a damaged blob or manifest is put aside,
    /// and is corrupt until the same bytes are published again. `progress` is
    /// called from all threads.
    ///
    /// # Errors
    /// [`FileError`] where the store cannot be listed, or a damaged file cannot
    /// be put aside.
    pub fn verify(
        &self,
        threads: NonZero<usize>,
        progress: &(dyn Fn(VerifyProgress) + Sync),
    ) -> Result<VerifyReport, FileError> {
        verify::verify(&self.inner, threads, progress)
    }

    /// Lets go of calls past the limits, those that were used longest ago
    /// first, and returns them. None goes of which something is leased, or that
    /// is running. In a `dry_run` they stay. Calls in roots that cannot be read
    /// stay and are not counted.
    ///
    /// # Errors
    /// [`CollectError`] where the store cannot be read or a release cannot be
    /// recorded; what was released before stays so.
    pub fn retire(
        &self,
        limits: &RetentionLimits,
        now: Timestamp,
        dry_run: bool,
    ) -> Result<Vec<RetainedCall>, CollectError> {
        let planned = retention::retire(&self.inner, limits, now)?;
        if !dry_run {
            for call in &planned {
                let released = self.release(&call.owner, Some(&call.call));
                released.map_err(|error| CollectError::Backend(Box::new(error)))?;
            }
        }
        Ok(planned)
    }

    /// Whether it is time to collect again: nobody collects right now, and
    /// nobody did or was told to for the time `every`. Who is told so is the
    /// only one.
    ///
    /// # Errors
    /// [`FileError`] where the lock cannot be taken.
    pub fn is_collection_due(&self, now: Timestamp, every: Duration) -> Result<bool, FileError> {
        let Some(collector) = Collector::try_take(&self.inner.layout.locks)? else {
            return Ok(false);
        };
        let next = collector.last()?.changed.saturating_add(every);
        let due = next <= Duration::from_millis(now.0);
        if due {
            collector.clock()?;
        }
        Ok(due)
    }

    /// Removes what nothing refers to.
    ///
    /// # Errors
    /// [`CollectError`] where any root, lease or manifest cannot be read: then
    /// nothing is removed.
    pub fn collect(&self, options: &CollectOptions) -> Result<CollectReport, CollectError> {
        collect::collect(&self.inner, options)
    }
}
