//! What may be removed: everything there is, but for what is marked or young.
//!
//! A store may hold millions of files. So a listing keeps their digests only,
//! what is marked is never looked at, and of the rest only what is needed to
//! know it again is kept.

use artifacts::{CollectError, FileError};
use output_contract::Digest;

use super::Age;
use super::mark::{Marked, streams};
use super::sweep::{Candidate, Kind};
use crate::local::Inner;
use crate::shelf::{Shelf, Walk};

/// The digests of everything there is, by fan-out directory.
#[derive(Debug)]
pub(super) struct Listed {
    manifests: Vec<Vec<Digest>>,
    blobs: Vec<Vec<Digest>>,
    /// Sidecars without a blob.
    orphans: Vec<Vec<Digest>>,
}

/// Files that may be removed, as they were when they were looked at.
#[derive(Debug)]
pub(super) struct Candidates {
    manifests: Vec<Candidate>,
    blobs: Vec<Candidate>,
    orphans: Vec<Candidate>,
    /// Blobs and manifests that stay because something refers to them.
    pub(super) live: u64,
    /// Those that stay because of their age.
    pub(super) young: u64,
    /// What stays because of its age; sorted.
    pub(super) waiting: Vec<Digest>,
}

impl Listed {
    pub(super) fn read(store: &Inner) -> Result<Self, FileError> {
        let layout = &store.layout;
        let manifests = layout.manifests.digests()?;
        let mut orphans = layout.index.digests()?;
        let blobs = layout.blobs.digests()?;
        for (sidecars, blobs) in orphans.iter_mut().zip(&blobs) {
            sidecars.retain(|digest| blobs.binary_search(digest).is_err());
        }
        Ok(Self { manifests, blobs, orphans })
    }

    /// Looks at what is not marked.
    pub(super) fn unmarked(
        self,
        store: &Inner,
        marked: &Marked,
        age: Age,
    ) -> Result<Candidates, CollectError> {
        let layout = &store.layout;
        let mut look = Look { marked, age, kept: Vec::new(), live: 0, waiting: Vec::new() };
        let manifests = look.at(&layout.manifests, self.manifests)?;
        // A young manifest stays, and then so do its streams.
        for young in &look.waiting {
            look.kept.extend(streams(store, young)?);
        }
        look.kept.sort_unstable();
        let blobs = look.at(&layout.blobs, self.blobs)?;
        let (live, young) = (look.live, look.waiting.len() as u64);
        let orphans = look.at(&layout.index, self.orphans)?;
        let mut waiting = look.waiting;
        waiting.sort_unstable();
        Ok(Candidates { manifests, blobs, orphans, live, young, waiting })
    }
}

/// What is looked for.
#[derive(Debug)]
struct Look<'a> {
    marked: &'a Marked,
    age: Age,
    /// What stays with what is young; sorted.
    kept: Vec<Digest>,
    live: u64,
    waiting: Vec<Digest>,
}

impl Look<'_> {
    fn at(&mut self, shelf: &Shelf, listed: Vec<Vec<Digest>>) -> Result<Vec<Candidate>, FileError> {
        let (mut walk, mut candidates) = (Walk::new(shelf), Vec::new());
        for digest in listed.into_iter().flatten() {
            if self.marked.contains(&digest) {
                self.live += 1;
                continue;
            }
            let Some(stat) = walk.stat(&digest)?.filter(|stat| stat.is_file) else { continue };
            if !self.age.is_over(stat.changed) || self.kept.binary_search(&digest).is_ok() {
                self.waiting.push(digest);
            } else {
                candidates.push(Candidate::new(digest, &stat));
            }
        }
        Ok(candidates)
    }
}

impl Candidates {
    /// All of them, parents before children.
    pub(super) fn in_order(&self) -> impl Iterator<Item = (Kind, &Candidate)> {
        let manifests = self.manifests.iter().map(|it| (Kind::Manifest, it));
        let blobs = self.blobs.iter().map(|it| (Kind::Blob, it));
        let orphans = self.orphans.iter().map(|it| (Kind::Orphan, it));
        manifests.chain(blobs).chain(orphans)
    }

    /// The blobs and manifests among them.
    pub(super) fn artifacts(&self) -> impl Iterator<Item = &Candidate> {
        self.manifests.iter().chain(&self.blobs)
    }
}
