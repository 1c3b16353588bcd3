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
//! The order of steps here, in `publish`, `borrow` and `lease` is checked in
//! every interleaving by a model, `tests/it/model`: change both.

mod mark;
mod sweep;

use std::sync::Arc;
use std::time::Duration;

use artifacts::{CollectError, CollectOptions, CollectReport, FileError, RootError};

use self::mark::Marked;
use self::sweep::{Candidate, Kind};
use crate::lease::state;
use crate::local::Inner;
use crate::lock::Collector;

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
    let expired = |changed| age.is_over(changed);
    // What is released by now is forgotten; what is released from now on is
    // not, for its root may be written after the roots are read.
    let before = state::read_all(&layout.leases, expired)?;
    let forgotten = state::forgettable(&before, expired);

    let mut candidates = sweep::list(store)?;
    let leases = state::read_all(&layout.leases, expired)?;
    let mut marked = Marked::default();
    marked.extend(store, state::leased(&leases, &forgotten))?;
    let roots = layout.roots.names().map_err(unreadable)?;
    for name in &roots {
        if let Some(owner) = layout.roots.read(name).map_err(unreadable_roots)? {
            marked.extend(store, owner.digests().copied())?;
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
    candidates.retain(|candidate| {
        let is_marked = marked.contains(&candidate.digest);
        let is_young = !is_marked
            && (!age.is_over(candidate.stat.changed) || marked.is_young(&candidate.digest));
        if candidate.kind != Kind::Orphan {
            live += u64::from(is_marked);
            young += u64::from(is_young);
        }
        !is_marked && !is_young
    });
    (report.live, report.young) = (live, young);
    if options.dry_run {
        let removed = candidates.iter().filter(|candidate| candidate.kind != Kind::Orphan);
        (report.removed, report.removed_bytes) =
            removed.fold((0, 0), |(n, bytes), c: &Candidate| (n + 1, bytes + c.stat.bytes));
    } else {
        // They count for nothing from here on, and the sweep need not read
        // them again and again while publishers wait.
        state::remove_forgotten(&layout.leases, &leases, &forgotten, expired)?;
        sweep::empty_trash(store)?;
        let swept = sweep::sweep(store, &collector, &candidates, || {
            Ok(state::leased(&state::read_all(&layout.leases, expired)?, &forgotten))
        })?;
        (report.removed, report.removed_bytes) = (swept.files, swept.bytes);
        report.live += swept.spared;
        sweep::empty_trash(store)?;
    }
    let before = age.now.saturating_sub(age.grace);
    report.removed_captures = store.captures.remove_orphans(before, options.dry_run)?;
    if !options.dry_run {
        layout.roots.remove_temporaries(&collector)?;
        for name in &roots {
            layout.roots.compact(name, &collector).map_err(unreadable_roots)?;
        }
    }
    Ok(report)
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
