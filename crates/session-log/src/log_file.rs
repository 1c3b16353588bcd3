//! One log on disk, and the lock under which it changes.

use std::io;
use std::os::fd::OwnedFd;

use artifacts::{Durability, FileError};
use output_contract::Timestamp;
use rustix::fs::{FileType, FlockOperation, OFlags, Stat};
use rustix::io::Errno;

use crate::directory::Directory;
use crate::error::LogError;

/// A log that is read, without its lock.
#[derive(Debug)]
pub(crate) struct OpenLog {
    fd: OwnedFd,
    stat: Stat,
}

impl OpenLog {
    /// Opens the log `name`. `None`: there is none.
    pub(crate) fn open(dir: &Directory, name: &str) -> Result<Option<Self>, LogError> {
        let Some(fd) = dir.open(name, OFlags::RDONLY)? else { return Ok(None) };
        let stat = regular(dir, name, &fd)?;
        Ok(Some(Self { fd, stat }))
    }

    /// Its size when it was opened, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.stat.st_size as u64
    }

    /// When it was last written before it was opened.
    pub(crate) fn last_modified(&self) -> Timestamp {
        let millis = i128::from(self.stat.st_mtime) * 1_000
            + i128::from(self.stat.st_mtime_nsec) / 1_000_000;
        Timestamp(u64::try_from(millis).unwrap_or(0))
    }
}

impl io::Read for OpenLog {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(&self.fd, buffer)?)
    }
}

/// A log whose lock is held: nobody else appends to it or removes it. Dropping
/// it gives the lock back, and so does the death of the process.
#[derive(Debug)]
pub(crate) struct LockedLog<'a> {
    dir: &'a Directory,
    name: &'a str,
    fd: OwnedFd,
    len: u64,
}

impl<'a> LockedLog<'a> {
    /// Waits for the lock of the log `name`, which is made where it is missing.
    pub(crate) fn create(dir: &'a Directory, name: &'a str) -> Result<Self, LogError> {
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE;
        loop {
            let Some(fd) = dir.open(name, flags)? else {
                // The directory itself was removed.
                return Err(dir.failed("create", name, Errno::NOENT).into());
            };
            if let Some(log) = Self::lock(dir, name, fd)? {
                return Ok(log);
            }
        }
    }

    /// Waits for the lock of the log `name`. `None`: there is no log.
    pub(crate) fn existing(dir: &'a Directory, name: &'a str) -> Result<Option<Self>, LogError> {
        while let Some(fd) = dir.open(name, OFlags::RDWR | OFlags::APPEND)? {
            if let Some(log) = Self::lock(dir, name, fd)? {
                return Ok(Some(log));
            }
        }
        Ok(None)
    }

    /// Waits for the lock of `fd`. `None`: whoever held it has removed the log,
    /// and this is a file that nobody will find again.
    fn lock(dir: &'a Directory, name: &'a str, fd: OwnedFd) -> Result<Option<Self>, LogError> {
        regular(dir, name, &fd)?;
        while let Err(errno) = rustix::fs::flock(&fd, FlockOperation::LockExclusive) {
            if errno != Errno::INTR {
                return Err(dir.failed("lock", name, errno).into());
            }
        }
        let ours = regular(dir, name, &fd)?;
        let same = |there: Stat| (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino);
        if !dir.stat(name)?.is_some_and(same) {
            return Ok(None);
        }
        Ok(Some(Self { dir, name, fd, len: ours.st_size as u64 }))
    }

    /// The log's size, in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// At most `limit` bytes from the start of the log.
    pub(crate) fn head(&self, limit: usize) -> Result<Vec<u8>, FileError> {
        let mut head = vec![0; limit];
        let mut filled = 0;
        while filled < limit {
            match self.read_at(&mut head[filled..], filled as u64)? {
                0 => break,
                read => filled += read,
            }
        }
        head.truncate(filled);
        Ok(head)
    }

    /// Whether the log ends inside a record.
    pub(crate) fn is_torn(&self) -> Result<bool, FileError> {
        let Some(last) = self.len.checked_sub(1) else { return Ok(false) };
        let mut byte = [b'\n'];
        self.read_at(&mut byte, last)?;
        Ok(byte != *b"\n")
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, FileError> {
        loop {
            match rustix::io::pread(&self.fd, &mut *buffer, offset) {
                Ok(read) => return Ok(read),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(self.failed("read", errno)),
            }
        }
    }

    /// Appends `bytes`. Where that fails, the log is cut back to what it was.
    /// With `settle`, and where the log is durable, they are on the medium then.
    pub(crate) fn append(
        self,
        bytes: &[u8],
        durability: Durability,
        settle: bool,
    ) -> Result<(), FileError> {
        if self.len == 0 && durability.waits() {
            // Before the first record, so that a log with records in it has a
            // durable name even if its maker died in between.
            self.dir.sync()?;
        }
        let appended = self.write_all(bytes).and_then(|()| match durability {
            Durability::Durable if settle => {
                rustix::fs::fdatasync(&self.fd).map_err(|errno| self.failed("sync", errno))
            }
            Durability::Durable | Durability::Fast => Ok(()),
        });
        if appended.is_err() {
            // If this fails too, a torn tail stays, which the next append
            // closes and every reader passes over.
            let _ = rustix::fs::ftruncate(&self.fd, self.len);
        }
        appended
    }

    fn write_all(&self, mut bytes: &[u8]) -> Result<(), FileError> {
        while !bytes.is_empty() {
            match rustix::io::write(&self.fd, bytes) {
                Ok(0) => return Err(self.failed("append to", Errno::IO)),
                Ok(written) => bytes = &bytes[written..],
                Err(Errno::INTR) => {}
                Err(errno) => return Err(self.failed("append to", errno)),
            }
        }
        Ok(())
    }

    /// Removes the log. Who waits for its lock will notice.
    pub(crate) fn remove(self, durability: Durability) -> Result<(), FileError> {
        self.dir.unlink(self.name)?;
        match durability {
            Durability::Durable => self.dir.sync(),
            Durability::Fast => Ok(()),
        }
    }

    fn failed(&self, action: &'static str, errno: Errno) -> FileError {
        self.dir.failed(action, self.name, errno)
    }
}

/// The state of an open file, which must be a regular one.
fn regular(dir: &Directory, name: &str, fd: &OwnedFd) -> Result<Stat, LogError> {
    let stat = rustix::fs::fstat(fd).map_err(|errno| dir.failed("look at", name, errno))?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
        Ok(stat)
    } else {
        Err(LogError::NotAFile { path: dir.path().join(name) })
    }
}
