//! Checking everything that is stored, and putting aside what is damaged.
//!
//! A page is checked against the sidecar, which damage cannot fool but its
//! author can. This reads every byte. A large blob whose sidecar is whole is
//! checked in ranges of blocks, side by side: each from the chaining value
//! before it to the one after it, the last of which is the digest. What does
//! not agree, and what has no such sidecar, is hashed from its beginning: that
//! tells a damaged blob from a damaged sidecar, which is made anew.
//!
//! A damaged file is moved to `quarantine/` under the exclusive sweep lock, and
//! only while it is the file that was read: a publisher may have healed it.

use std::collections::{HashMap, HashSet};
use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use artifacts::hash::digest_of;
use artifacts::sidecar::{SIDECAR_MIN_BYTES, Sidecar, block_count, block_range, sidecar_bytes};
use artifacts::{FileError, MAX_MANIFEST_BYTES, Manifest, ReadError};
use camino::Utf8PathBuf;
use output_contract::{CallId, Digest, SessionId};
use uuid::Uuid;

use crate::artifact;
use crate::local::Inner;
use crate::lock::{Collector, SweepExclusive};
use crate::shelf::{Shelf, Shelved};
use crate::tree::File;

/// Blocks that are checked in one go: 16 MiB.
const BLOCKS: u64 = 256;

/// How far a verification has come, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifyProgress {
    /// Bytes read since the last time.
    pub read: u64,
    /// All there is to read.
    pub total: u64,
}

/// What a verification found.
#[derive(Debug, Default)]
pub struct VerifyReport {
    /// Blobs and manifests that were checked.
    pub artifacts: u64,
    /// Their size, in bytes.
    pub bytes: u64,
    /// Sidecars that were missing or damaged and were made anew.
    pub repaired: u64,
    /// What does not have its digest.
    pub corrupt: Vec<CorruptArtifact>,
    /// What calls retain and is not there, what was put aside before included.
    pub missing: Vec<MissingArtifact>,
    /// What the system could not read.
    pub unreadable: Vec<FileError>,
}

/// A damaged blob or manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorruptArtifact {
    /// The digest that it should have.
    pub digest: Digest,
    /// Whether it was a manifest, and not a blob.
    pub is_manifest: bool,
    /// How many bytes are there.
    pub bytes: u64,
    /// Where it is now; `None` where it was left, because the store is only
    /// read or a good copy came meanwhile.
    pub quarantined: Option<Utf8PathBuf>,
    /// The calls that retain it, as far as their roots can be read.
    pub calls: Vec<(SessionId, CallId)>,
}

/// A blob or manifest that is retained and not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingArtifact {
    /// Its digest.
    pub digest: Digest,
    /// The calls that retain it.
    pub calls: Vec<(SessionId, CallId)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Manifest,
    Blob,
}

#[derive(Debug)]
struct Item {
    kind: Kind,
    found: Shelved,
    /// Where it is whole, the blob can be checked in ranges.
    sidecar: Option<Sidecar>,
    /// Some range does not agree with the sidecar.
    doubtful: AtomicBool,
}

/// Some blocks of an item that has a sidecar, or all of another.
#[derive(Debug)]
struct Piece {
    item: usize,
    blocks: Option<Range<u64>>,
}

/// What hashing a whole file found.
#[derive(Debug)]
enum Verdict {
    Good,
    Repaired,
    Corrupt,
    /// It was collected or replaced meanwhile.
    Gone,
}

pub(crate) fn verify(
    store: &Inner,
    threads: NonZero<usize>,
    progress: &(dyn Fn(VerifyProgress) + Sync),
) -> Result<VerifyReport, FileError> {
    let items = items(store)?;
    let total = items.iter().map(|item| item.found.stat.bytes).sum();
    let tell = |read| progress(VerifyProgress { read, total });
    let report =
        VerifyReport { artifacts: items.len() as u64, bytes: total, ..VerifyReport::default() };
    let found = Mutex::new((report, Vec::new()));
    let note = |index: usize, verdict: Result<Verdict, FileError>| {
        let (report, corrupt) = &mut *found.lock().unwrap_or_else(PoisonError::into_inner);
        match verdict {
            Ok(Verdict::Good | Verdict::Gone) => {}
            Ok(Verdict::Repaired) => report.repaired += 1,
            Ok(Verdict::Corrupt) => corrupt.push(index),
            Err(error) => report.unreadable.push(error),
        }
    };
    let pieces: Vec<Piece> =
        items.iter().enumerate().flat_map(|(i, item)| pieces(i, item)).collect();
    in_parallel(threads, &pieces, |piece| {
        let item = &items[piece.item];
        match (&piece.blocks, &item.sidecar) {
            (Some(blocks), Some(sidecar)) => match agrees(store, item, sidecar, blocks) {
                Ok(agrees) => {
                    let (first, last) = (blocks.start, blocks.end - 1);
                    let bytes = item.found.stat.bytes;
                    tell(block_range(last, bytes).end - block_range(first, bytes).start);
                    item.doubtful.fetch_or(!agrees, Ordering::Relaxed);
                }
                Err(error) => note(piece.item, Err(error)),
            },
            _ => {
                note(piece.item, check_whole(store, item));
                tell(item.found.stat.bytes);
            }
        }
    });
    let doubtful: Vec<usize> =
        (0..items.len()).filter(|&i| items[i].doubtful.load(Ordering::Relaxed)).collect();
    in_parallel(threads, &doubtful, |&index| note(index, check_whole(store, &items[index])));

    let (mut report, mut corrupt) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    corrupt.sort_unstable();
    let calls = calls(store)?;
    for index in corrupt {
        let Item { kind, found: Shelved { digest, stat }, .. } = &items[index];
        report.corrupt.push(CorruptArtifact {
            digest: *digest,
            is_manifest: *kind == Kind::Manifest,
            bytes: stat.bytes,
            quarantined: quarantine(store, &items[index])?,
            calls: calls.get(digest).cloned().unwrap_or_default(),
        });
    }
    let listed: HashSet<Digest> = items.iter().map(|item| item.found.digest).collect();
    report.missing = missing(store, &listed, calls)?;
    Ok(report)
}

/// What is retained, was not `listed`, and is not there now either.
fn missing(
    store: &Inner,
    listed: &HashSet<Digest>,
    retained: HashMap<Digest, Vec<(SessionId, CallId)>>,
) -> Result<Vec<MissingArtifact>, FileError> {
    let layout = &store.layout;
    let mut missing = Vec::new();
    for (digest, calls) in retained {
        if !listed.contains(&digest)
            && layout.blobs.stat(&digest)?.is_none()
            && layout.manifests.stat(&digest)?.is_none()
        {
            missing.push(MissingArtifact { digest, calls });
        }
    }
    if !missing.is_empty() {
        // It may have been released and collected meanwhile.
        let retained = calls(store)?;
        missing.retain(|missing| retained.contains_key(&missing.digest));
        missing.sort_by_key(|missing| missing.digest);
    }
    Ok(missing)
}

/// Does something with each of `all`, on several threads.
fn in_parallel<T: Sync>(threads: NonZero<usize>, all: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let worker = || {
        while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(one);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.get().min(all.len()) {
            scope.spawn(worker);
        }
        worker();
    });
}

fn items(store: &Inner) -> Result<Vec<Item>, FileError> {
    let layout = &store.layout;
    let item = |kind, found: Shelved| {
        let large = kind == Kind::Blob && found.stat.bytes > SIDECAR_MIN_BYTES;
        let sidecar = if large { read_sidecar(store, &found) } else { None };
        Item { kind, found, sidecar, doubtful: AtomicBool::new(false) }
    };
    let manifests = layout.manifests.list()?.into_iter().map(|found| item(Kind::Manifest, found));
    let blobs = layout.blobs.list()?.into_iter().map(|found| item(Kind::Blob, found));
    Ok(manifests.chain(blobs).collect())
}

/// The sidecar of a blob, where its own digest holds and it fits the blob.
fn read_sidecar(store: &Inner, blob: &Shelved) -> Option<Sidecar> {
    let index = &store.layout.index;
    if !index.stat(&blob.digest).ok()??.is_file {
        return None;
    }
    let bytes = index.open(&blob.digest).ok()??.read_up_to(sidecar_bytes(blob.stat.bytes)).ok()?;
    let sidecar = Sidecar::decode(&bytes).ok()?;
    let fits = (sidecar.facts().digest, sidecar.facts().bytes) == (blob.digest, blob.stat.bytes);
    fits.then_some(sidecar)
}

fn pieces(index: usize, item: &Item) -> Vec<Piece> {
    if item.sidecar.is_none() {
        return vec![Piece { item: index, blocks: None }];
    }
    let count = block_count(item.found.stat.bytes);
    let starts = (0..count).step_by(BLOCKS as usize);
    let blocks = starts.map(|first| first..(first + BLOCKS).min(count));
    blocks.map(|blocks| Piece { item: index, blocks: Some(blocks) }).collect()
}

fn shelf(store: &Inner, kind: Kind) -> &Shelf {
    match kind {
        Kind::Manifest => &store.layout.manifests,
        Kind::Blob => &store.layout.blobs,
    }
}

/// Opens an item; `None` where it is not what was listed any more.
fn open(store: &Inner, item: &Item) -> Result<Option<File>, FileError> {
    let file = shelf(store, item.kind).open(&item.found.digest)?;
    match file {
        Some(file) if file.stat()?.id == item.found.stat.id => Ok(Some(file)),
        _ => Ok(None),
    }
}

fn agrees(
    store: &Inner,
    item: &Item,
    sidecar: &Sidecar,
    blocks: &Range<u64>,
) -> Result<bool, FileError> {
    let Some(file) = open(store, item)? else { return Ok(true) };
    for block in blocks.clone() {
        if !artifact::agrees(&file, sidecar, block)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn check_whole(store: &Inner, item: &Item) -> Result<Verdict, FileError> {
    let Some(file) = open(store, item)? else { return Ok(Verdict::Gone) };
    let Shelved { digest, stat } = &item.found;
    if item.kind == Kind::Blob && stat.bytes > SIDECAR_MIN_BYTES {
        return match artifact::rebuild(store, &file, digest, stat.bytes) {
            Ok(_) => Ok(Verdict::Repaired),
            Err(ReadError::File(error)) => Err(error),
            Err(_) => Ok(Verdict::Corrupt),
        };
    }
    let limit = if item.kind == Kind::Blob { SIDECAR_MIN_BYTES } else { MAX_MANIFEST_BYTES };
    let bytes = file.read_up_to(limit)?;
    let is_manifest = || item.kind == Kind::Blob || Manifest::decode(&bytes).is_ok();
    let good = digest_of(&bytes) == *digest && is_manifest();
    Ok(if good { Verdict::Good } else { Verdict::Corrupt })
}

/// The calls that retain each digest, as far as their roots can be read.
fn calls(store: &Inner) -> Result<HashMap<Digest, Vec<(SessionId, CallId)>>, FileError> {
    let mut calls: HashMap<Digest, Vec<_>> = HashMap::new();
    for name in store.layout.roots.names()? {
        let Ok(Some(roots)) = store.layout.roots.read(&name) else { continue };
        for call in roots.into_calls() {
            for digest in call.digests {
                calls.entry(digest).or_default().push((call.owner.clone(), call.call.clone()));
            }
        }
    }
    Ok(calls)
}

/// Moves a damaged file out of the way, if it is still there.
fn quarantine(store: &Inner, item: &Item) -> Result<Option<Utf8PathBuf>, FileError> {
    if store.check_writable().is_err() {
        return Ok(None);
    }
    let layout = &store.layout;
    let Shelved { digest, stat } = &item.found;
    let shelf = shelf(store, item.kind);
    let collector = Collector::take(&layout.locks)?;
    let _nobody_links = SweepExclusive::take(&layout.locks, &collector)?;
    if shelf.stat(digest)?.is_none_or(|now| now.id != stat.id) {
        return Ok(None);
    }
    let kind = if item.kind == Kind::Manifest { "manifest" } else { "blob" };
    let name = format!("{digest}.{kind}.{}", Uuid::new_v4());
    shelf.dir(digest)?.rename(&digest.to_string(), &layout.quarantine, &name)?;
    Ok(Some(layout.quarantine.path().join(name)))
}

/// The size in bytes of what was put aside under this digest, the largest
/// where it was more than once; `None` where nothing was.
pub(crate) fn quarantined(store: &Inner, digest: &Digest) -> Option<u64> {
    let quarantine = &store.layout.quarantine;
    let digest = digest.to_string();
    let names = quarantine.names().ok()?.into_iter();
    let named = names.filter(|name| name.split('.').next() == Some(digest.as_str()));
    named.filter_map(|name| Some(quarantine.stat(&name).ok()??.bytes)).max()
}
