//! The lock of one capture.

use std::os::fd::OwnedFd;

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::directory::{Directory, has_mode, set_mode, stat_of};
use crate::error::FileError;
use crate::fs::{OperationKind, Target};

/// The suffix of lock files.
pub(super) const LOCK_SUFFIX: &str = ".lock";

/// A held lock: while it lives, the capture is nobody else's.
#[derive(Debug)]
pub(super) struct CaptureLock {
    fd: OwnedFd,
    name: String,
}

/// How taking a lock ended.
#[derive(Debug)]
pub(super) enum Taken {
    /// It is ours.
    Held(CaptureLock),
    /// Someone else has it.
    Busy,
    /// The lock file is missing, or was removed while we took it.
    Gone,
}

impl CaptureLock {
    /// The name of the lock file.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Takes the lock of the capture `id` without waiting; `create` makes the
    /// lock file where it is missing.
    pub(super) fn take(root: &Directory, id: &str, create: bool) -> Result<Taken, FileError> {
        let name = format!("{id}{LOCK_SUFFIX}");
        let mut flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        flags.set(OFlags::CREATE, create);
        let kind = if create { OperationKind::Create } else { OperationKind::Open };
        let opened = root.fs().open(root.target(kind, &name), || {
            rustix::fs::openat(root, &name, flags, Mode::from_raw_mode(0o600))
        });
        let fd = match opened {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(Taken::Gone),
            Err(errno) => return Err(root.fail("open", &name, errno)),
        };
        let path = root.path().join(&name);
        let locked = root.fs().run(Target::of(OperationKind::Lock, &fd, &path), || {
            rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive)
        });
        match locked {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Ok(Taken::Busy),
            Err(errno) => return Err(root.fail("lock", &name, errno)),
        }
        let lock = Self { fd, name };
        // Whoever cleaned up may have unlinked it between open and lock.
        let ours = stat_of(root.fs(), &lock.fd, &path)
            .map_err(|errno| root.fail("look at", &lock.name, errno))?;
        if create && !has_mode(&ours, 0o600) {
            set_mode(root.fs(), &lock.fd, &path, 0o600)
                .map_err(|errno| root.fail("set the mode of", &lock.name, errno))?;
        }
        match root.stat(&lock.name)? {
            Some(found) if (found.st_dev, found.st_ino) == (ours.st_dev, ours.st_ino) => {
                Ok(Taken::Held(lock))
            }
            _ => Ok(Taken::Gone),
        }
    }
}

impl Drop for CaptureLock {
    fn drop(&mut self) {
        // Closing would do, were it not for a child between fork and exec that
        // still has the handle.
        let _ = rustix::fs::flock(&self.fd, FlockOperation::Unlock);
    }
}
