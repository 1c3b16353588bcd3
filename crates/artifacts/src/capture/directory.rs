//! Directory handles: every file of a capture is reached through one, so that
//! no path is walked twice and no symlink is followed.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RawMode, Stat};
use rustix::io::Errno;

use super::error::CaptureError;
use super::lock::CaptureLock;
use crate::error::FileError;

/// An open directory; the path is for messages and for callers, not for access.
#[derive(Debug)]
pub(super) struct Directory {
    fd: OwnedFd,
    path: Utf8PathBuf,
}

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl Directory {
    /// Opens `path`, making it where it is missing.
    pub(super) fn open_or_create(path: &Utf8Path) -> Result<Self, FileError> {
        match Self::open(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                match rustix::fs::mkdir(path.as_std_path(), Mode::from_raw_mode(0o700)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(errno) => return Err(FileError::new("create", path, errno)),
                }
                Self::open(path)
            }
            other => other,
        }
    }

    pub(super) fn open(path: &Utf8Path) -> Result<Self, FileError> {
        let fd = rustix::fs::open(path.as_std_path(), DIRECTORY, Mode::empty())
            .map_err(|errno| FileError::new("open", path, errno))?;
        Ok(Self { fd, path: path.to_owned() })
    }

    pub(super) fn path(&self) -> &Utf8Path {
        &self.path
    }

    pub(super) fn fail(&self, action: &'static str, name: &str, errno: Errno) -> FileError {
        FileError::new(action, self.path.join(name), errno)
    }

    /// Opens the directory `name` in this one.
    pub(super) fn open_dir(&self, name: &str) -> Result<Self, FileError> {
        let fd = rustix::fs::openat(&self.fd, name, DIRECTORY, Mode::empty())
            .map_err(|errno| self.fail("open", name, errno))?;
        Ok(Self { fd, path: self.path.join(name) })
    }

    /// Opens the directory `name` in this one; `None` where there is none, or
    /// something else.
    pub(super) fn find_dir(&self, name: &str) -> Result<Option<Self>, FileError> {
        match rustix::fs::openat(&self.fd, name, DIRECTORY, Mode::empty()) {
            Ok(fd) => Ok(Some(Self { fd, path: self.path.join(name) })),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(errno) => Err(self.fail("open", name, errno)),
        }
    }

    /// Makes the directory `name`, for its owner only whatever the umask.
    pub(super) fn create_dir(&self, name: &str) -> Result<Self, FileError> {
        rustix::fs::mkdirat(&self.fd, name, Mode::from_raw_mode(0o700))
            .map_err(|errno| self.fail("create", name, errno))?;
        // Not by a handle: the umask may have left nothing to open it with.
        rustix::fs::chmodat(&self.fd, name, Mode::from_raw_mode(0o700), AtFlags::empty())
            .map_err(|errno| self.fail("set the mode of", name, errno))?;
        self.open_dir(name)
    }

    /// Makes the file `name` for reading and writing; it must not exist.
    pub(super) fn create_new(&self, name: &str, mode: RawMode) -> Result<OwnedFd, FileError> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.fd, name, flags, Mode::from_raw_mode(mode))
            .map_err(|errno| self.fail("create", name, errno))?;
        set_mode(&fd, mode).map_err(|errno| self.fail("set the mode of", name, errno))?;
        Ok(fd)
    }

    /// Opens the file `name` for reading; `None` where it is missing.
    pub(super) fn open_file(&self, name: &str) -> Result<Option<OwnedFd>, FileError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.fd, name, flags, Mode::empty()) {
            Ok(fd) => Ok(Some(fd)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.fail("open", name, errno)),
        }
    }

    /// The state of `name` itself, not of what it points to.
    pub(super) fn stat(&self, name: &str) -> Result<Option<Stat>, FileError> {
        match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.fail("look at", name, errno)),
        }
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> Result<(), FileError> {
        rustix::fs::renameat(&self.fd, from, &self.fd, to)
            .map_err(|errno| self.fail("rename", from, errno))
    }

    /// Removes the file `name`; it may be gone already.
    pub(super) fn unlink(&self, name: &str) -> Result<(), FileError> {
        self.remove(name, AtFlags::empty())
    }

    fn remove(&self, name: &str, flags: AtFlags) -> Result<(), FileError> {
        match rustix::fs::unlinkat(&self.fd, name, flags) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(self.fail("remove", name, errno)),
        }
    }

    /// The names in this directory; those that are not UTF-8 are not ours.
    pub(super) fn names(&self) -> Result<Vec<String>, FileError> {
        let failed = |errno| FileError::new("list", &self.path, errno);
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.fd).map_err(failed)? {
            if let Ok(name) = entry.map_err(failed)?.file_name().to_str()
                && !matches!(name, "." | "..")
            {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    /// Removes the files of the capture `dir`, `dir` itself, and the lock file.
    pub(super) fn remove_capture(&self, dir: Self, lock: &CaptureLock) -> Result<(), CaptureError> {
        for name in dir.names()? {
            dir.unlink(&name)?;
        }
        let name = dir.path.file_name().expect("a capture's directory has a name").to_owned();
        drop(dir);
        self.remove(&name, AtFlags::REMOVEDIR)?;
        self.unlink(lock.name())?;
        Ok(())
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Sets a mode that creation may have narrowed by the umask.
pub(super) fn set_mode(fd: &OwnedFd, mode: RawMode) -> Result<(), Errno> {
    rustix::fs::fchmod(fd, Mode::from_raw_mode(mode))
}

/// Whether `stat` is that of a regular file.
pub(super) fn is_file(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}
