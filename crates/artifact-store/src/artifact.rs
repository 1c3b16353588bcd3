//! Reading what is stored: nothing is served that was not verified.
//!
//! Small artifacts are read and hashed whole. Of a large one, only the blocks
//! that are served are hashed, each from the chaining value that its sidecar
//! keeps for the block before it. Where the two disagree, the whole artifact is
//! hashed to find out which of them is damaged: a damaged sidecar is made anew,
//! a damaged artifact is an error.

mod blocks;
mod index;

use std::ops::Range;
use std::sync::Arc;

use artifacts::hash::{ContentFacts, count_newlines, digest_of};
use artifacts::sidecar::SIDECAR_MIN_BYTES;
use artifacts::{
    BlockingReader, MAX_MANIFEST_BYTES, Manifest, OpenError, Page, PageError, PageRequest,
    ReadError, page_blocking,
};
use bytes::Bytes;
use output_contract::{ArtifactUri, Digest};

use self::blocks::Blocks;
pub(crate) use self::blocks::{agrees, rebuild};
use crate::local::Inner;
use crate::shelf::Shelf;
use crate::tree::File;

/// One stored artifact, open.
#[derive(Debug)]
pub struct StoredArtifact {
    facts: Facts,
    content: Content,
}

/// What is known of all of an artifact.
#[derive(Debug)]
struct Facts {
    digest: Digest,
    bytes: u64,
    lines: u64,
}

impl Facts {
    fn of_verified(digest: Digest, bytes: &[u8]) -> Self {
        let unterminated = !bytes.is_empty() && !bytes.ends_with(b"\n");
        let lines = count_newlines(bytes) + u64::from(unterminated);
        Self { digest, bytes: bytes.len() as u64, lines }
    }
}

impl From<ContentFacts> for Facts {
    fn from(facts: ContentFacts) -> Self {
        Self { digest: facts.digest, bytes: facts.bytes, lines: facts.lines() }
    }
}

#[derive(Debug)]
enum Content {
    /// All of it, verified.
    Whole(Bytes),
    /// Verified block by block.
    Blocks(Blocks),
}

impl StoredArtifact {
    /// The digest of the bytes.
    pub fn digest(&self) -> Digest {
        self.facts.digest
    }

    /// How many bytes there are.
    pub fn bytes(&self) -> u64 {
        self.facts.bytes
    }

    /// How many lines there are; an unterminated rest is one more.
    pub fn lines(&self) -> u64 {
        self.facts.lines
    }

    /// Reads exactly `range`, verified.
    ///
    /// # Errors
    /// [`ReadError::OutOfRange`], [`ReadError::Corrupt`], or a failed file
    /// operation.
    pub fn read(&self, range: Range<u64>) -> Result<Bytes, ReadError> {
        if range.start > range.end || range.end > self.facts.bytes {
            return Err(ReadError::OutOfRange { range, bytes: self.facts.bytes });
        }
        match &self.content {
            Content::Whole(bytes) => Ok(bytes.slice(range.start as usize..range.end as usize)),
            Content::Blocks(blocks) => blocks.read(range),
        }
    }

    /// The position of the first byte of the zero-based `line`; the end of the
    /// artifact for a line past the last.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn line_start(&self, line: u64) -> Result<u64, ReadError> {
        if line == 0 {
            return Ok(0);
        }
        if line >= self.lines() {
            return Ok(self.facts.bytes);
        }
        match &self.content {
            Content::Whole(bytes) => Ok(blocks::after_newline(bytes, line)),
            Content::Blocks(blocks) => blocks.line_start(line),
        }
    }

    /// Cuts a page.
    ///
    /// # Errors
    /// As for [`artifacts::page()`].
    pub fn page(&self, request: &PageRequest) -> Result<Page, PageError> {
        page_blocking(self, request)
    }
}

impl BlockingReader for StoredArtifact {
    fn bytes(&self) -> u64 {
        self.bytes()
    }

    fn lines(&self) -> u64 {
        self.lines()
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes, ReadError> {
        self.read(range)
    }

    fn line_start(&self, line: u64) -> Result<u64, ReadError> {
        self.line_start(line)
    }
}

/// Opens what `uri` names.
pub(crate) fn open(store: &Arc<Inner>, uri: &ArtifactUri) -> Result<StoredArtifact, OpenError> {
    let ArtifactUri { digest, stream } = uri;
    let Some(stream) = stream else {
        return match open_blob(store, digest)? {
            Some(blob) => Ok(blob),
            None => open_manifest(store, digest)?.ok_or(OpenError::Unknown { digest: *digest }),
        };
    };
    let Some(manifest) = read_manifest(store, digest)? else {
        return Err(match store.layout.blobs.stat(digest)? {
            Some(_) => OpenError::NotNamed { digest: *digest },
            None => OpenError::Unknown { digest: *digest },
        });
    };
    let Some(named) = manifest.stream(stream) else {
        let declared = manifest.streams().iter().map(|stream| stream.name.clone()).collect();
        return Err(OpenError::UnknownStream { stream: stream.clone(), declared });
    };
    open_blob(store, &named.sha256)?.ok_or(OpenError::Unknown { digest: named.sha256 })
}

/// Reads the manifest called `digest`, verified; `None` where there is none.
pub(crate) fn read_manifest(store: &Inner, digest: &Digest) -> Result<Option<Manifest>, OpenError> {
    let Some(stored) = open_manifest(store, digest)? else { return Ok(None) };
    let bytes = stored.read(0..stored.bytes())?;
    let manifest = Manifest::decode(&bytes)
        .map_err(|source| OpenError::Manifest { digest: *digest, source })?;
    Ok(Some(manifest))
}

fn open_manifest(store: &Inner, digest: &Digest) -> Result<Option<StoredArtifact>, OpenError> {
    let Some((file, bytes)) = open_file(&store.layout.manifests, digest)? else { return Ok(None) };
    if bytes > MAX_MANIFEST_BYTES {
        return Err(OpenError::Corrupt { digest: *digest, range: 0..bytes });
    }
    read_whole(&file, bytes, digest).map(Some)
}

fn open_blob(store: &Arc<Inner>, digest: &Digest) -> Result<Option<StoredArtifact>, OpenError> {
    let Some((file, bytes)) = open_file(&store.layout.blobs, digest)? else { return Ok(None) };
    if bytes <= SIDECAR_MIN_BYTES {
        return read_whole(&file, bytes, digest).map(Some);
    }
    let (facts, blocks) = Blocks::open(store, file, digest)?;
    Ok(Some(StoredArtifact { facts: facts.into(), content: Content::Blocks(blocks) }))
}

/// A file at an address, and its size in bytes; anything else there, such as a
/// symlink or a directory, is damage.
fn open_file(shelf: &Shelf, digest: &Digest) -> Result<Option<(File, u64)>, OpenError> {
    let opened = match shelf.open(digest) {
        Ok(None) => return Ok(None),
        Ok(Some(file)) => file.stat().map(|stat| (stat, Some(file))),
        // A symlink or a socket cannot even be opened.
        Err(error) => {
            shelf.stat(digest)?.filter(|it| !it.is_file).map(|it| (it, None)).ok_or(error)
        }
    };
    match opened? {
        (stat, Some(file)) if stat.is_file => Ok(Some((file, stat.bytes))),
        (stat, _) => Err(OpenError::Corrupt { digest: *digest, range: 0..stat.bytes }),
    }
}

fn read_whole(file: &File, expected: u64, digest: &Digest) -> Result<StoredArtifact, OpenError> {
    // What it has more than that, or less, changes its digest.
    let mut bytes = vec![0; expected as usize + 1];
    let filled = file.read_at(&mut bytes, 0)?;
    bytes.truncate(filled);
    if digest_of(&bytes) != *digest {
        return Err(OpenError::Corrupt { digest: *digest, range: 0..filled as u64 });
    }
    let facts = Facts::of_verified(*digest, &bytes);
    Ok(StoredArtifact { facts, content: Content::Whole(bytes.into()) })
}
