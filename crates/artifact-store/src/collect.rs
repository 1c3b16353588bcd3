//! Removing what nothing refers to, while others publish and read.
//!
//! No clock makes this safe. A publisher names its whole closure in its lease
//! before it links anything, under the shared sweep lock; a collector looks
//! for leases once more under the exclusive one, right before it removes. So
//! either it sees the lease, or the publisher links afterwards, a fresh file.
//! Released leases are forgotten only by a collection that began after their
//! release, and which therefore reads the roots that replaced them.
//!
//! The grace is a second belt, by the file system's own clock.
//!
//! A third is against lost roots. What a record in the roots released, or what
//! was never retained, goes without further ado. But where roots files that
//! there were are gone or shorter (module `roots::ledger`), everything that no
//! release explains may be what they kept; and where that is more than half of
//! all that is stored, nothing is removed unless it is asked for.
//!
//! The order of steps here, in `publish`, `borrow` and `lease` is checked in
//! every interleaving by a model, `tests/it/model`: change both.

mod mark;
mod released;
mod sweep;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use artifacts::{CollectError, CollectOptions, CollectReport, FileError, RootError};
use output_contract::{Digest, Timestamp};

use self::mark::Marked;
use self::released::Released;
use self::sweep::{Candidate, Kind};
use crate::expired::{self, Tombstone};
use crate::layout;
use crate::lease::state;
use crate::local::Inner;
use crate::lock::Collector;
use crate::roots::Lost;

/// Whether something that was last changed at a time is past the grace.
#[derive(Debug, Clone, Copy)]
struct Age {
    now: Duration,
    grace: Duration,
}

impl Age {
    fn is_over(self, changed: Duration) -> bool {
        changed.saturating_add(self.grace) <= self.now
    }
}

pub(crate) fn collect(
    store: &Arc<Inner>,
    options: &CollectOptions,
) -> Result<CollectReport, CollectError> {
    store.check_writable().map_err(|newer| CollectError::NewerFormat {
        format: newer.format,
        supported: newer.supported,
    })?;
    let layout = &store.layout;
    let Some(collector) = Collector::try_take(&layout.locks)? else {
        return Ok(CollectReport { busy: true, ..CollectReport::default() });
    };
    let age = Age { now: collector.clock()?.changed, grace: options.grace };
    let past = |changed| age.is_over(changed);
    // What is released by now is forgotten; what is released from now on is
    // not, for its root may be written after the roots are read.
    let before = state::read_all(&layout.leases, past)?;
    let forgotten = state::forgettable(&before, past);

    let mut candidates = sweep::list(store)?;
    let leases = state::read_all(&layout.leases, past)?;
    let mut marked = Marked::default();
    marked.extend(store, state::leased(&leases, &forgotten))?;
    let mut lost = layout.roots.lost()?;
    let roots = layout.roots.names().map_err(unreadable)?;
    let mut released = Released::default();
    for name in &roots {
        if let Some(owner) = layout.roots.read(name).map_err(unreadable_roots)? {
            marked.extend(store, owner.digests().copied())?;
            released.add(&owner);
        }
    }

    let mut report = CollectReport::default();
    let (mut live, mut young) = (0, 0);
    // A young manifest stays, and then so do its streams.
    for candidate in &candidates {
        if candidate.kind == Kind::Manifest
            && !marked.contains(&candidate.digest)
            && !age.is_over(candidate.stat.changed)
        {
            marked.keep_young(store, &candidate.digest)?;
        }
    }
    let mut waiting = HashSet::new();
    candidates.retain(|candidate| {
        let is_marked = marked.contains(&candidate.digest);
        let is_young = !is_marked
            && (!age.is_over(candidate.stat.changed) || marked.is_young(&candidate.digest));
        if candidate.kind != Kind::Orphan {
            live += u64::from(is_marked);
            young += u64::from(is_young);
        }
        if is_young {
            waiting.insert(candidate.digest);
        }
        !is_marked && !is_young
    });
    (report.live, report.young) = (live, young);
    let artifacts = candidates.iter().filter(|candidate| candidate.kind != Kind::Orphan);
    let (removable, removable_bytes) = total(artifacts.clone());
    if !lost.is_nothing() {
        let (unexplained, bytes) = total(artifacts.filter(|c| !released.contains(&c.digest)));
        let stored = live + young + removable;
        if unexplained > stored / 2 && !options.force && !options.dry_run {
            let lost = layout.roots.paths_of(&lost);
            return Err(CollectError::RootsLost { unexplained, bytes, stored, lost });
        }
        report.unexplained = unexplained;
    }
    if options.dry_run {
        (report.removed, report.removed_bytes) = (removable, removable_bytes);
    } else {
        // They count for nothing from here on, and the sweep need not read
        // them again and again while publishers wait.
        state::remove_forgotten(&layout.leases, &leases, &forgotten, past)?;
        sweep::empty_trash(store)?;
        let swept = sweep::sweep(store, &collector, &candidates, || {
            Ok(state::leased(&state::read_all(&layout.leases, past)?, &forgotten))
        })?;
        report.removed = swept.removed.len() as u64;
        report.removed_bytes = swept.removed.iter().map(|(_, bytes)| bytes).sum();
        let at = Timestamp(age.now.as_millis() as u64);
        let stone = |&(digest, bytes): &(Digest, u64)| released.tombstone(digest, bytes, at);
        let tombstones: Vec<Tombstone> = swept.removed.iter().map(stone).collect();
        // Worth no error: without them, what is gone is unknown.
        let _ = expired::add(&layout.root, &tombstones, &collector);
        report.live += swept.spared;
        sweep::empty_trash(store)?;
    }
    let before = age.now.saturating_sub(age.grace);
    report.removed_captures = store.captures.remove_orphans(before, options.dry_run)?;
    if !options.dry_run {
        layout.roots.remove_temporaries(&collector)?;
        layout::remove_temporaries(&layout.root, &collector, past)?;
        for name in &roots {
            // What was released is told while it waits for its end.
            let keep = |digest: &Digest| waiting.contains(digest);
            layout.roots.compact(name, &collector, keep).map_err(unreadable_roots)?;
        }
        if options.force || waiting.is_empty() {
            lost = Lost::default();
        }
        layout.roots.note(&lost, &collector)?;
    }
    Ok(report)
}

/// How many there are, and their bytes.
fn total<'a>(candidates: impl Iterator<Item = &'a Candidate>) -> (u64, u64) {
    candidates.fold((0, 0), |(n, bytes), candidate| (n + 1, bytes + candidate.stat.bytes))
}

fn unreadable(error: FileError) -> CollectError {
    let path = error.path.clone();
    CollectError::Unreadable { what: "roots", path, source: Box::new(error) }
}

fn unreadable_roots(error: RootError) -> CollectError {
    match error {
        RootError::Unreadable { path, source } => {
            CollectError::Unreadable { what: "roots", path, source }
        }
        RootError::File(error) => unreadable(error),
        other => CollectError::Backend(Box::new(other)),
    }
}
