//! The sidecar index of a large blob: block states on disk.
//!
//! All numbers are little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | magic `OVSPIDX` and a NUL |
//! | 4 | version, 1 |
//! | 4 | flags: 1 ends with newline, 2 valid UTF-8, 4 has NUL; others are 0 |
//! | 8 | total bytes |
//! | 8 | total newlines |
//! | 8 | longest line, in bytes without its newline |
//! | 32 | SHA-256 of the artifact |
//! | 8 | number of blocks |
//! | 40 each | per 64 KiB block: newlines before it (8), chaining value after it (32); the last one's is the digest |
//! | 32 | SHA-256 of all before it |
//!
//! History: version 1 is the first.
//!
//! A reader of one page reads the header and the few entries it needs, and
//! believes neither before the blocks it serves confirm them. It protects from
//! damage. Whoever can rewrite a blob and its sidecar alike is found by hashing
//! the whole blob, not by reading a page of it.

use std::ops::Range;

use output_contract::Digest;

use crate::hash::{self, BLOCK_BYTES, BlockState, ContentFacts, HashedContent};

/// Blobs of more bytes than this have a sidecar; others are verified whole.
pub const SIDECAR_MIN_BYTES: u64 = 256 * 1024;
/// The version that this crate writes.
pub const SIDECAR_VERSION: u32 = 1;
/// Length of the header, in bytes.
pub const HEADER_BYTES: usize = 80;
/// Length of one entry, in bytes.
pub const ENTRY_BYTES: usize = 40;

const MAGIC: [u8; 8] = *b"OVSPIDX\0";
const TRAILER_BYTES: usize = 32;
const ENDS_WITH_NEWLINE: u32 = 1;
const VALID_UTF8: u32 = 2;
const HAS_NUL: u32 = 4;

/// The number of blocks of content of `bytes` bytes.
pub const fn block_count(bytes: u64) -> u64 {
    bytes.div_ceil(BLOCK_BYTES)
}

/// The bytes of block `index` in content of `bytes` bytes.
pub fn block_range(index: u64, bytes: u64) -> Range<u64> {
    let start = index.saturating_mul(BLOCK_BYTES);
    start..start.saturating_add(BLOCK_BYTES).min(bytes)
}

/// Where entry `index` begins in a sidecar, in bytes.
pub const fn entry_offset(index: u64) -> u64 {
    HEADER_BYTES as u64 + index * ENTRY_BYTES as u64
}

/// The length of the sidecar of content of `bytes` bytes.
pub const fn sidecar_bytes(bytes: u64) -> u64 {
    entry_offset(block_count(bytes)) + TRAILER_BYTES as u64
}

/// A whole sidecar in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sidecar {
    facts: ContentFacts,
    blocks: Vec<BlockState>,
}

impl Sidecar {
    /// The sidecar of hashed content, where it is large enough to have one.
    pub fn of(content: HashedContent) -> Option<Self> {
        let HashedContent { facts, blocks } = content;
        (facts.bytes > SIDECAR_MIN_BYTES).then_some(Self { facts, blocks })
    }

    /// The facts in its header.
    pub const fn facts(&self) -> &ContentFacts {
        &self.facts
    }

    /// Its entries.
    pub fn blocks(&self) -> &[BlockState] {
        &self.blocks
    }

    /// The bytes on disk.
    pub fn encode(&self) -> Vec<u8> {
        let ContentFacts { digest, bytes, newlines, longest_line, .. } = self.facts;
        let capacity = HEADER_BYTES + self.blocks.len() * ENTRY_BYTES + TRAILER_BYTES;
        let mut out = Vec::with_capacity(capacity);
        out.extend(MAGIC);
        out.extend(SIDECAR_VERSION.to_le_bytes());
        out.extend(flags(&self.facts).to_le_bytes());
        for number in [bytes, newlines, longest_line] {
            out.extend(number.to_le_bytes());
        }
        out.extend(digest.as_bytes());
        out.extend((self.blocks.len() as u64).to_le_bytes());
        for block in &self.blocks {
            out.extend(block.newlines_before.to_le_bytes());
            out.extend(block.chaining_after);
        }
        out.extend(hash::digest_of(&out).as_bytes());
        out
    }

    /// Reads a whole sidecar and checks all that can be checked without the
    /// blob: header, length, its own digest, and that counts never go down.
    ///
    /// # Errors
    /// [`SidecarError`] says what is wrong.
    pub fn decode(bytes: &[u8]) -> Result<Self, SidecarError> {
        let header = bytes.first_chunk::<HEADER_BYTES>().ok_or(SidecarError::Length)?;
        let facts = decode_header(header)?;
        let (content, trailer) = bytes
            .len()
            .checked_sub(TRAILER_BYTES)
            .map(|end| bytes.split_at(end))
            .ok_or(SidecarError::Length)?;
        let (entries, rest) = content[HEADER_BYTES.min(content.len())..].as_chunks();
        if entries.len() as u64 != block_count(facts.bytes) || !rest.is_empty() {
            return Err(SidecarError::Length);
        }
        if hash::digest_of(content).as_bytes() != trailer {
            return Err(SidecarError::Digest);
        }
        let blocks: Vec<BlockState> = entries.iter().map(decode_entry).collect();
        let counts = blocks.iter().map(|block| block.newlines_before).chain([facts.newlines]);
        let last = blocks
            .last()
            .map_or(hash::digest_of(b""), |block| Digest::from_bytes(block.chaining_after));
        if !counts.is_sorted() || last != facts.digest {
            return Err(SidecarError::Inconsistent);
        }
        Ok(Self { facts, blocks })
    }
}

/// Reads the header of a sidecar. The number of blocks is that of the bytes.
///
/// # Errors
/// [`SidecarError`] where magic, version, flags or the number of blocks are
/// not as they must be.
pub fn decode_header(header: &[u8; HEADER_BYTES]) -> Result<ContentFacts, SidecarError> {
    let number = |at: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&header[at..at + 8]);
        u64::from_le_bytes(bytes)
    };
    if header[..8] != MAGIC {
        return Err(SidecarError::Magic);
    }
    let version = number(8) as u32;
    if version != SIDECAR_VERSION {
        return Err(SidecarError::Version { version });
    }
    let flags = (number(8) >> 32) as u32;
    let (bytes, newlines) = (number(16), number(24));
    let mut digest = [0; 32];
    digest.copy_from_slice(&header[40..72]);
    let facts = ContentFacts {
        digest: Digest::from_bytes(digest),
        bytes,
        newlines,
        longest_line: number(32),
        ends_with_newline: flags & ENDS_WITH_NEWLINE != 0,
        valid_utf8: flags & VALID_UTF8 != 0,
        has_nul: flags & HAS_NUL != 0,
    };
    let sane = flags & !(ENDS_WITH_NEWLINE | VALID_UTF8 | HAS_NUL) == 0
        && number(72) == block_count(bytes)
        && newlines <= bytes
        && facts.longest_line <= bytes;
    if sane { Ok(facts) } else { Err(SidecarError::Inconsistent) }
}

/// Reads one entry of a sidecar.
pub fn decode_entry(entry: &[u8; ENTRY_BYTES]) -> BlockState {
    let mut newlines = [0; 8];
    let mut chaining_after = [0; 32];
    newlines.copy_from_slice(&entry[..8]);
    chaining_after.copy_from_slice(&entry[8..]);
    BlockState { newlines_before: u64::from_le_bytes(newlines), chaining_after }
}

fn flags(facts: &ContentFacts) -> u32 {
    let flag = |set: bool, flag: u32| if set { flag } else { 0 };
    flag(facts.ends_with_newline, ENDS_WITH_NEWLINE)
        | flag(facts.valid_utf8, VALID_UTF8)
        | flag(facts.has_nul, HAS_NUL)
}

/// Why a sidecar is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SidecarError {
    /// Other first bytes.
    #[error("not a sidecar index")]
    Magic,
    /// Another version.
    #[error("sidecar version {version} is not {SIDECAR_VERSION}")]
    Version {
        /// The version found.
        version: u32,
    },
    /// Shorter or longer than its content needs.
    #[error("the sidecar has the wrong length")]
    Length,
    /// Its own digest does not match.
    #[error("the sidecar is damaged")]
    Digest,
    /// Facts that contradict each other.
    #[error("the sidecar contradicts itself")]
    Inconsistent,
}

#[cfg(test)]
mod tests;
