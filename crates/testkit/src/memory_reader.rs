//! Access to one artifact of a memory store.

use std::ops::Range;

use artifacts::{ArtifactReader, ReadError};
use async_trait::async_trait;
use bytes::Bytes;
use output_contract::Digest;

/// The bytes of an artifact, checked when it was opened, and where its lines
/// begin.
#[derive(Debug)]
pub(crate) struct MemoryReader {
    digest: Digest,
    bytes: Bytes,
    line_starts: Vec<usize>,
}

impl MemoryReader {
    pub(crate) fn new(digest: Digest, bytes: Bytes) -> Self {
        let after_newlines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let starts = std::iter::once(0).chain(after_newlines.map(|(index, _)| index + 1));
        let line_starts = starts.filter(|&start| start < bytes.len()).collect();
        Self { digest, bytes, line_starts }
    }
}

#[async_trait]
impl ArtifactReader for MemoryReader {
    fn digest(&self) -> Digest {
        self.digest
    }

    fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn lines(&self) -> u64 {
        self.line_starts.len() as u64
    }

    async fn read(&self, range: Range<u64>) -> Result<Bytes, ReadError> {
        let bytes = self.bytes();
        if range.start > range.end || range.end > bytes {
            return Err(ReadError::OutOfRange { range, bytes });
        }
        // Both fit: they are within the buffer's length.
        Ok(self.bytes.slice(range.start as usize..range.end as usize))
    }

    async fn line_start(&self, line: u64) -> Result<u64, ReadError> {
        let start = usize::try_from(line).ok().and_then(|line| self.line_starts.get(line));
        Ok(start.map_or(self.bytes(), |&start| start as u64))
    }
}
