//! The two locks of a store. Holding one is holding a value.

use artifacts::FileError;

use crate::layout::{GC_LOCK, SWEEP_LOCK};
use crate::tree::{Dir, File, FileStat, LockMode};

/// While it lives, nothing is removed. Held for microseconds: no reading, no
/// writing of content and no fsync under it.
#[derive(Debug)]
pub(crate) struct SweepShared {
    _file: Locked,
}

impl SweepShared {
    pub(crate) fn take(locks: &Dir) -> Result<Self, FileError> {
        Ok(Self { _file: Locked::take(locks, SWEEP_LOCK, LockMode::Shared)? })
    }
}

/// While it lives, nobody links.
#[derive(Debug)]
pub(crate) struct SweepExclusive {
    _file: Locked,
}

impl SweepExclusive {
    /// Only a collector sweeps.
    pub(crate) fn take(locks: &Dir, _collector: &Collector) -> Result<Self, FileError> {
        Ok(Self { _file: Locked::take(locks, SWEEP_LOCK, LockMode::Exclusive)? })
    }
}

/// While it lives, no one else collects.
#[derive(Debug)]
pub(crate) struct Collector {
    file: Locked,
}

impl Collector {
    /// `None` while someone else collects.
    pub(crate) fn try_take(locks: &Dir) -> Result<Option<Self>, FileError> {
        let file = open(locks, GC_LOCK)?;
        Ok(file.try_lock(LockMode::Exclusive)?.then(|| Self { file: Locked(file) }))
    }

    /// Waits for whoever collects.
    pub(crate) fn take(locks: &Dir) -> Result<Self, FileError> {
        Ok(Self { file: Locked::take(locks, GC_LOCK, LockMode::Exclusive)? })
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

impl Locked {
    fn take(locks: &Dir, name: &str, mode: LockMode) -> Result<Self, FileError> {
        let file = open(locks, name)?;
        file.lock(mode)?;
        Ok(Self(file))
    }
}

impl Drop for Locked {
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
