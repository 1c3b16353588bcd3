//! A file that is complete, hashed and read-only.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use output_contract::Digest;
use rustix::fs::Stat;

use super::lock::CaptureLock;
use crate::durability::Durability;
use crate::hash::{ContentFacts, HashedContent};
use crate::sidecar::Sidecar;

/// A sealed file of a capture, ready to be published.
///
/// Made only by sealing, so that whoever holds one knows that the bytes at
/// [`path`](Self::path) have the [`digest`](Self::digest). It shares the
/// capture's lock.
#[derive(Debug)]
pub struct SealedCapture {
    facts: ContentFacts,
    sidecar: Option<Sidecar>,
    path: Utf8PathBuf,
    id: FileId,
    /// While it is open, no other file can have this one's inode.
    _file: OwnedFd,
    durability: Durability,
    _lock: Arc<CaptureLock>,
}

/// What tells one file from another, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId {
    /// The device it is on.
    pub device: u64,
    /// Its inode there.
    pub inode: u64,
}

impl FileId {
    pub(crate) fn of(stat: &Stat) -> Self {
        Self { device: stat.st_dev, inode: stat.st_ino }
    }
}

impl SealedCapture {
    pub(super) fn new(
        content: HashedContent,
        path: Utf8PathBuf,
        (id, file): (FileId, OwnedFd),
        durability: Durability,
        lock: Arc<CaptureLock>,
    ) -> Self {
        let (facts, sidecar) = (content.facts.clone(), Sidecar::of(content));
        Self { facts, sidecar, path, id, _file: file, durability, _lock: lock }
    }

    /// The digest of the bytes.
    pub const fn digest(&self) -> Digest {
        self.facts.digest
    }

    /// How many bytes there are.
    pub const fn bytes(&self) -> u64 {
        self.facts.bytes
    }

    /// How many lines there are; an unterminated rest is one more.
    pub const fn lines(&self) -> u64 {
        self.facts.lines()
    }

    /// All that hashing told about the bytes.
    pub const fn facts(&self) -> &ContentFacts {
        &self.facts
    }

    /// Where the file is.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// The index of its blocks, where it is large enough to have one.
    pub const fn sidecar(&self) -> Option<&Sidecar> {
        self.sidecar.as_ref()
    }

    /// The file that was sealed. No other file can have this identity while
    /// the sealed capture lives.
    pub const fn file_id(&self) -> FileId {
        self.id
    }

    /// What sealing promised: after [`Durability::Durable`], the bytes are on
    /// the medium.
    pub const fn durability(&self) -> Durability {
        self.durability
    }
}
