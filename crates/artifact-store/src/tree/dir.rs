//! Open directories.

use std::io::ErrorKind;
use std::os::fd::OwnedFd;

use artifacts::FileError;
use artifacts::fs::{Fs, OperationKind, Target};
use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{AtFlags, Mode, OFlags, Timespec, Timestamps, UTIME_NOW};
use rustix::io::Errno;

use super::{File, FileStat, kind};

/// An open directory. The path is for messages, never for access.
#[derive(Debug)]
pub(crate) struct Dir {
    fd: OwnedFd,
    path: Utf8PathBuf,
    fs: Fs,
}

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const DIR_MODE: u32 = 0o700;
const NOW: Timestamps = Timestamps {
    last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
    last_modification: Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
};

impl Dir {
    /// Opens the directory at `path`; `None` where nothing is there.
    pub(crate) fn open_root(path: &Utf8Path, fs: &Fs) -> Result<Option<Self>, FileError> {
        let opened = fs.run(Target::at(OperationKind::OpenDir, path, ""), || {
            rustix::fs::open(path.as_std_path(), DIRECTORY, Mode::empty())
        });
        match opened {
            Ok(fd) => Ok(Some(Self { fd, path: path.to_owned(), fs: fs.clone() })),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(FileError::new("open", path, errno)),
        }
    }

    /// Makes the directory at `path`, its missing parents too, and brings their
    /// names to the medium; it may exist.
    pub(crate) fn create_root(path: &Utf8Path, fs: &Fs) -> Result<(), FileError> {
        let mode = Mode::from_raw_mode(DIR_MODE);
        let made = fs.run(Target::at(OperationKind::MakeDir, path, ""), || {
            rustix::fs::mkdir(path.as_std_path(), mode)
        });
        match made {
            // A umask may have taken more from the mode than it can be opened with.
            Ok(()) => {
                fs.run(Target::at(OperationKind::SetMode, path, ""), || {
                    rustix::fs::chmod(path.as_std_path(), mode)
                })
                .map_err(|errno| FileError::new("set the mode of", path, errno))?;
                Self::sync_name_of_root(path, fs)
            }
            Err(Errno::EXIST) => Ok(()),
            Err(Errno::NOENT) if path.parent().is_some_and(|parent| parent != "") => {
                Self::create_root(path.parent().expect("checked above"), fs)?;
                Self::create_root(path, fs)
            }
            Err(errno) => Err(FileError::new("create", path, errno)),
        }
    }

    /// Brings the name of the directory at `path` to the medium. Where its
    /// parent cannot be opened, someone else keeps it.
    pub(crate) fn sync_name_of_root(path: &Utf8Path, fs: &Fs) -> Result<(), FileError> {
        let Some(parent) = path.parent() else { return Ok(()) };
        match Self::open_root(parent, fs) {
            Ok(Some(parent)) => parent.sync(),
            Ok(None) => Ok(()),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Another handle on this directory.
    pub(crate) fn again(&self) -> Result<Self, FileError> {
        let fd = self.fd.try_clone();
        let fd = fd.map_err(|source| FileError::new("open", &self.path, source))?;
        Ok(Self { fd, path: self.path.clone(), fs: self.fs.clone() })
    }

    pub(crate) fn path(&self) -> &Utf8Path {
        &self.path
    }

    fn fail(&self, action: &'static str, name: &str, errno: Errno) -> FileError {
        FileError::new(action, self.path.join(name), errno)
    }

    /// Does something to the entry `name`, or to this directory itself where
    /// `name` is empty.
    fn run<T>(
        &self,
        kind: OperationKind,
        name: &str,
        call: impl FnMut() -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        self.fs.run(Target::at(kind, &self.path, name), call)
    }

    /// The state of this directory itself.
    pub(crate) fn own_stat(&self) -> Result<FileStat, FileError> {
        let stat = self
            .run(OperationKind::Stat, "", || rustix::fs::fstat(&self.fd))
            .map_err(|errno| FileError::new("look at", &self.path, errno))?;
        Ok(FileStat::of(&stat))
    }

    /// Makes this directory its owner's only.
    pub(crate) fn make_own_private(&self) -> Result<(), FileError> {
        let mode = Mode::from_raw_mode(DIR_MODE);
        self.run(OperationKind::SetMode, "", || rustix::fs::fchmod(&self.fd, mode))
            .map_err(|errno| FileError::new("set the mode of", &self.path, errno))
    }

    /// Makes the directory `name`, which this process has just made, its
    /// owner's only. It may not even be possible to open it before.
    fn make_private(&self, name: &str) -> Result<(), Errno> {
        let mode = Mode::from_raw_mode(DIR_MODE);
        self.run(OperationKind::SetMode, name, || {
            rustix::fs::chmodat(&self.fd, name, mode, AtFlags::empty())
        })
    }

    /// The name of the file system where it is one of those that locks and
    /// links cannot be trusted on.
    pub(crate) fn untrusted_file_system(&self) -> Result<Option<&'static str>, FileError> {
        self.run(OperationKind::Stat, "", || kind::untrusted(&self.fd))
            .map_err(|errno| FileError::new("look at", &self.path, errno))
    }

    /// Opens the directory `name`; `None` where nothing is there.
    pub(crate) fn find_dir(&self, name: &str) -> Result<Option<Self>, FileError> {
        let opened = self.run(OperationKind::OpenDir, name, || {
            rustix::fs::openat(&self.fd, name, DIRECTORY, Mode::empty())
        });
        match opened {
            Ok(fd) => Ok(Some(Self { fd, path: self.path.join(name), fs: self.fs.clone() })),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.fail("open", name, errno)),
        }
    }

    /// Opens the directory `name`.
    pub(crate) fn dir(&self, name: &str) -> Result<Self, FileError> {
        self.find_dir(name)?.ok_or_else(|| self.fail("open", name, Errno::NOENT))
    }

    /// Opens the directory `name`, making it where it is missing.
    pub(crate) fn make_dir(&self, name: &str) -> Result<Self, FileError> {
        // It may vanish between the two steps; then it is made again.
        for _ in 0..8 {
            if let Some(dir) = self.find_dir(name)? {
                return Ok(dir);
            }
            let made = self.run(OperationKind::MakeDir, name, || {
                rustix::fs::mkdirat(&self.fd, name, Mode::from_raw_mode(DIR_MODE))
            });
            match made {
                Ok(()) => match self.make_private(name) {
                    Ok(()) | Err(Errno::NOENT) => {}
                    Err(errno) => return Err(self.fail("set the mode of", name, errno)),
                },
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(self.fail("create", name, errno)),
            }
        }
        Err(self.fail("create", name, Errno::NOENT))
    }

    fn open_file(&self, kind: OperationKind, name: &str, flags: OFlags) -> Result<File, Errno> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        self.fs
            .open(Target::at(kind, &self.path, name), || {
                rustix::fs::openat(&self.fd, name, flags, Mode::from_raw_mode(0o600))
            })
            .map(|fd| File::new(fd, self.path.join(name), self.fs.clone()))
    }

    /// Opens the file `name` for reading; `None` where nothing is there.
    pub(crate) fn open_read(&self, name: &str) -> Result<Option<File>, FileError> {
        match self.open_file(OperationKind::Open, name, OFlags::RDONLY) {
            Ok(file) => Ok(Some(file)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.fail("open", name, errno)),
        }
    }

    /// Opens the file `name` for reading.
    pub(crate) fn file(&self, name: &str) -> Result<File, FileError> {
        self.open_read(name)?.ok_or_else(|| self.fail("open", name, Errno::NOENT))
    }

    /// Opens the file `name` for reading and appending; `None` where nothing
    /// is there.
    pub(crate) fn open_append(&self, name: &str) -> Result<Option<File>, FileError> {
        match self.open_file(OperationKind::Open, name, OFlags::RDWR | OFlags::APPEND) {
            Ok(file) => Ok(Some(file)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.fail("open", name, errno)),
        }
    }

    /// Makes the file `name`, to be read and appended to by its owner only;
    /// `None` where something of that name exists.
    pub(crate) fn create_new(&self, name: &str) -> Result<Option<File>, FileError> {
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL;
        match self.open_file(OperationKind::Create, name, flags) {
            Ok(file) => {
                file.set_mode(0o600)?;
                Ok(Some(file))
            }
            Err(Errno::EXIST) => Ok(None),
            Err(errno) => Err(self.fail("create", name, errno)),
        }
    }

    /// The state of `name` itself, not of what it points to.
    pub(crate) fn stat(&self, name: &str) -> Result<Option<FileStat>, FileError> {
        let found = self.run(OperationKind::Stat, name, || {
            rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)
        });
        match found {
            Ok(stat) => Ok(Some(FileStat::of(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.fail("look at", name, errno)),
        }
    }

    /// Sets the time of `name` to now.
    pub(crate) fn touch(&self, name: &str) -> Result<(), FileError> {
        self.run(OperationKind::Touch, name, || {
            rustix::fs::utimensat(&self.fd, name, &NOW, AtFlags::SYMLINK_NOFOLLOW)
        })
        .map_err(|errno| self.fail("touch", name, errno))
    }

    /// Gives the file `name` the second name `to_name` in `to`; `false` where
    /// something of that name exists.
    pub(crate) fn link(&self, name: &str, to: &Self, to_name: &str) -> Result<bool, FileError> {
        let target = Target::at(OperationKind::Link, &self.path, name).to(&to.path, to_name);
        let linked = self
            .fs
            .run(target, || rustix::fs::linkat(&self.fd, name, &to.fd, to_name, AtFlags::empty()));
        match linked {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(errno) => Err(to.fail("link", to_name, errno)),
        }
    }

    /// Moves `name` to `to_name` in `to`, over whatever is there.
    pub(crate) fn rename(&self, name: &str, to: &Self, to_name: &str) -> Result<(), FileError> {
        let target = Target::at(OperationKind::Rename, &self.path, name).to(&to.path, to_name);
        self.fs
            .run(target, || rustix::fs::renameat(&self.fd, name, &to.fd, to_name))
            .map_err(|errno| self.fail("rename", name, errno))
    }

    /// Removes the file `name`; it may be gone already.
    pub(crate) fn unlink(&self, name: &str) -> Result<(), FileError> {
        let removed = self.run(OperationKind::Unlink, name, || {
            rustix::fs::unlinkat(&self.fd, name, AtFlags::empty())
        });
        match removed {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(self.fail("remove", name, errno)),
        }
    }

    /// Removes the directory `name` and the files in it; it may be gone
    /// already.
    pub(crate) fn remove_dir(&self, name: &str) -> Result<(), FileError> {
        let Some(dir) = self.find_dir(name)? else { return Ok(()) };
        for file in dir.all_names()? {
            dir.unlink(&file)?;
        }
        let removed = self.run(OperationKind::RemoveDir, name, || {
            rustix::fs::unlinkat(&self.fd, name, AtFlags::REMOVEDIR)
        });
        match removed {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(self.fail("remove", name, errno)),
        }
    }

    /// The names in this directory, but for hidden ones. Those are never ours:
    /// desktops and network file systems leave some of their own. A name that is
    /// not UTF-8 is none of ours either, and shown with replacement characters so
    /// that it is not taken for one.
    pub(crate) fn names(&self) -> Result<Vec<String>, FileError> {
        let mut names = self.all_names()?;
        names.retain(|name| !name.starts_with('.'));
        Ok(names)
    }

    fn all_names(&self) -> Result<Vec<String>, FileError> {
        let mut names = Vec::new();
        self.each_name(|name| names.push(name.to_owned()))?;
        Ok(names)
    }

    /// Calls `found` with each name in this directory, hidden ones too.
    pub(crate) fn each_name(&self, mut found: impl FnMut(&str)) -> Result<(), FileError> {
        let failed = |errno| FileError::new("list", &self.path, errno);
        let listed = self.run(OperationKind::List, "", || rustix::fs::Dir::read_from(&self.fd));
        for entry in listed.map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy();
            if !matches!(&*name, "." | "..") {
                found(&name);
            }
        }
        Ok(())
    }

    /// Brings the names in this directory to the medium.
    pub(crate) fn sync(&self) -> Result<(), FileError> {
        let target = Target::at(OperationKind::SyncDir, &self.path, "");
        self.fs
            .sync(target, || rustix::fs::fsync(&self.fd))
            .map_err(|errno| FileError::new("sync", &self.path, errno))
    }
}

/// Whether a directory that was expected has vanished.
pub(crate) fn vanished(error: &FileError) -> bool {
    error.kind() == ErrorKind::NotFound
}
