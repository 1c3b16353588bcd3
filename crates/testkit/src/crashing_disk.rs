//! A disk that loses power.
//!
//! Everything is done in a real directory and written down on the way. At each
//! [`Moment`] it is known what is on the medium for certain, and what may be;
//! [`Moment::recall`] makes a directory of what survived in one of the possible
//! cases. The model is that of POSIX, at its strictest:
//!
//! - Bytes of a file are on the medium once the file is synced. Of the others
//!   any may be, or their beginning, or zeros in their place.
//! - A name is on the medium once its own directory is synced, and not by
//!   syncing the file. Of the others any may be; changes to one name keep their
//!   order.
//! - A rename within one directory is whole or not there. One between two may
//!   come to one of them alone.
//! - Locks are gone.

mod model;
mod survival;

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use artifacts::FileId;
use artifacts::fs::{Interposer, Operation, OperationKind, Verdict};
use camino::{Utf8Path, Utf8PathBuf};

use self::model::{Disk, Entry};
pub use self::survival::Survival;

/// An [`Interposer`] that notes what is on the medium after each change.
pub struct CrashingDisk {
    base: Utf8PathBuf,
    lie: Option<DiskLie>,
    state: Mutex<State>,
}

/// How a disk, or who syncs, breaks its word.
#[derive(Debug, Clone, Copy)]
pub enum DiskLie {
    /// These syncs do nothing.
    Forgets(fn(&Operation<'_>) -> bool),
    /// These syncs come only after another operation.
    Delays {
        /// Which.
        what: fn(&Operation<'_>) -> bool,
        /// After which.
        until: fn(&Operation<'_>) -> bool,
    },
}

#[derive(Debug)]
struct State {
    disk: Disk,
    moments: Vec<Moment>,
    facts: usize,
    delayed: Vec<Sync>,
}

#[derive(Debug)]
enum Sync {
    File(FileId),
    Dir(Utf8PathBuf),
}

/// The disk after one change.
#[derive(Debug, Clone)]
pub struct Moment {
    /// The change, for messages.
    pub after: String,
    /// How often [`CrashingDisk::note`] had been called.
    pub facts: usize,
    disk: Disk,
}

impl fmt::Debug for CrashingDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CrashingDisk").field("base", &self.base).finish_non_exhaustive()
    }
}

impl CrashingDisk {
    /// A disk at the directory `base`; what is there is on the medium.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn new(base: &Utf8Path, lie: Option<DiskLie>) -> std::io::Result<Self> {
        let disk = Disk::read(base)?;
        let begun = Moment { after: "nothing".to_owned(), facts: 0, disk: disk.clone() };
        let state = State { disk, moments: vec![begun], facts: 0, delayed: Vec::new() };
        Ok(Self { base: base.to_owned(), lie, state: Mutex::new(state) })
    }

    /// Counts one more fact that whoever uses the disk may rely on.
    pub fn note(&self) {
        let state = &mut *self.state();
        state.facts += 1;
        state.moments.push(Moment {
            after: format!("fact {}", state.facts),
            facts: state.facts,
            disk: state.disk.clone(),
        });
    }

    /// The disk after each change so far.
    pub fn moments(&self) -> Vec<Moment> {
        self.state().moments.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Moment {
    /// Makes in the empty directory `into` what survives of the disk.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn recall(&self, survival: Survival, into: &Utf8Path) -> std::io::Result<()> {
        survival::recall(&self.disk, survival, into)
    }
}

impl Interposer for CrashingDisk {
    fn before(&self, operation: &Operation<'_>) -> Verdict {
        match operation.kind {
            OperationKind::SyncFile | OperationKind::SyncDir => Verdict::Pretend,
            _ => Verdict::Proceed,
        }
    }

    fn after(&self, operation: &Operation<'_>, file: Option<FileId>) {
        let Ok(path) = operation.path.strip_prefix(&self.base) else { return };
        let to = operation.to.and_then(|to| to.strip_prefix(&self.base).ok());
        let state = &mut *self.state();
        let sync = match operation.kind {
            OperationKind::SyncFile => file.map(Sync::File),
            OperationKind::SyncDir => Some(Sync::Dir(path.to_owned())),
            _ => None,
        };
        let changed = match (sync, self.lie) {
            (Some(_), Some(DiskLie::Forgets(what))) if what(operation) => false,
            (Some(sync), Some(DiskLie::Delays { what, .. })) if what(operation) => {
                state.delayed.push(sync);
                false
            }
            (Some(sync), _) => state.disk.sync(&sync),
            (None, _) => state.disk.change(operation, path, to, file),
        };
        if let Some(DiskLie::Delays { until, .. }) = self.lie
            && until(operation)
        {
            state.moment(operation);
            for sync in std::mem::take(&mut state.delayed) {
                state.disk.sync(&sync);
            }
        }
        if changed {
            state.moment(operation);
        }
    }
}

impl State {
    fn moment(&mut self, operation: &Operation<'_>) {
        let Operation { number, kind, path, to, .. } = operation;
        let after = match to {
            Some(to) => format!("{number} {kind:?} {path} {to}"),
            None => format!("{number} {kind:?} {path}"),
        };
        self.moments.push(Moment { after, facts: self.facts, disk: self.disk.clone() });
    }
}

impl Disk {
    fn sync(&mut self, sync: &Sync) -> bool {
        match sync {
            Sync::File(file) => self.sync_file(*file),
            Sync::Dir(path) => self.sync_dir(path),
        }
    }

    /// Writes down what was done; `false` where that is no change.
    fn change(
        &mut self,
        operation: &Operation<'_>,
        path: &Utf8Path,
        to: Option<&Utf8Path>,
        file: Option<FileId>,
    ) -> bool {
        let file = || file.expect("it is open");
        let to = || to.expect("it has two names, both on this disk");
        match operation.kind {
            OperationKind::MakeDir => self.set(path, Entry::Dir),
            OperationKind::RemoveDir | OperationKind::Unlink => self.remove(path),
            OperationKind::Create => return self.create(path, file()),
            OperationKind::Link => {
                let entry = self.entry(path);
                self.set(to(), entry);
            }
            OperationKind::Rename => self.rename(path, to()),
            OperationKind::Write => self.write(file(), operation.position, operation.bytes),
            OperationKind::Truncate => self.cut(file(), operation.position.unwrap_or(0)),
            _ => return false,
        }
        true
    }
}
