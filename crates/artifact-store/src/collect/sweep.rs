//! Taking files away, a batch at a time.

use std::collections::HashSet;

use artifacts::{CollectError, FileError};
use output_contract::Digest;
use uuid::Uuid;

use crate::local::Inner;
use crate::lock::{Collector, SweepExclusive};
use crate::shelf::Shelf;
use crate::tree::{Dir, FileStat};

/// Files removed under one exclusive lock, so that publishers wait for little.
const BATCH: usize = 64;

/// What kind of file a candidate is; parents come before children.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Manifest,
    /// A blob, with its sidecar where it has one.
    Blob,
    /// A sidecar without a blob.
    Orphan,
}

/// A file that may be removed, as it was when it was listed.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) kind: Kind,
    pub(super) digest: Digest,
    pub(super) stat: FileStat,
}

/// What was removed.
#[derive(Debug, Default)]
pub(super) struct Swept {
    /// Their digests and sizes in bytes.
    pub(super) removed: Vec<(Digest, u64)>,
    /// Candidates that someone came to need, or changed, meanwhile.
    pub(super) spared: u64,
}

/// Everything there is, parents before children.
pub(super) fn list(store: &Inner) -> Result<Vec<Candidate>, FileError> {
    let layout = &store.layout;
    let mut candidates = Vec::new();
    let mut add = |kind, shelved: Vec<crate::shelf::Shelved>| {
        candidates.extend(shelved.into_iter().map(|found| Candidate {
            kind,
            digest: found.digest,
            stat: found.stat,
        }));
    };
    add(Kind::Manifest, layout.manifests.list()?);
    let index = layout.index.list()?;
    let blobs = layout.blobs.list()?;
    let known: HashSet<Digest> = blobs.iter().map(|blob| blob.digest).collect();
    add(Kind::Blob, blobs);
    add(Kind::Orphan, index.into_iter().filter(|found| !known.contains(&found.digest)).collect());
    Ok(candidates)
}

/// Moves the candidates to the trash that are still what they were, and that no
/// lease names: `leased` is asked anew under every lock.
pub(super) fn sweep(
    store: &Inner,
    collector: &Collector,
    candidates: &[Candidate],
    leased: impl Fn() -> Result<HashSet<Digest>, CollectError>,
) -> Result<Swept, CollectError> {
    let mut swept = Swept::default();
    if candidates.is_empty() {
        return Ok(swept);
    }
    let trash = store.layout.trash.make_dir(&Uuid::new_v4().to_string())?;
    for batch in candidates.chunks(BATCH) {
        let _nobody_links = SweepExclusive::take(&store.layout.locks, collector)?;
        let leased = leased()?;
        for candidate in batch {
            if leased.contains(&candidate.digest) || !remove(store, &trash, candidate)? {
                swept.spared += u64::from(candidate.kind != Kind::Orphan);
            } else if candidate.kind != Kind::Orphan {
                swept.removed.push((candidate.digest, candidate.stat.bytes));
            }
        }
    }
    Ok(swept)
}

/// Moves one file to the trash; `false` where it is no longer what was listed.
fn remove(store: &Inner, trash: &Dir, candidate: &Candidate) -> Result<bool, FileError> {
    let layout = &store.layout;
    let Candidate { kind, digest, stat } = candidate;
    let shelf = match kind {
        Kind::Manifest => &layout.manifests,
        Kind::Blob => &layout.blobs,
        Kind::Orphan => &layout.index,
    };
    let same =
        |now: FileStat| (now.id, now.bytes, now.changed) == (stat.id, stat.bytes, stat.changed);
    if !shelf.stat(digest)?.is_some_and(same)
        || *kind == Kind::Orphan && layout.blobs.stat(digest)?.is_some()
    {
        return Ok(false);
    }
    move_to(shelf, digest, trash, &format!("{kind:?}-{digest}"))?;
    if *kind == Kind::Blob && layout.index.stat(digest)?.is_some() {
        move_to(&layout.index, digest, trash, &format!("Index-{digest}"))?;
    }
    Ok(true)
}

fn move_to(shelf: &Shelf, digest: &Digest, trash: &Dir, name: &str) -> Result<(), FileError> {
    shelf.dir(digest)?.rename(&digest.to_string(), trash, name)
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
