//! Verified access to a large artifact, 64 KiB at a time.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use artifacts::hash::{
    BLOCK_BYTES, ContentFacts, ContentHasher, INITIAL_CHAINING, chaining_after, count_newlines,
};
use artifacts::sidecar::{Sidecar, block_count, block_range};
use artifacts::{Durability, FileError, ReadError};
use bytes::Bytes;
use memchr::memchr_iter;
use output_contract::Digest;

use super::index::Index;
use crate::local::Inner;
use crate::lock::SweepShared;
use crate::publish::Staged;
use crate::tree::File;

/// An open artifact of many blocks.
#[derive(Debug)]
pub(super) struct Blocks {
    store: Arc<Inner>,
    file: File,
    digest: Digest,
    bytes: u64,
    index: Mutex<Arc<Index>>,
    /// The block that was verified last: pages are read in small steps.
    recent: Mutex<Option<(u64, Bytes)>>,
}

/// Blocks that do not agree with the index; the first of them.
#[derive(Debug)]
struct Mismatch {
    block: u64,
}

impl Blocks {
    /// Opens an artifact, and tells what is known of all of it.
    pub(super) fn open(
        store: &Arc<Inner>,
        file: File,
        digest: &Digest,
    ) -> Result<(ContentFacts, Self), ReadError> {
        let bytes = file.stat()?.bytes;
        let index = match Index::open(&store.layout.index, digest, bytes)? {
            Some(index) => index,
            None => Index::Memory(rebuild(store, &file, digest, bytes)?),
        };
        let blocks = Self {
            store: Arc::clone(store),
            file,
            digest: *digest,
            bytes,
            index: Mutex::new(Arc::new(index)),
            recent: Mutex::default(),
        };
        let facts = blocks.confirm_facts()?;
        Ok((facts, blocks))
    }

    /// What is known of the whole artifact: the last block bears it out, or the
    /// sidecar is whole although that block is damaged, or it is found anew.
    fn confirm_facts(&self) -> Result<ContentFacts, ReadError> {
        let (index, last) = (self.index(), block_count(self.bytes) - 1);
        let facts = index.facts();
        match self.verify(&index, last, last)? {
            Ok(end) if facts.ends_with_newline == end.ends_with(b"\n") => Ok(facts.clone()),
            _ if index.is_whole()? => Ok(facts.clone()),
            _ => Ok(self.replace_index(&index, last)?.facts().clone()),
        }
    }

    pub(super) fn read(&self, range: Range<u64>) -> Result<Bytes, ReadError> {
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        let (first, last) = (range.start / BLOCK_BYTES, (range.end - 1) / BLOCK_BYTES);
        let start = first * BLOCK_BYTES;
        let blocks = self.read_blocks(first, last)?;
        Ok(blocks.slice((range.start - start) as usize..(range.end - start) as usize))
    }

    /// The position after the newline number `line`, from 1, which exists.
    pub(super) fn line_start(&self, line: u64) -> Result<u64, ReadError> {
        loop {
            let index = self.index();
            let block = index.block_of_newline(line)?;
            let content = self.read_blocks(block, block)?;
            let confirmed = self.index();
            if let Some(position) = self.find_newline(&confirmed, block, &content, line)? {
                return Ok(position);
            }
            // Damaged entries led to a block that holds no such line.
            if Arc::ptr_eq(&index, &confirmed) {
                self.replace_index(&index, block)?;
            }
        }
    }

    fn find_newline(
        &self,
        index: &Index,
        block: u64,
        content: &[u8],
        line: u64,
    ) -> Result<Option<u64>, ReadError> {
        let before = index.newlines_before(block)?;
        let within = line.checked_sub(before).filter(|within| *within > 0);
        Ok(within
            .and_then(|within| memchr_iter(b'\n', content).nth(within as usize - 1))
            .map(|newline| block_range(block, self.bytes).start + newline as u64 + 1))
    }

    fn index(&self) -> Arc<Index> {
        Arc::clone(&self.index.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn corrupt(&self, block: u64) -> ReadError {
        ReadError::Corrupt { digest: self.digest, range: block_range(block, self.bytes) }
    }

    /// The blocks `first..=last`, verified.
    fn read_blocks(&self, first: u64, last: u64) -> Result<Bytes, ReadError> {
        let recent = || self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if first == last
            && let Some((block, content)) = &*recent()
            && *block == first
        {
            return Ok(content.clone());
        }
        let index = self.index();
        let content = match self.verify(&index, first, last)? {
            Ok(content) => content,
            Err(Mismatch { block }) => {
                let index = self.replace_index(&index, block)?;
                self.verify(&index, first, last)?
                    .map_err(|Mismatch { block }| self.corrupt(block))?
            }
        };
        if first == last {
            *recent() = Some((first, content.clone()));
        }
        Ok(content)
    }

    /// Reads blocks and checks them against `index`: the chain of their
    /// hashes, and their newlines.
    fn verify(
        &self,
        index: &Index,
        first: u64,
        last: u64,
    ) -> Result<Result<Bytes, Mismatch>, FileError> {
        let range = block_range(first, self.bytes).start..block_range(last, self.bytes).end;
        let mut content = vec![0; (range.end - range.start) as usize];
        let filled = self.file.read_at(&mut content, range.start)? as u64;
        if filled < range.end - range.start {
            return Ok(Err(Mismatch { block: (range.start + filled) / BLOCK_BYTES }));
        }
        let entries = index.entries(first, last)?;
        let mut before = entries.before.unwrap_or(INITIAL_CHAINING);
        for (block, (bytes, entry)) in
            (first..).zip(content.chunks(BLOCK_BYTES as usize).zip(&entries.blocks))
        {
            let start = block * BLOCK_BYTES;
            let ends = start + bytes.len() as u64 == self.bytes;
            let next = entries.blocks.get((block - first) as usize + 1);
            let newlines_after = next.map_or(entries.newlines_after, |next| next.newlines_before);
            let good = chaining_after(&before, start, bytes, ends) == entry.chaining_after
                && (!ends || entry.chaining_after == *self.digest.as_bytes())
                && entry.newlines_before.checked_add(count_newlines(bytes)) == Some(newlines_after);
            if !good {
                return Ok(Err(Mismatch { block }));
            }
            before = entry.chaining_after;
        }
        Ok(Ok(content.into()))
    }

    /// Finds out whether the artifact or its sidecar is damaged, where `block`
    /// did not agree with the index `old`. A damaged artifact is the error.
    fn replace_index(&self, old: &Arc<Index>, block: u64) -> Result<Arc<Index>, ReadError> {
        let current = self.index();
        if !Arc::ptr_eq(old, &current) {
            return Ok(current);
        }
        if matches!(**old, Index::Memory(_)) {
            // It was made from the right bytes, so these are others.
            return Err(self.corrupt(block));
        }
        let rebuilt = match rebuild(&self.store, &self.file, &self.digest, self.bytes) {
            // A sidecar that is whole tells where the damage is.
            Err(ReadError::Corrupt { .. }) if old.is_whole()? => return Err(self.corrupt(block)),
            other => Arc::new(Index::Memory(other?)),
        };
        *self.index.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&rebuilt);
        Ok(rebuilt)
    }
}

/// Whether one block of an artifact is what its sidecar, which is whole, says.
pub(crate) fn agrees(file: &File, sidecar: &Sidecar, block: u64) -> Result<bool, FileError> {
    let (facts, states) = (sidecar.facts(), sidecar.blocks());
    let range = block_range(block, facts.bytes);
    let mut content = vec![0; (range.end - range.start) as usize];
    if file.read_at(&mut content, range.start)? < content.len() {
        return Ok(false);
    }
    let index = block as usize;
    let before = index.checked_sub(1).map_or(INITIAL_CHAINING, |last| states[last].chaining_after);
    let newlines_after = states.get(index + 1).map_or(facts.newlines, |next| next.newlines_before);
    let ends = range.end == facts.bytes;
    Ok(chaining_after(&before, range.start, &content, ends) == states[index].chaining_after
        && states[index].newlines_before.checked_add(count_newlines(&content))
            == Some(newlines_after))
}

/// Hashes a whole artifact, and gives it the sidecar that it should have.
pub(crate) fn rebuild(
    store: &Inner,
    file: &File,
    digest: &Digest,
    bytes: u64,
) -> Result<Sidecar, ReadError> {
    let mut hasher = ContentHasher::new();
    let mut buffer = vec![0; BLOCK_BYTES as usize];
    loop {
        let read = file.read_at(&mut buffer, hasher.bytes())?;
        hasher.update(&buffer[..read]);
        if read < buffer.len() {
            break;
        }
    }
    let content = hasher.finish();
    let good = content.facts.digest == *digest && content.facts.bytes == bytes;
    let sidecar = Sidecar::of(content).filter(|_| good);
    let sidecar = sidecar.ok_or(ReadError::Corrupt { digest: *digest, range: 0..bytes })?;
    // Serving does not depend on this: the store may be read-only.
    let _ = write_sidecar(store, file, digest, &sidecar);
    Ok(sidecar)
}

/// Puts a sidecar in its place, while its blob is there.
fn write_sidecar(
    store: &Inner,
    blob: &File,
    digest: &Digest,
    sidecar: &Sidecar,
) -> Result<(), FileError> {
    if store.check_writable().is_err() {
        return Ok(());
    }
    // In the trash it may vanish at any time, and is cleaned up in any case.
    let trash = &store.layout.trash;
    let staged = Staged::write(trash, *digest, &sidecar.encode(), Durability::Fast)?;
    let _no_sweep = SweepShared::take(&store.layout.locks)?;
    if store.layout.blobs.stat(digest)?.map(|stat| stat.id) == Some(blob.stat()?.id) {
        staged.move_to(&store.layout.index)?;
    }
    Ok(())
}

/// The position after the newline number `line`, from 1; the end where there
/// is none.
pub(super) fn after_newline(bytes: &[u8], line: u64) -> u64 {
    let newline = memchr_iter(b'\n', bytes).nth(line as usize - 1);
    newline.map_or(bytes.len(), |newline| newline + 1) as u64
}
