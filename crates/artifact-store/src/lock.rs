//! The two locks of a store. Holding one is holding a value.

use std::sync::{Mutex, PoisonError};

use artifacts::FileError;

use crate::layout::{GC_LOCK, SWEEP_LOCK};
use crate::tree::{Dir, File, FileStat, LockMode};

/// The lock files.
#[derive(Debug)]
pub(crate) struct Locks {
    dir: Dir,
    /// Handles on the sweep lock that nobody holds it by right now. A lock file
    /// is never replaced, so they stay good.
    sweep: Mutex<Vec<File>>,
}

/// Idle handles that are kept; more threads than that at once open their own.
const IDLE: usize = 4;

impl Locks {
    pub(crate) const fn new(dir: Dir) -> Self {
        Self { dir, sweep: Mutex::new(Vec::new()) }
    }

    fn sweep(&self, mode: LockMode) -> Result<Sweep<'_>, FileError> {
        let idle = self.sweep.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let file = match idle {
            Some(file) => file,
            None => open(&self.dir, SWEEP_LOCK)?,
        };
        file.lock(mode)?;
        Ok(Sweep { file: Some(file), locks: self })
    }
}

/// The sweep lock, held.
#[derive(Debug)]
struct Sweep<'a> {
    file: Option<File>,
    locks: &'a Locks,
}

impl Drop for Sweep<'_> {
    fn drop(&mut self) {
        let Some(file) = self.file.take() else { return };
        file.unlock();
        let mut idle = self.locks.sweep.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE {
            idle.push(file);
        }
    }
}

/// While it lives, nothing is removed. Held for microseconds: no reading, no
/// writing of content and no fsync under it.
#[derive(Debug)]
pub(crate) struct SweepShared<'a> {
    _held: Sweep<'a>,
}

impl<'a> SweepShared<'a> {
    pub(crate) fn take(locks: &'a Locks) -> Result<Self, FileError> {
        Ok(Self { _held: locks.sweep(LockMode::Shared)? })
    }
}

/// While it lives, nobody links.
#[derive(Debug)]
pub(crate) struct SweepExclusive<'a> {
    _held: Sweep<'a>,
}

impl<'a> SweepExclusive<'a> {
    /// Only a collector sweeps.
    pub(crate) fn take(locks: &'a Locks, _collector: &Collector) -> Result<Self, FileError> {
        Ok(Self { _held: locks.sweep(LockMode::Exclusive)? })
    }
}

/// While it lives, no one else collects.
#[derive(Debug)]
pub(crate) struct Collector {
    file: Locked,
}

impl Collector {
    /// `None` while someone else collects.
    pub(crate) fn try_take(locks: &Locks) -> Result<Option<Self>, FileError> {
        let file = open(&locks.dir, GC_LOCK)?;
        Ok(file.try_lock(LockMode::Exclusive)?.then(|| Self { file: Locked(file) }))
    }

    /// Waits for whoever collects.
    pub(crate) fn take(locks: &Locks) -> Result<Self, FileError> {
        let file = open(&locks.dir, GC_LOCK)?;
        file.lock(LockMode::Exclusive)?;
        Ok(Self { file: Locked(file) })
    }

    /// When someone last collected, or the store was made.
    pub(crate) fn last(&self) -> Result<FileStat, FileError> {
        self.file.0.stat()
    }

    /// What the file system's own clock shows.
    pub(crate) fn clock(&self) -> Result<FileStat, FileError> {
        self.file.0.touch()
    }
}

/// A file that is unlocked when dropped. Every taker opens its own: two
/// threads on one handle would share the lock.
#[derive(Debug)]
pub(crate) struct Locked(pub(crate) File);

impl Drop for Locked {
    fn drop(&mut self) {
        self.0.unlock();
    }
}

/// A locked file whose handle stays when it is unlocked. Whoever has this has
/// the handle alone.
#[derive(Debug)]
pub(crate) struct Held<'a>(pub(crate) &'a File);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.unlock();
    }
}

fn open(locks: &Dir, name: &str) -> Result<File, FileError> {
    match locks.open_append(name)? {
        Some(file) => Ok(file),
        // A lock that was there when the store was made is not made anew: some
        // process may hold the one that someone removed.
        None => Err(FileError::new(
            "open",
            locks.path().join(name),
            std::io::Error::from(std::io::ErrorKind::NotFound),
        )),
    }
}
