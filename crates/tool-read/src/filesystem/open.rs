//! Opening exactly what was approved.
//!
//! Responsible for the way from the root to a file or directory, on which no
//! symbolic link is followed, and for what is neither. A path without links
//! was approved; one that has links now is another one.

use std::io;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, fstat, openat, statat};
use rustix::io::{Errno, pread};

use crate::filesystem::error::FileError;
use crate::filesystem::similar::similar_names;

/// A directory is only passed through: where it can be, without the permission
/// to list it.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
const PASS: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
const PASS: OFlags = OFlags::RDONLY;

/// What is at a path, open for reading.
#[derive(Debug)]
pub(crate) enum Opened {
    File(RegularFile),
    Directory(OwnedFd),
}

/// A regular file, open for reading.
#[derive(Debug)]
pub(crate) struct RegularFile {
    fd: OwnedFd,
    /// Its size when it was opened, in bytes; 0 also where the system does not
    /// know it, as for files of `/proc`.
    pub(crate) bytes: u64,
}

impl RegularFile {
    /// Fills `buffer` from `position` on, as far as the file goes.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match pread(&self.fd, &mut buffer[filled..], position + filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(filled)
    }
}

/// Opens the regular file or directory at an absolute path without links.
/// Blocking, but never for the sake of a FIFO.
///
/// # Errors
/// [`FileError`] tells missing, denied, changed since and each other kind of
/// file apart.
pub(crate) fn open(path: &Utf8Path) -> Result<Opened, FileError> {
    let names = path.components().filter_map(|component| match component {
        Utf8Component::Normal(name) => Some(name),
        _ => None,
    });
    let mut names = names.peekable();
    let mut here = Utf8PathBuf::from("/");
    let pass = PASS | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut dir =
        openat(CWD, "/", pass, Mode::empty()).map_err(|errno| FileError::open(path, errno))?;
    while let Some(name) = names.next() {
        if names.peek().is_none() {
            return open_last(&dir, &here, name, path);
        }
        dir = match openat(&dir, name, pass, Mode::empty()) {
            Ok(next) => next,
            Err(errno) => return Err(no_way(&dir, &here, name, path, errno)),
        };
        here.push(name);
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = openat(CWD, "/", flags, Mode::empty());
    root.map(Opened::Directory).map_err(|errno| FileError::open(path, errno))
}

fn open_last(
    dir: &OwnedFd,
    dir_path: &Utf8Path,
    name: &str,
    path: &Utf8Path,
) -> Result<Opened, FileError> {
    let failed = |errno| no_way(dir, dir_path, name, path, errno);
    // Looked at before it is opened: opening a device can do something.
    check_kind(path, &statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?)?;
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let fd = openat(dir, name, flags, Mode::empty()).map_err(failed)?;
    let stat = fstat(&fd).map_err(failed)?;
    Ok(match check_kind(path, &stat)? {
        Openable::Directory => Opened::Directory(fd),
        Openable::File => {
            Opened::File(RegularFile { fd, bytes: u64::try_from(stat.st_size).unwrap_or(0) })
        }
    })
}

enum Openable {
    File,
    Directory,
}

fn check_kind(path: &Utf8Path, stat: &Stat) -> Result<Openable, FileError> {
    let path = path.to_owned();
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => return Ok(Openable::File),
        FileType::Directory => return Ok(Openable::Directory),
        FileType::Symlink => return Err(FileError::Changed { path }),
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice => "a character device",
        FileType::BlockDevice => "a block device",
        FileType::Unknown => "of an unknown kind",
    };
    Err(FileError::Special { path, kind })
}

/// Says why `name` could not be opened in `dir`, on the way to `path`.
fn no_way(
    dir: &OwnedFd,
    dir_path: &Utf8Path,
    name: &str,
    path: &Utf8Path,
    errno: Errno,
) -> FileError {
    let at = dir_path.join(name);
    match errno {
        Errno::NOENT => FileError::Missing {
            path: path.to_owned(),
            dir: dir_path.to_owned(),
            similar: similar_names(dir.as_fd(), name),
            at,
        },
        // What a link gives here, and what any other file on the way gives.
        Errno::NOTDIR | Errno::LOOP => match statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) != FileType::Symlink => {
                FileError::NotADirectory { path: path.to_owned(), at }
            }
            _ => FileError::Changed { path: path.to_owned() },
        },
        errno => FileError::open(path, errno),
    }
}

impl FileError {
    fn open(path: &Utf8Path, errno: Errno) -> Self {
        let path = path.to_owned();
        match errno {
            Errno::ACCESS | Errno::PERM => Self::Denied { path },
            errno => Self::Open { path, source: io::Error::from(errno) },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    #[test]
    fn each_refusal_of_the_system_has_its_message() {
        let path = Utf8Path::new("/w/file");
        for errno in [Errno::ACCESS, Errno::PERM] {
            let error = FileError::open(path, errno);
            assert_eq!(
                error.to_string(),
                "permission denied: /w/file must not be read by this user"
            );
        }
        let error = FileError::open(path, Errno::NAMETOOLONG);
        assert_eq!(error.to_string(), "cannot open /w/file");
        assert!(error.source().is_some());
    }
}
