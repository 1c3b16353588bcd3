//! Directory handles: every file of a capture is reached through one, so that
//! no path is walked twice and no symlink is followed.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RawMode, Stat};
use rustix::io::Errno;

use super::error::CaptureError;
use super::lock::CaptureLock;
use crate::error::FileError;
use crate::fs::{Fs, OperationKind, Target};

/// An open directory; the path is for messages and for callers, not for access.
#[derive(Debug)]
pub(super) struct Directory {
    fd: OwnedFd,
    path: Utf8PathBuf,
    fs: Fs,
}

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl Directory {
    /// Opens `path`, making it where it is missing.
    pub(super) fn open_or_create(path: &Utf8Path, fs: &Fs) -> Result<Self, FileError> {
        match Self::open(path, fs) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let made = fs.run(Target::at(OperationKind::MakeDir, path, ""), || {
                    rustix::fs::mkdir(path.as_std_path(), Mode::from_raw_mode(0o700))
                });
                match made {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(errno) => return Err(FileError::new("create", path, errno)),
                }
                Self::open(path, fs)
            }
            other => other,
        }
    }

    pub(super) fn open(path: &Utf8Path, fs: &Fs) -> Result<Self, FileError> {
        let fd = fs
            .run(Target::at(OperationKind::OpenDir, path, ""), || {
                rustix::fs::open(path.as_std_path(), DIRECTORY, Mode::empty())
            })
            .map_err(|errno| FileError::new("open", path, errno))?;
        Ok(Self { fd, path: path.to_owned(), fs: fs.clone() })
    }

    /// The way to the disk that this directory was opened by.
    pub(super) const fn fs(&self) -> &Fs {
        &self.fs
    }

    /// What is to be done to the entry `name`.
    pub(super) fn target<'a>(&'a self, kind: OperationKind, name: &'a str) -> Target<'a> {
        Target::at(kind, &self.path, name)
    }

    pub(super) fn path(&self) -> &Utf8Path {
        &self.path
    }

    pub(super) fn fail(&self, action: &'static str, name: &str, errno: Errno) -> FileError {
        FileError::new(action, self.path.join(name), errno)
    }

    /// Opens the directory `name` in this one.
    pub(super) fn open_dir(&self, name: &str) -> Result<Self, FileError> {
        let fd = self.dir_fd(name).map_err(|errno| self.fail("open", name, errno))?;
        Ok(self.below(fd, name))
    }

    fn dir_fd(&self, name: &str) -> Result<OwnedFd, Errno> {
        self.fs.run(self.target(OperationKind::OpenDir, name), || {
            rustix::fs::openat(&self.fd, name, DIRECTORY, Mode::empty())
        })
    }

    fn below(&self, fd: OwnedFd, name: &str) -> Self {
        Self { fd, path: self.path.join(name), fs: self.fs.clone() }
    }

    /// Opens the directory `name` in this one; `None` where there is none, or
    /// something else.
    pub(super) fn find_dir(&self, name: &str) -> Result<Option<Self>, FileError> {
        match self.dir_fd(name) {
            Ok(fd) => Ok(Some(self.below(fd, name))),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(errno) => Err(self.fail("open", name, errno)),
        }
    }

    /// Makes the directory `name`, for its owner only whatever the umask.
    pub(super) fn create_dir(&self, name: &str) -> Result<Self, FileError> {
        let mode = Mode::from_raw_mode(0o700);
        self.fs
            .run(self.target(OperationKind::MakeDir, name), || {
                rustix::fs::mkdirat(&self.fd, name, mode)
            })
            .map_err(|errno| self.fail("create", name, errno))?;
        // Few umasks take something from the owner, and then the directory may
        // not even be possible to open.
        if let Ok(dir) = self.open_dir(name)
            && stat_of(&self.fs, &dir.fd, &dir.path).is_ok_and(|stat| has_mode(&stat, 0o700))
        {
            return Ok(dir);
        }
        self.fs
            .run(self.target(OperationKind::SetMode, name), || {
                rustix::fs::chmodat(&self.fd, name, mode, AtFlags::empty())
            })
            .map_err(|errno| self.fail("set the mode of", name, errno))?;
        self.open_dir(name)
    }

    /// Makes the file `name` for reading and writing; it must not exist.
    pub(super) fn create_new(&self, name: &str, mode: RawMode) -> Result<OwnedFd, FileError> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = self
            .fs
            .open(self.target(OperationKind::Create, name), || {
                rustix::fs::openat(&self.fd, name, flags, Mode::from_raw_mode(mode))
            })
            .map_err(|errno| self.fail("create", name, errno))?;
        let path = self.path.join(name);
        let stat = stat_of(&self.fs, &fd, &path).map_err(|e| self.fail("look at", name, e))?;
        // Few umasks take something from the owner.
        if !has_mode(&stat, mode) {
            set_mode(&self.fs, &fd, &path, mode)
                .map_err(|errno| self.fail("set the mode of", name, errno))?;
        }
        Ok(fd)
    }

    /// Opens the file `name` for reading; `None` where it is missing.
    pub(super) fn open_file(&self, name: &str) -> Result<Option<OwnedFd>, FileError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = self.fs.run(self.target(OperationKind::Open, name), || {
            rustix::fs::openat(&self.fd, name, flags, Mode::empty())
        });
        match opened {
            Ok(fd) => Ok(Some(fd)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.fail("open", name, errno)),
        }
    }

    /// The state of `name` itself, not of what it points to.
    pub(super) fn stat(&self, name: &str) -> Result<Option<Stat>, FileError> {
        let found = self.fs.run(self.target(OperationKind::Stat, name), || {
            rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)
        });
        match found {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.fail("look at", name, errno)),
        }
    }

    /// Removes the file `name`; it may be gone already.
    pub(super) fn unlink(&self, name: &str) -> Result<(), FileError> {
        self.remove(OperationKind::Unlink, name, AtFlags::empty())
    }

    fn remove(&self, kind: OperationKind, name: &str, flags: AtFlags) -> Result<(), FileError> {
        let removed =
            self.fs.run(self.target(kind, name), || rustix::fs::unlinkat(&self.fd, name, flags));
        match removed {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(self.fail("remove", name, errno)),
        }
    }

    /// The names in this directory; those that are not UTF-8 are not ours.
    pub(super) fn names(&self) -> Result<Vec<String>, FileError> {
        let failed = |errno| FileError::new("list", &self.path, errno);
        let mut names = Vec::new();
        let listed = self.fs.run(self.target(OperationKind::List, ""), || Dir::read_from(&self.fd));
        for entry in listed.map_err(failed)? {
            if let Ok(name) = entry.map_err(failed)?.file_name().to_str()
                && !matches!(name, "." | "..")
            {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    /// Removes the files of the capture `dir`, `dir` itself, and the lock file.
    /// Those that are `known` are removed first, and if that is all there are
    /// the directory is not read.
    pub(super) fn remove_capture(
        &self,
        dir: &Self,
        lock: &CaptureLock,
        known: &[String],
    ) -> Result<(), CaptureError> {
        let name = dir.path.file_name().expect("a capture's directory has a name").to_owned();
        known.iter().try_for_each(|file| dir.unlink(file))?;
        if known.is_empty() || !self.remove_empty_dir(&name)? {
            dir.names()?.iter().try_for_each(|file| dir.unlink(file))?;
            self.remove(OperationKind::RemoveDir, &name, AtFlags::REMOVEDIR)?;
        }
        self.unlink(lock.name())?;
        Ok(())
    }

    /// Removes the directory `name`, which may be gone already; `false` where
    /// something is in it.
    fn remove_empty_dir(&self, name: &str) -> Result<bool, FileError> {
        let removed = self.fs.run(self.target(OperationKind::RemoveDir, name), || {
            rustix::fs::unlinkat(&self.fd, name, AtFlags::REMOVEDIR)
        });
        match removed {
            Ok(()) | Err(Errno::NOENT) => Ok(true),
            Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
            Err(errno) => Err(self.fail("remove", name, errno)),
        }
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Sets a mode that creation may have narrowed by the umask.
pub(super) fn set_mode(fs: &Fs, fd: &OwnedFd, path: &Utf8Path, mode: RawMode) -> Result<(), Errno> {
    fs.run(Target::of(OperationKind::SetMode, fd, path), || {
        rustix::fs::fchmod(fd, Mode::from_raw_mode(mode))
    })
}

/// Whether a file or directory has exactly this mode.
pub(super) fn has_mode(stat: &Stat, mode: RawMode) -> bool {
    stat.st_mode & 0o7777 == mode
}

/// The state of an open file.
pub(super) fn stat_of(fs: &Fs, fd: &OwnedFd, path: &Utf8Path) -> Result<Stat, Errno> {
    fs.run(Target::of(OperationKind::Stat, fd, path), || rustix::fs::fstat(fd))
}

/// Whether `stat` is that of a regular file.
pub(super) fn is_file(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}
