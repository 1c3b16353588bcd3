//! A store in memory.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use artifacts::{
    ArtifactReader, ArtifactStore, Capabilities, CaptureRoot, CollectError, CollectOptions,
    CollectReport, Durability, Guard, Manifest, ManifestStream, OpenError, Publication,
    PublishError, ReadError, RootError,
};
use async_trait::async_trait;
use bytes::Bytes;
use output_contract::{ArtifactUri, CallId, Digest, SessionId, StreamName};
use sha2::{Digest as _, Sha256};

#[derive(Debug)]
pub(crate) struct MemoryStore {
    captures: CaptureRoot,
    blobs: HashMap<Digest, Blob>,
    manifests: HashMap<Digest, Manifest>,
    opened: AtomicUsize,
}

#[derive(Debug, Clone)]
struct Blob {
    digest: Digest,
    content: Bytes,
    damage: Option<Range<u64>>,
}

impl MemoryStore {
    pub(crate) fn new() -> Self {
        Self {
            captures: CaptureRoot::new("/nowhere".into(), Durability::Fast),
            blobs: HashMap::new(),
            manifests: HashMap::new(),
            opened: AtomicUsize::new(0),
        }
    }

    /// Stores a single output.
    pub(crate) fn add(&mut self, content: impl Into<Bytes>) -> ArtifactUri {
        let content = content.into();
        let digest = Digest::from_bytes(Sha256::digest(&content).into());
        self.blobs.insert(digest, Blob { digest, content, damage: None });
        ArtifactUri::bare(digest)
    }

    /// Stores named streams; gives their manifest.
    pub(crate) fn add_named(&mut self, streams: &[(&str, &[u8])]) -> Digest {
        let streams = streams.iter().map(|(name, content)| {
            let sha256 = self.add(content.to_vec()).digest;
            let blob = &self.blobs[&sha256];
            ManifestStream {
                name: StreamName::new(name).unwrap(),
                sha256,
                bytes: blob.bytes(),
                lines: blob.lines(),
            }
        });
        let manifest = Manifest::new(streams.collect()).unwrap();
        let digest = self.add(manifest.encode()).digest;
        self.manifests.insert(digest, manifest);
        digest
    }

    /// Damages some bytes of a blob.
    pub(crate) fn damage(&mut self, digest: Digest, range: Range<u64>) {
        self.blobs.get_mut(&digest).unwrap().damage = Some(range);
    }

    /// How often something was to be opened.
    pub(crate) fn opened(&self) -> usize {
        self.opened.load(Ordering::Relaxed)
    }

    fn blob(&self, digest: Digest) -> Result<Arc<dyn ArtifactReader>, OpenError> {
        match self.blobs.get(&digest) {
            Some(blob) => Ok(Arc::new(blob.clone())),
            None => Err(OpenError::Unknown { digest }),
        }
    }
}

#[async_trait]
impl ArtifactStore for MemoryStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn captures(&self) -> &CaptureRoot {
        &self.captures
    }

    async fn publish(&self, _publication: Publication) -> Result<Box<dyn Guard>, PublishError> {
        Err(PublishError::Backend("this store is filled by hand".into()))
    }

    async fn borrow(&self, digest: Digest) -> Result<Box<dyn Guard>, OpenError> {
        Err(OpenError::Unknown { digest })
    }

    async fn open(&self, uri: &ArtifactUri) -> Result<Arc<dyn ArtifactReader>, OpenError> {
        self.opened.fetch_add(1, Ordering::Relaxed);
        let digest = uri.digest;
        let Some(stream) = &uri.stream else { return self.blob(digest) };
        self.blob(digest)?;
        let manifest = self.manifests.get(&digest).ok_or(OpenError::NotNamed { digest })?;
        match manifest.streams().iter().find(|found| found.name == *stream) {
            Some(found) => self.blob(found.sha256),
            None => Err(OpenError::UnknownStream {
                stream: stream.clone(),
                declared: manifest.streams().iter().map(|found| found.name.clone()).collect(),
            }),
        }
    }

    async fn release(&self, _owner: &SessionId, _call: Option<&CallId>) -> Result<(), RootError> {
        Ok(())
    }

    async fn collect(&self, _options: CollectOptions) -> Result<CollectReport, CollectError> {
        Ok(CollectReport::default())
    }
}

#[async_trait]
impl ArtifactReader for Blob {
    fn digest(&self) -> Digest {
        self.digest
    }

    fn bytes(&self) -> u64 {
        self.content.len() as u64
    }

    fn lines(&self) -> u64 {
        let unterminated = !self.content.is_empty() && !self.content.ends_with(b"\n");
        memchr::memchr_iter(b'\n', &self.content).count() as u64 + u64::from(unterminated)
    }

    async fn read(&self, range: Range<u64>) -> Result<Bytes, ReadError> {
        match &self.damage {
            Some(damage) if damage.start < range.end && range.start < damage.end => {
                Err(ReadError::Corrupt { digest: self.digest, range: damage.clone() })
            }
            _ => Ok(self.content.slice(range.start as usize..range.end as usize)),
        }
    }

    async fn line_start(&self, line: u64) -> Result<u64, ReadError> {
        let newlines = memchr::memchr_iter(b'\n', &self.content).map(|at| at as u64 + 1);
        Ok(std::iter::once(0).chain(newlines).nth(line as usize).unwrap_or(self.bytes()))
    }
}
