//! Open files: positioned reads, appends that are whole or not there, locks.

use std::os::fd::OwnedFd;

use artifacts::FileError;
use artifacts::fs::{Fs, OperationKind, Target};
use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{FlockOperation, Mode, Timespec, Timestamps, UTIME_NOW};
use rustix::io::Errno;

use super::FileStat;

/// An open file. The path is for messages, never for access.
#[derive(Debug)]
pub(crate) struct File {
    fd: OwnedFd,
    path: Utf8PathBuf,
    fs: Fs,
}

/// How a file is locked; always flock, which belongs to this handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LockMode {
    Shared,
    Exclusive,
}

impl File {
    pub(super) const fn new(fd: OwnedFd, path: Utf8PathBuf, fs: Fs) -> Self {
        Self { fd, path, fs }
    }

    /// Another handle on this file, which shares its locks.
    pub(crate) fn again(&self) -> Result<Self, FileError> {
        let fd = self.fd.try_clone();
        let fd = fd.map_err(|source| FileError::new("open", &self.path, source))?;
        Ok(Self::new(fd, self.path.clone(), self.fs.clone()))
    }

    pub(crate) fn path(&self) -> &Utf8Path {
        &self.path
    }

    fn fail(&self, action: &'static str, errno: Errno) -> FileError {
        FileError::new(action, &self.path, errno)
    }

    fn target(&self, kind: OperationKind) -> Target<'_> {
        Target::of(kind, &self.fd, &self.path)
    }

    fn run<T>(
        &self,
        kind: OperationKind,
        call: impl FnMut() -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        self.fs.run(self.target(kind), call)
    }

    pub(crate) fn stat(&self) -> Result<FileStat, FileError> {
        let stat = self
            .run(OperationKind::Stat, || rustix::fs::fstat(&self.fd))
            .map_err(|errno| self.fail("look at", errno))?;
        Ok(FileStat::of(&stat))
    }

    /// Fills `buffer` from `offset` on, as far as the file goes; returns how
    /// much of it is filled.
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, FileError> {
        let mut filled = 0;
        while filled < buffer.len() {
            let read = self.run(OperationKind::Read, || {
                rustix::io::pread(&self.fd, &mut buffer[filled..], offset + filled as u64)
            });
            match read {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(errno) => return Err(self.fail("read", errno)),
            }
        }
        Ok(filled)
    }

    /// Reads the whole file where it has at most `limit` bytes, and one byte
    /// more than that of a longer one.
    pub(crate) fn read_up_to(&self, limit: u64) -> Result<Vec<u8>, FileError> {
        let expected = self.stat()?.bytes.min(limit) + 1;
        let mut bytes = vec![0; expected as usize];
        let mut filled = self.read_at(&mut bytes, 0)?;
        // It may have grown since its size was asked for.
        while filled == bytes.len() && filled as u64 <= limit {
            bytes.resize((filled * 2).min(limit as usize + 1), 0);
            filled += self.read_at(&mut bytes[filled..], filled as u64)?;
        }
        bytes.truncate(filled);
        Ok(bytes)
    }

    /// Appends all of `bytes` to a file that was opened for appending and is
    /// locked; where that fails, cuts the file back to what it was.
    pub(crate) fn append(&self, bytes: &[u8]) -> Result<(), FileError> {
        self.append_after(self.stat()?.bytes, bytes)
    }

    /// Appends all of `bytes` to such a file that has `before` bytes.
    pub(crate) fn append_after(&self, before: u64, bytes: &[u8]) -> Result<(), FileError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let target = self.target(OperationKind::Write);
            match self.fs.write(target, rest, |rest| rustix::io::write(&self.fd, rest)) {
                Ok(written) if written > 0 => rest = &rest[written..],
                other => {
                    self.cut_back(before);
                    return Err(self.fail("append to", other.err().unwrap_or(Errno::IO)));
                }
            }
        }
        Ok(())
    }

    /// Takes back what was appended since the file had `bytes` bytes. Where
    /// that fails too, readers find a torn tail, and the next append closes it.
    pub(crate) fn cut_back(&self, bytes: u64) {
        let target = self.target(OperationKind::Truncate).position(bytes);
        let _ = self.fs.run(target, || rustix::fs::ftruncate(&self.fd, bytes));
    }

    pub(crate) fn set_mode(&self, mode: u32) -> Result<(), FileError> {
        self.run(OperationKind::SetMode, || rustix::fs::fchmod(&self.fd, Mode::from_raw_mode(mode)))
            .map_err(|errno| self.fail("set the mode of", errno))
    }

    /// Sets the file's time to now and returns its state: the file system's
    /// own clock.
    pub(crate) fn touch(&self) -> Result<FileStat, FileError> {
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let times = Timestamps { last_access: now, last_modification: now };
        self.run(OperationKind::Touch, || rustix::fs::futimens(&self.fd, &times))
            .map_err(|errno| self.fail("touch", errno))?;
        self.stat()
    }

    /// Brings the bytes to the medium. A failure is final: the bytes may be
    /// lost although a second attempt would succeed.
    pub(crate) fn sync(&self) -> Result<(), FileError> {
        self.fs
            .sync(self.target(OperationKind::SyncFile), || rustix::fs::fdatasync(&self.fd))
            .map_err(|errno| self.fail("sync", errno))
    }

    /// Locks the file, waiting for whoever holds it.
    pub(crate) fn lock(&self, mode: LockMode) -> Result<(), FileError> {
        let operation = match mode {
            LockMode::Shared => FlockOperation::LockShared,
            LockMode::Exclusive => FlockOperation::LockExclusive,
        };
        self.run(OperationKind::Lock, || rustix::fs::flock(&self.fd, operation))
            .map_err(|errno| self.fail("lock", errno))
    }

    /// Locks the file unless someone else holds it.
    pub(crate) fn try_lock(&self, mode: LockMode) -> Result<bool, FileError> {
        let operation = match mode {
            LockMode::Shared => FlockOperation::NonBlockingLockShared,
            LockMode::Exclusive => FlockOperation::NonBlockingLockExclusive,
        };
        match self.run(OperationKind::Lock, || rustix::fs::flock(&self.fd, operation)) {
            Ok(()) => Ok(true),
            Err(Errno::WOULDBLOCK) => Ok(false),
            Err(errno) => Err(self.fail("lock", errno)),
        }
    }

    /// Unlocks the file, also for a child that still has the handle because it
    /// is between fork and exec.
    pub(crate) fn unlock(&self) {
        let _ = rustix::fs::flock(&self.fd, FlockOperation::Unlock);
    }
}
