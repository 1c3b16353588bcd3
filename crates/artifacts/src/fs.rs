//! The way to the disk, and what tests put in it.
//!
//! Captures and the local store do everything that concerns files through an
//! [`Fs`], one system call at a time. It is the system and nothing else: without
//! the feature `fault-injection` it has no size and no code of its own. With the
//! feature, a test or a worker of a test puts an `Interposer` into it, which is
//! asked before each call and told after it. So it can fail a call, shorten a
//! write, kill its process at a point that it chose, or write down what a disk
//! would have been told, and from that make what is left after a loss of power.
//!
//! No interface for others: it may change with the store.

#[cfg(feature = "fault-injection")]
mod interposed;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use camino::Utf8Path;
pub use rustix::io::Errno;

#[cfg(feature = "fault-injection")]
pub use self::interposed::{Interposer, Operation, Verdict};

/// The way to the disk.
#[derive(Debug, Clone, Default)]
pub struct Fs {
    #[cfg(feature = "fault-injection")]
    interposed: Option<std::sync::Arc<interposed::Interposed>>,
}

/// What a system call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum OperationKind {
    /// Opens a directory.
    OpenDir,
    /// Makes a directory.
    MakeDir,
    /// Removes an empty directory.
    RemoveDir,
    /// Reads the names in a directory.
    List,
    /// Brings the names in a directory to the medium.
    SyncDir,
    /// Opens a file that exists.
    Open,
    /// Makes a file, or opens one that exists.
    Create,
    /// Asks for the state of a file, a directory or its file system.
    Stat,
    /// Sets the times of a file to now.
    Touch,
    /// Sets the mode of a file or directory.
    SetMode,
    /// Gives a file another name.
    Link,
    /// Moves a file over whatever has its new name.
    Rename,
    /// Removes a name of a file.
    Unlink,
    /// Reads bytes.
    Read,
    /// Writes bytes, at a position or at the end.
    Write,
    /// Cuts a file.
    Truncate,
    /// Brings the bytes of a file to the medium.
    SyncFile,
    /// Locks a file, or tries to.
    Lock,
}

/// What a system call is about to be done to.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(feature = "fault-injection"), expect(dead_code, reason = "nobody looks"))]
pub struct Target<'a> {
    kind: OperationKind,
    dir: &'a Utf8Path,
    name: &'a str,
    to: Option<(&'a Utf8Path, &'a str)>,
    file: Option<BorrowedFd<'a>>,
    position: Option<u64>,
    bytes: &'a [u8],
}

impl<'a> Target<'a> {
    /// The entry `name` of the directory `dir`, or the directory itself where
    /// `name` is empty.
    pub const fn at(kind: OperationKind, dir: &'a Utf8Path, name: &'a str) -> Self {
        Self { kind, dir, name, to: None, file: None, position: None, bytes: &[] }
    }

    /// An open file, and the path that it was opened by.
    pub fn of(kind: OperationKind, file: &'a impl AsFd, path: &'a Utf8Path) -> Self {
        Self { file: Some(file.as_fd()), ..Self::at(kind, path, "") }
    }

    /// The other name, of what has two.
    #[must_use]
    pub const fn to(self, dir: &'a Utf8Path, name: &'a str) -> Self {
        Self { to: Some((dir, name)), ..self }
    }

    /// Where in the file, in bytes; without it, at its end.
    #[must_use]
    pub const fn position(self, position: u64) -> Self {
        Self { position: Some(position), ..self }
    }
}

impl Fs {
    /// The system, and nothing in between.
    pub const fn real() -> Self {
        Self {
            #[cfg(feature = "fault-injection")]
            interposed: None,
        }
    }

    /// Does `call`, again where a signal interrupted it.
    ///
    /// # Errors
    /// Those of `call`.
    #[inline]
    pub fn run<T>(
        &self,
        target: Target<'_>,
        call: impl FnMut() -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        #[cfg(feature = "fault-injection")]
        if let Some(interposed) = &self.interposed {
            let mut call = call;
            return uninterrupted(|| interposed.run(&target, &mut call));
        }
        let _ = target;
        uninterrupted(call)
    }

    /// Does `call`, which makes or opens a file.
    ///
    /// # Errors
    /// Those of `call`.
    #[inline]
    pub fn open(
        &self,
        target: Target<'_>,
        call: impl FnMut() -> Result<OwnedFd, Errno>,
    ) -> Result<OwnedFd, Errno> {
        #[cfg(feature = "fault-injection")]
        if let Some(interposed) = &self.interposed {
            let mut call = call;
            return uninterrupted(|| interposed.open(&target, &mut call));
        }
        let _ = target;
        uninterrupted(call)
    }

    /// Does `call`, which writes `bytes` or their beginning, and says how many.
    ///
    /// # Errors
    /// Those of `call`.
    #[inline]
    pub fn write(
        &self,
        target: Target<'_>,
        bytes: &[u8],
        mut call: impl FnMut(&[u8]) -> Result<usize, Errno>,
    ) -> Result<usize, Errno> {
        #[cfg(feature = "fault-injection")]
        if let Some(interposed) = &self.interposed {
            return uninterrupted(|| interposed.write(&target, bytes, &mut call));
        }
        let _ = target;
        uninterrupted(|| call(bytes))
    }

    /// Does `call`, which brings something to the medium. An interrupted one is
    /// begun again; any other failure is final, because the system forgets what
    /// it could not write.
    ///
    /// # Errors
    /// Those of `call`.
    #[inline]
    pub fn sync(
        &self,
        target: Target<'_>,
        call: impl FnMut() -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        #[cfg(feature = "fault-injection")]
        if let Some(interposed) = &self.interposed {
            let mut call = call;
            return uninterrupted(|| interposed.sync(&target, &mut call));
        }
        let _ = target;
        uninterrupted(call)
    }
}

/// Does `call` until no signal interrupts it.
#[inline]
fn uninterrupted<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            done => return done,
        }
    }
}
