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

mod candidates;
mod mark;
mod released;
mod sweep;

use std::sync::Arc;
use std::time::Duration;

use artifacts::{CollectError, CollectOptions, CollectReport, FileError, RootError};
use output_contract::{Digest, Timestamp};

use self::candidates::Listed;
use self::mark::Marked;
use self::released::{Released, Tombstones};
use self::sweep::{Candidate, Swept};
use crate::expired;
use crate::layout;
use crate::lease::state;
use crate::local::Inner;
use crate::lock::Collector;
use crate::roots::{Lost, OwnerRoots};

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

    let listed = Listed::read(store)?;
    let leases = state::read_all(&layout.leases, past)?;
    let mut marked = Marked::default();
    marked.add(state::leased(&leases, &forgotten));
    let mut lost = layout.roots.lost()?;
    let mut released = Vec::new();
    // Roots that say something superfluous, if only until now.
    let mut superfluous = Vec::new();
    for name in layout.roots.names().map_err(unreadable)? {
        let owner = layout.roots.read(&name).map_err(unreadable_roots)?;
        if let Some(owner) = &owner {
            marked.add(owner.digests().copied());
            if !lost.is_nothing() {
                released.extend(owner.released().flat_map(|(_, digests)| digests));
            }
        }
        if owner.is_none_or(|owner| owner.has_superfluous_lines()) {
            superfluous.push(name);
        }
    }
    let marked = marked.close(store)?;
    let candidates = listed.unmarked(store, &marked, age)?;
    drop(marked);

    let (live, young) = (candidates.live, candidates.young);
    let mut report = CollectReport { live, young, ..CollectReport::default() };
    let (removable, removable_bytes) = total(candidates.artifacts());
    if !lost.is_nothing() {
        let released = Released::new(released);
        let unexplained = candidates.artifacts().filter(|c| !released.contains(&c.digest));
        let (unexplained, bytes) = total(unexplained);
        let stored = live + young + removable;
        if unexplained > stored / 2 && !options.force && !options.dry_run {
            let lost = layout.roots.paths_of(&lost);
            return Err(CollectError::RootsLost { unexplained, bytes, stored, lost });
        }
        report.unexplained = unexplained;
    }
    let mut swept = Swept::default();
    if options.dry_run {
        (report.removed, report.removed_bytes) = (removable, removable_bytes);
    } else {
        // They count for nothing from here on, and the sweep need not read
        // them again and again while publishers wait.
        state::remove_forgotten(&layout.leases, &leases, &forgotten, past)?;
        sweep::empty_trash(store)?;
        swept = sweep::sweep(store, &collector, &candidates, || {
            Ok(state::leased(&state::read_all(&layout.leases, past)?, &forgotten))
        })?;
        (report.removed, report.removed_bytes) = (swept.removed, swept.removed_bytes);
        report.live += swept.spared;
        sweep::empty_trash(store)?;
    }
    let before = age.now.saturating_sub(age.grace);
    report.removed_captures = store.captures.remove_orphans(before, options.dry_run)?;
    if !options.dry_run {
        layout.roots.remove_temporaries(&collector)?;
        layout::remove_temporaries(&layout.root, &collector, past)?;
        let (mut tombstones, waiting) = (Tombstones::new(&swept), &candidates.waiting);
        for name in &superfluous {
            // What was released is told while it waits for its end.
            let keep = |digest: &Digest| waiting.binary_search(digest).is_ok();
            let look = |roots: &OwnerRoots| tombstones.look_at(roots);
            layout.roots.compact(name, &collector, look, keep).map_err(unreadable_roots)?;
        }
        let at = Timestamp(age.now.as_millis() as u64);
        // Worth no error: without them, what is gone is unknown.
        let _ = expired::add(&layout.root, &tombstones.written(at), &collector);
        if options.force || waiting.is_empty() {
            lost = Lost::default();
        }
        layout.roots.note(&lost, &collector)?;
    }
    Ok(report)
}

/// How many there are, and their bytes.
fn total<'a>(candidates: impl Iterator<Item = &'a Candidate>) -> (u64, u64) {
    candidates.fold((0, 0), |(n, bytes), candidate| (n + 1, bytes + candidate.bytes))
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
