//! The asynchronous face of pages is the blocking one.

use std::ops::Range;

use artifacts::hash::digest_of;
use artifacts::{ArtifactReader, BlockingReader, PageRequest, ReadError, page, page_blocking};
use async_trait::async_trait;
use bytes::Bytes;
use output_contract::Digest;

#[derive(Debug)]
struct Memory(Bytes);

impl BlockingReader for Memory {
    fn bytes(&self) -> u64 {
        self.0.len() as u64
    }

    fn lines(&self) -> u64 {
        self.0.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count() as u64
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes, ReadError> {
        Ok(self.0.slice(range.start as usize..range.end as usize))
    }

    fn line_start(&self, line: u64) -> Result<u64, ReadError> {
        let lines = self.0.split_inclusive(|byte| *byte == b'\n').take(line as usize);
        Ok(lines.map(<[u8]>::len).sum::<usize>() as u64)
    }
}

#[async_trait]
impl ArtifactReader for Memory {
    fn digest(&self) -> Digest {
        digest_of(&self.0)
    }

    fn bytes(&self) -> u64 {
        BlockingReader::bytes(self)
    }

    fn lines(&self) -> u64 {
        BlockingReader::lines(self)
    }

    async fn read(&self, range: Range<u64>) -> Result<Bytes, ReadError> {
        BlockingReader::read(self, range)
    }

    async fn line_start(&self, line: u64) -> Result<u64, ReadError> {
        BlockingReader::line_start(self, line)
    }
}

#[tokio::test]
async fn both_faces_cut_the_same_pages() {
    let lines: String = (0..40_000).map(|n| format!("line {n}\n")).collect();
    let memory = Memory(lines.into());
    for (offset, limit, byte_offset) in [
        (0, None, 0),
        (7, Some(3), 2),
        (39_999, None, 11),
        (40_000, None, 0),
        (5, Some(0), 0),
        (5, None, 99),
    ] {
        let request = PageRequest { offset, limit, byte_offset, page_bytes: 100_000 };
        let asynchronous = page(&memory, &request).await.map_err(|error| error.to_string());
        let blocking = page_blocking(&memory, &request).map_err(|error| error.to_string());
        assert_eq!(asynchronous, blocking);
    }
}
