//! Taking files away, a batch at a time.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use artifacts::sidecar::SIDECAR_MIN_BYTES;
use artifacts::{CollectError, FileError, FileId};
use output_contract::Digest;
use uuid::Uuid;

use super::candidates::Candidates;
use crate::expired::MOST;
use crate::layout::Layout;
use crate::local::Inner;
use crate::lock::{Collector, SweepExclusive};
use crate::shelf::Walk;
use crate::tree::{Dir, FileStat};

/// Files removed under one exclusive lock, so that publishers wait for little.
const BATCH: usize = 64;

/// A file of at most so many bytes is removed where it is: to move it away
/// first would take as long. What is larger may take long to free, for which
/// no publisher is to wait.
const SMALL_BYTES: u64 = 64 * 1024;

/// What kind of file a candidate is; parents come before children.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Manifest,
    /// A blob, with its sidecar where it has one.
    Blob,
    /// A sidecar without a blob.
    Orphan,
}

/// A file that may be removed, as it was when it was looked at. There may be
/// as many as files in the store, so it is small.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) digest: Digest,
    pub(super) bytes: u64,
    id: FileId,
    changed: Duration,
}

impl Candidate {
    pub(super) const fn new(digest: Digest, stat: &FileStat) -> Self {
        Self { digest, bytes: stat.bytes, id: stat.id, changed: stat.changed }
    }

    fn is(&self, now: &FileStat) -> bool {
        (now.id, now.bytes, now.changed) == (self.id, self.bytes, self.changed)
    }
}

/// What was removed: blobs and manifests.
#[derive(Debug, Default)]
pub(super) struct Swept {
    pub(super) removed: u64,
    /// Their size.
    pub(super) removed_bytes: u64,
    /// The last of them, and their sizes in bytes: as many as are remembered.
    pub(super) last: VecDeque<(Digest, u64)>,
    /// Candidates that someone came to need, or changed, meanwhile.
    pub(super) spared: u64,
}

impl Swept {
    fn count(&mut self, candidate: &Candidate) {
        self.removed += 1;
        self.removed_bytes += candidate.bytes;
        if self.last.len() == MOST {
            self.last.pop_front();
        }
        self.last.push_back((candidate.digest, candidate.bytes));
    }
}

/// Removes the candidates that are still what they were, and that no lease
/// names: `leased` is asked anew under every lock.
pub(super) fn sweep(
    store: &Inner,
    collector: &Collector,
    candidates: &Candidates,
    leased: impl Fn() -> Result<HashSet<Digest>, CollectError>,
) -> Result<Swept, CollectError> {
    let mut swept = Swept::default();
    let mut all = candidates.in_order().peekable();
    if all.peek().is_none() {
        return Ok(swept);
    }
    let trash = store.layout.trash.make_dir(&Uuid::new_v4().to_string())?;
    let mut places = Places::new(&store.layout, &trash);
    while all.peek().is_some() {
        let _nobody_links = SweepExclusive::take(&store.layout.locks, collector)?;
        let leased = leased()?;
        for (kind, candidate) in all.by_ref().take(BATCH) {
            if leased.contains(&candidate.digest) || !places.remove(kind, candidate)? {
                swept.spared += u64::from(kind != Kind::Orphan);
            } else if kind != Kind::Orphan {
                swept.count(candidate);
            }
        }
    }
    Ok(swept)
}

/// Where candidates are, and where they go.
#[derive(Debug)]
struct Places<'a> {
    manifests: Walk<'a>,
    blobs: Walk<'a>,
    index: Walk<'a>,
    trash: &'a Dir,
}

impl<'a> Places<'a> {
    const fn new(layout: &'a Layout, trash: &'a Dir) -> Self {
        Self {
            manifests: Walk::new(&layout.manifests),
            blobs: Walk::new(&layout.blobs),
            index: Walk::new(&layout.index),
            trash,
        }
    }

    /// Removes one file; `false` where it is no longer what was looked at.
    fn remove(&mut self, kind: Kind, candidate: &Candidate) -> Result<bool, FileError> {
        let digest = &candidate.digest;
        if kind == Kind::Orphan && self.blobs.stat(digest)?.is_some() {
            return Ok(false);
        }
        let shelf = match kind {
            Kind::Manifest => &mut self.manifests,
            Kind::Blob => &mut self.blobs,
            Kind::Orphan => &mut self.index,
        };
        if !shelf.stat(digest)?.is_some_and(|now| candidate.is(&now)) {
            return Ok(false);
        }
        take_away(shelf, digest, candidate.bytes, self.trash, &format!("{kind:?}"))?;
        // Only a large blob has a sidecar.
        if kind == Kind::Blob
            && candidate.bytes > SIDECAR_MIN_BYTES
            && let Some(sidecar) = self.index.stat(digest)?
        {
            take_away(&mut self.index, digest, sidecar.bytes, self.trash, "Index")?;
        }
        Ok(true)
    }
}

fn take_away(
    shelf: &mut Walk<'_>,
    digest: &Digest,
    bytes: u64,
    trash: &Dir,
    kind: &str,
) -> Result<(), FileError> {
    let name = digest.to_string();
    match shelf.dir(digest)? {
        Some(dir) if bytes <= SMALL_BYTES => dir.unlink(&name),
        Some(dir) => dir.rename(&name, trash, &format!("{kind}-{name}")),
        None => Ok(()),
    }
}

/// Unlinks all that is in the trash, of this collection and of those that did
/// not come to it.
pub(super) fn empty_trash(store: &Inner) -> Result<(), FileError> {
    let trash = &store.layout.trash;
    for name in trash.names()? {
        match trash.stat(&name)? {
            Some(stat) if stat.is_file => trash.unlink(&name)?,
            Some(_) => trash.remove_dir(&name)?,
            None => {}
        }
    }
    Ok(())
}
