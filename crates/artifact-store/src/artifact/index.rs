//! Block states, from a sidecar on disk or in memory.

use artifacts::FileError;
use artifacts::hash::{BlockState, Chaining, ContentFacts};
use artifacts::sidecar::{
    ENTRY_BYTES, HEADER_BYTES, Sidecar, block_count, decode_entry, decode_header, entry_offset,
    sidecar_bytes,
};
use output_contract::Digest;

use crate::shelf::Shelf;
use crate::tree::File;

/// Where the block states of one artifact are.
#[derive(Debug)]
pub(super) enum Index {
    /// On disk, and not believed before the blocks confirm it.
    Disk { file: File, facts: ContentFacts },
    /// Made by hashing the whole artifact.
    Memory(Sidecar),
}

/// The states of some blocks that follow one another.
#[derive(Debug)]
pub(super) struct Entries {
    /// The chaining value before the first; `None` at the beginning.
    pub(super) before: Option<Chaining>,
    pub(super) blocks: Vec<BlockState>,
    /// Newlines up to the end of the last.
    pub(super) newlines_after: u64,
}

impl Index {
    /// Opens the sidecar of an artifact of `bytes` bytes; `None` where there is
    /// none whose length and header fit.
    pub(super) fn open(
        shelf: &Shelf,
        digest: &Digest,
        bytes: u64,
    ) -> Result<Option<Self>, FileError> {
        if !shelf.stat(digest)?.is_some_and(|stat| stat.is_file) {
            return Ok(None);
        }
        let Some(file) = shelf.open(digest)? else { return Ok(None) };
        let mut header = [0; HEADER_BYTES];
        let whole = file.stat()?.bytes == sidecar_bytes(bytes)
            && file.read_at(&mut header, 0)? == HEADER_BYTES;
        let facts = decode_header(&header).ok();
        let fits = facts.filter(|facts| whole && facts.digest == *digest && facts.bytes == bytes);
        Ok(fits.map(|facts| Self::Disk { file, facts }))
    }

    pub(super) fn facts(&self) -> &ContentFacts {
        match self {
            Self::Disk { facts, .. } => facts,
            Self::Memory(sidecar) => sidecar.facts(),
        }
    }

    /// Whether the sidecar's own digest holds.
    pub(super) fn is_whole(&self) -> Result<bool, FileError> {
        match self {
            Self::Disk { file, facts } => {
                let bytes = file.read_up_to(sidecar_bytes(facts.bytes))?;
                Ok(Sidecar::decode(&bytes).is_ok_and(|sidecar| sidecar.facts() == facts))
            }
            Self::Memory(_) => Ok(true),
        }
    }

    /// The states of the blocks `first..=last`.
    pub(super) fn entries(&self, first: u64, last: u64) -> Result<Entries, FileError> {
        let count = block_count(self.facts().bytes);
        // One before, for its chaining value; one after, for its newlines.
        let (from, to) = (first.saturating_sub(1), (last + 2).min(count));
        let mut states = self.states(from, to)?;
        let newlines_after =
            if to == last + 2 { states.pop().map(|state| state.newlines_before) } else { None };
        let before = (from < first).then(|| states.remove(0).chaining_after);
        let newlines_after = newlines_after.unwrap_or(self.facts().newlines);
        Ok(Entries { before, blocks: states, newlines_after })
    }

    /// The states of the blocks `from..to`. What is missing on disk reads as
    /// zeros, which no block agrees with.
    fn states(&self, from: u64, to: u64) -> Result<Vec<BlockState>, FileError> {
        match self {
            Self::Memory(sidecar) => Ok(sidecar.blocks()[from as usize..to as usize].to_vec()),
            Self::Disk { file, .. } => {
                let mut bytes = vec![0; (to - from) as usize * ENTRY_BYTES];
                file.read_at(&mut bytes, entry_offset(from))?;
                Ok(bytes.as_chunks().0.iter().map(decode_entry).collect())
            }
        }
    }

    /// Newlines in all blocks before `block`.
    pub(super) fn newlines_before(&self, block: u64) -> Result<u64, FileError> {
        Ok(self.states(block, block + 1)?[0].newlines_before)
    }

    /// The block that holds newline number `line`, from 1.
    ///
    /// Every entry that the search ends between is confirmed when that block is
    /// verified, so a damaged entry is found or made no difference.
    pub(super) fn block_of_newline(&self, line: u64) -> Result<u64, FileError> {
        let (mut low, mut high) = (0, block_count(self.facts().bytes));
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.newlines_before(middle)? < line {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }
}
