//! The directory of the logs: private, ours, and reached through one handle, so
//! that no path is walked twice and no link is followed.

use std::os::fd::OwnedFd;

use artifacts::{Durability, FileError};
use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::error::LogError;

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// An open directory; the path is for messages.
#[derive(Debug)]
pub(crate) struct Directory {
    fd: OwnedFd,
    path: Utf8PathBuf,
}

impl Directory {
    /// Opens `path`, which must be a directory of ours. What is missing of it
    /// is made, for us alone.
    pub(crate) fn prepare(path: Utf8PathBuf, durability: Durability) -> Result<Self, LogError> {
        make(&path, durability)?;
        let failed = |action, errno| FileError::new(action, &path, errno);
        let fd = rustix::fs::open(path.as_std_path(), DIRECTORY, Mode::empty())
            .map_err(|errno| failed("open", errno))?;
        let stat = rustix::fs::fstat(&fd).map_err(|errno| failed("look at", errno))?;
        if stat.st_uid != geteuid().as_raw() {
            return Err(LogError::ForeignDirectory { dir: path, owner: stat.st_uid });
        }
        Ok(Self { fd, path })
    }

    pub(crate) fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// An operation on the file `name` that failed.
    pub(crate) fn failed(
        &self,
        action: &'static str,
        name: &str,
        error: impl Into<std::io::Error>,
    ) -> FileError {
        FileError::new(action, self.path.join(name), error)
    }

    /// Opens the file `name`: never through a link, and never waiting for the
    /// other end of a pipe. `None`: there is none.
    pub(crate) fn open(&self, name: &str, flags: OFlags) -> Result<Option<OwnedFd>, FileError> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.fd, name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(fd) => Ok(Some(fd)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.failed("open", name, errno)),
        }
    }

    /// Whether a regular file is at `name`.
    pub(crate) fn is_file(&self, name: &str) -> Result<bool, FileError> {
        let regular = |stat: Stat| FileType::from_raw_mode(stat.st_mode).is_file();
        Ok(self.stat(name)?.is_some_and(regular))
    }

    /// The state of what is at `name`; `None` where nothing is.
    pub(crate) fn stat(&self, name: &str) -> Result<Option<Stat>, FileError> {
        match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.failed("look at", name, errno)),
        }
    }

    pub(crate) fn unlink(&self, name: &str) -> Result<(), FileError> {
        rustix::fs::unlinkat(&self.fd, name, AtFlags::empty())
            .map_err(|errno| self.failed("remove", name, errno))
    }

    /// The names in this directory; those that are not UTF-8 are not ours.
    pub(crate) fn names(&self) -> Result<Vec<String>, FileError> {
        let failed = |errno| FileError::new("list", &self.path, errno);
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.fd).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            names.extend(entry.file_name().to_str().ok().map(str::to_owned));
        }
        Ok(names)
    }

    /// Waits until the names in this directory are on the medium.
    pub(crate) fn sync(&self) -> Result<(), FileError> {
        rustix::fs::fsync(&self.fd).map_err(|errno| FileError::new("sync", &self.path, errno))
    }
}

/// Makes `path` and what is missing above it.
fn make(path: &Utf8Path, durability: Durability) -> Result<(), FileError> {
    let missing: Vec<_> =
        path.ancestors().take_while(|dir| !dir.as_str().is_empty() && !dir.exists()).collect();
    for dir in missing.into_iter().rev() {
        match rustix::fs::mkdir(dir.as_std_path(), Mode::RWXU) {
            Ok(()) if durability.waits() => sync_parent(dir)?,
            // Another process may have been faster.
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(FileError::new("create", dir, errno)),
        }
    }
    Ok(())
}

fn sync_parent(dir: &Utf8Path) -> Result<(), FileError> {
    let parent = dir.parent().filter(|parent| !parent.as_str().is_empty());
    let parent = parent.unwrap_or(Utf8Path::new("."));
    let failed = |errno| FileError::new("sync", parent, errno);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let fd = rustix::fs::open(parent.as_std_path(), flags, Mode::empty()).map_err(failed)?;
    rustix::fs::fsync(&fd).map_err(failed)
}
