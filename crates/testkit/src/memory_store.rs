//! An artifact store in memory, with everything that a store must mean.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use artifacts::{
    ArtifactReader, ArtifactStore, Capabilities, CaptureRoot, CollectError, CollectOptions,
    CollectReport, Durability, FileError, FileId, Guard, OpenError, Publication, PublishError,
    RootError, SealedCapture,
};
use async_trait::async_trait;
use bytes::Bytes;
use camino::{Utf8Path, Utf8PathBuf};
use output_contract::{ArtifactUri, CallId, Digest, SessionId};
use tempfile::TempDir;

use crate::memory_guard::MemoryGuard;
use crate::memory_reader::MemoryReader;
use crate::memory_state::State;

/// Keeps artifacts in memory; only captures are files, in a directory of their
/// own that goes away with the last clone. Clones are the same store.
///
/// Every operation ends at its first poll, so that none can be dropped midway.
#[derive(Debug, Clone)]
pub struct MemoryStore {
    shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    state: Mutex<State>,
    captures: CaptureRoot,
    home: Utf8PathBuf,
    _dir: TempDir,
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryStore {
    /// An empty store.
    ///
    /// # Errors
    /// Where the directory for captures cannot be made.
    pub fn new() -> io::Result<Self> {
        let dir = TempDir::with_prefix("testkit-")?;
        let home = Utf8PathBuf::try_from(dir.path().to_owned()).map_err(io::Error::other)?;
        let captures = CaptureRoot::new(home.join("captures"), Durability::Fast);
        let state = Mutex::default();
        Ok(Self { shared: Arc::new(Shared { state, captures, home, _dir: dir }) })
    }

    /// The bytes under this digest: a manifest's or a blob's.
    pub fn stored(&self, digest: Digest) -> Option<Bytes> {
        self.shared.lock().bytes(digest)
    }

    /// How many blobs and manifests there are.
    pub fn len(&self) -> usize {
        self.shared.lock().len()
    }

    /// Whether nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What an owner retains, by call.
    pub fn roots(&self, owner: &SessionId) -> BTreeMap<CallId, Vec<Digest>> {
        self.shared.lock().roots.get(owner).cloned().unwrap_or_default()
    }

    /// How many guards live.
    pub fn guards(&self) -> usize {
        self.shared.lock().guards.len()
    }

    /// Ends the protection of every guard there is, as a store does whose
    /// leases were taken from it. Their `retain` fails from now on.
    pub fn lose_leases(&self) {
        self.shared.lock().guards.clear();
    }

    /// Changes a byte of what is stored under this digest, and says whether
    /// there was one. Readers that are open already keep what they had.
    pub fn corrupt(&self, digest: Digest) -> bool {
        self.shared.lock().corrupt(digest)
    }

    fn guard(&self, state: &mut State, digests: Vec<Digest>) -> Box<dyn Guard> {
        let id = state.protect(digests.clone());
        Box::new(MemoryGuard::new(Arc::clone(&self.shared), id, digests))
    }

    fn remove_orphans(&self, options: &CollectOptions) -> Result<u64, CollectError> {
        let now = file_system_now(&self.shared.home.join("now"))
            .map_err(|error| FileError::new("look at the clock of", &self.shared.home, error))?;
        let before = now.saturating_sub(options.grace);
        Ok(self.shared.captures.remove_orphans(before, options.dry_run)?)
    }
}

#[async_trait]
impl ArtifactStore for MemoryStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn captures(&self) -> &CaptureRoot {
        &self.shared.captures
    }

    async fn publish(&self, publication: Publication) -> Result<Box<dyn Guard>, PublishError> {
        let Publication { blobs, manifest, .. } = publication;
        if let Some(manifest) = &manifest {
            for stream in manifest.streams() {
                let same = |blob: &Arc<SealedCapture>| {
                    (blob.digest(), blob.bytes(), blob.lines())
                        == (stream.sha256, stream.bytes, stream.lines)
                };
                if !blobs.iter().any(same) {
                    let (stream, digest) = (stream.name.clone(), stream.sha256);
                    return Err(PublishError::StreamNotPublished { stream, digest });
                }
            }
        }
        let contents = blobs
            .iter()
            .map(|blob| contents(blob, self.shared.captures.path()))
            .collect::<Result<Vec<_>, _>>()?;

        let mut state = self.shared.lock();
        let mut digests = Vec::new();
        digests.extend(manifest.map(|manifest| state.add_manifest(manifest)));
        for (blob, bytes) in blobs.iter().zip(contents) {
            state.add_blob(blob.digest(), bytes);
            digests.push(blob.digest());
        }
        Ok(self.guard(&mut state, digests))
    }

    async fn borrow(&self, digest: Digest) -> Result<Box<dyn Guard>, OpenError> {
        let mut state = self.shared.lock();
        let mut digests = vec![digest];
        if let Some(manifest) = state.manifest(digest) {
            digests.extend(manifest.streams().iter().map(|stream| stream.sha256));
        }
        for &digest in &digests {
            state.open(digest)?;
        }
        Ok(self.guard(&mut state, digests))
    }

    async fn open(&self, uri: &ArtifactUri) -> Result<Arc<dyn ArtifactReader>, OpenError> {
        let state = self.shared.lock();
        let digest = match &uri.stream {
            None => uri.digest,
            Some(name) => state.stream(uri.digest, name)?,
        };
        Ok(Arc::new(MemoryReader::new(digest, state.open(digest)?)))
    }

    async fn has(&self, digests: &[Digest]) -> Result<Vec<bool>, OpenError> {
        let state = self.shared.lock();
        Ok(digests.iter().map(|&digest| state.bytes(digest).is_some()).collect())
    }

    async fn release(&self, owner: &SessionId, call: Option<&CallId>) -> Result<(), RootError> {
        self.shared.lock().release(owner, call);
        Ok(())
    }

    async fn collect(&self, options: CollectOptions) -> Result<CollectReport, CollectError> {
        let removed_captures = self.remove_orphans(&options)?;
        let mut report = self.shared.lock().collect(&options);
        report.removed_captures = removed_captures;
        Ok(report)
    }
}

/// The bytes of a sealed capture, which must still be the file that was sealed.
fn contents(blob: &SealedCapture, captures: &Utf8Path) -> Result<Bytes, PublishError> {
    let path = blob.path();
    if !path.starts_with(captures) {
        return Err(PublishError::ForeignCapture { path: path.to_owned() });
    }
    let failed = |error| FileError::new("read", path, error);
    let metadata = fs_err::symlink_metadata(path).map_err(failed)?;
    let there = FileId { device: metadata.dev(), inode: metadata.ino() };
    let bytes = Bytes::from(fs_err::read(path).map_err(failed)?);
    let digest = artifacts::hash::digest_of(&bytes);
    if there != blob.file_id() || digest != blob.digest() {
        return Err(PublishError::CaptureChanged { path: path.to_owned() });
    }
    Ok(bytes)
}

/// What the file system takes for now, since the Unix epoch: captures are as
/// old as it says.
fn file_system_now(probe: &Utf8Path) -> io::Result<Duration> {
    fs_err::write(probe, "")?;
    let metadata = fs_err::metadata(probe)?;
    let seconds = Duration::from_secs(u64::try_from(metadata.mtime()).unwrap_or(0));
    Ok(seconds + Duration::from_nanos(u64::try_from(metadata.mtime_nsec()).unwrap_or(0)))
}
