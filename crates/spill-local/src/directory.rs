//! Directories that a text may be kept in.
//!
//! Responsible for judging whether a directory is safe, for making those that
//! are missing, and for reaching everything in one through its handle. Paths
//! are for messages and locators, never for access, but for the root's own.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use spill::SpillError;

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const DIRECTORY_MODE: u32 = 0o700;
/// What others may do to a directory that is not safe.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// An open directory of this user's that no one else may write to.
#[derive(Debug)]
pub(crate) struct Directory {
    fd: OwnedFd,
    path: Utf8PathBuf,
    id: (u64, u64),
}

impl Directory {
    /// Opens the directory at `path`, making it and its missing parents.
    ///
    /// # Errors
    /// [`SpillError::Unsafe`] where it is not safe, [`SpillError::File`] where it
    /// cannot be made or opened.
    pub(crate) fn open_or_make(path: &Utf8Path) -> Result<Self, SpillError> {
        make_with_parents(path)?;
        Self::open(CWD, path.as_str(), path.to_owned())
    }

    /// Opens the directory `name` in this one, making it where it is missing.
    ///
    /// # Errors
    /// As for [`open_or_make`](Self::open_or_make).
    pub(crate) fn open_or_make_child(&self, name: &str) -> Result<Self, SpillError> {
        let path = self.path.join(name);
        make(self.fd.as_fd(), name).map_err(|errno| file_error("make", &path, errno))?;
        let child = Self::open(self.fd.as_fd(), name, path)?;
        child.make_private()?;
        Ok(child)
    }

    fn open(at: BorrowedFd<'_>, name: &str, path: Utf8PathBuf) -> Result<Self, SpillError> {
        let fd = match rustix::fs::openat(at, name, DIRECTORY, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::LOOP | Errno::NOTDIR) => {
                return Err(refused(&path, "it is a symbolic link, or no directory; remove it"));
            }
            Err(errno) => return Err(file_error("open", &path, errno)),
        };
        let stat = rustix::fs::fstat(&fd).map_err(|errno| file_error("look at", &path, errno))?;
        judge(&stat, rustix::process::geteuid().as_raw())
            .map_err(|reason| refused(&path, reason))?;
        Ok(Self { fd, path, id: id(&stat) })
    }

    /// Takes from others what they may still do: the names in here are private.
    fn make_private(&self) -> Result<(), SpillError> {
        rustix::fs::fchmod(&self.fd, Mode::from_raw_mode(DIRECTORY_MODE))
            .map_err(|errno| file_error("set the mode of", &self.path, errno))
    }

    /// The path of `name` in this directory.
    pub(crate) fn join(&self, name: &str) -> Utf8PathBuf {
        self.path.join(name)
    }

    /// Checks that this directory's path still leads to it.
    ///
    /// # Errors
    /// [`SpillError::Unsafe`] where something else is there now.
    pub(crate) fn check_path(&self) -> Result<(), SpillError> {
        self.check_at(CWD, self.path.as_str())
    }

    /// Checks that this directory is still in `parent`, under its name.
    ///
    /// # Errors
    /// As for [`check_path`](Self::check_path).
    pub(crate) fn check_in(&self, parent: &Self) -> Result<(), SpillError> {
        let name = self.path.file_name().expect("a child's path ends in its name");
        self.check_at(parent.fd.as_fd(), name)
    }

    fn check_at(&self, at: BorrowedFd<'_>, name: &str) -> Result<(), SpillError> {
        match rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if id(&stat) == self.id => Ok(()),
            Ok(_) | Err(Errno::NOENT) => {
                Err(refused(&self.path, "it was removed or replaced while the text was saved"))
            }
            Err(errno) => Err(file_error("look at", &self.path, errno)),
        }
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Whether a text of user `me` may be kept in a directory. What is wrong with
/// it, where not.
fn judge(stat: &Stat, me: u32) -> Result<(), String> {
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return Err("it is no directory; remove it".to_owned());
    }
    if stat.st_uid != me {
        return Err(format!(
            "it belongs to user {}, not to user {me}; use another directory",
            stat.st_uid
        ));
    }
    let mode = stat.st_mode & 0o7777;
    if mode & WRITABLE_BY_OTHERS != 0 {
        return Err(format!("others may write to it (mode {mode:04o}); `chmod go-w` it"));
    }
    Ok(())
}

/// Makes the directory `name`, for this user only whatever the umask; it may
/// exist.
fn make(at: BorrowedFd<'_>, name: &str) -> Result<(), Errno> {
    match rustix::fs::mkdirat(at, name, Mode::from_raw_mode(DIRECTORY_MODE)) {
        // The umask may have left nothing to open it with.
        Ok(()) => {
            rustix::fs::chmodat(at, name, Mode::from_raw_mode(DIRECTORY_MODE), AtFlags::empty())
        }
        Err(Errno::EXIST) => Ok(()),
        Err(errno) => Err(errno),
    }
}

fn make_with_parents(path: &Utf8Path) -> Result<(), SpillError> {
    match make(CWD, path.as_str()) {
        Ok(()) => Ok(()),
        Err(Errno::NOENT) if path.parent().is_some() => {
            make_with_parents(path.parent().expect("checked above"))?;
            make(CWD, path.as_str()).map_err(|errno| file_error("make", path, errno))
        }
        Err(errno) => Err(file_error("make", path, errno)),
    }
}

fn id(stat: &Stat) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}

fn refused(path: &Utf8Path, reason: impl Into<String>) -> SpillError {
    SpillError::Unsafe { place: path.to_string(), reason: reason.into() }
}

/// A file operation that the system refused.
pub(crate) fn file_error(action: &'static str, path: &Utf8Path, errno: Errno) -> SpillError {
    SpillError::File { action, place: path.to_string(), source: errno.into() }
}

#[cfg(test)]
mod tests {
    use fs_err::os::unix::fs::symlink;

    use super::*;
    use crate::testing::{Scratch, set_mode};

    fn reason(result: Result<Directory, SpillError>) -> String {
        match result.unwrap_err() {
            SpillError::Unsafe { reason, .. } => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_link_in_place_of_a_directory_is_refused() {
        let scratch = Scratch::new();
        fs_err::create_dir(scratch.join("target")).unwrap();
        symlink(scratch.join("target"), scratch.join("link")).unwrap();
        symlink(scratch.join("nowhere"), scratch.join("dangling")).unwrap();
        fs_err::write(scratch.join("file"), "").unwrap();
        let root = Directory::open_or_make(scratch.path()).unwrap();
        for name in ["link", "dangling", "file"] {
            for refused in
                [Directory::open_or_make(&scratch.join(name)), root.open_or_make_child(name)]
            {
                let reason = reason(refused);
                assert_eq!(reason, "it is a symbolic link, or no directory; remove it", "{name}");
            }
        }
        assert_eq!(fs_err::read_dir(scratch.join("target")).unwrap().count(), 0);
        assert!(!scratch.join("nowhere").exists());
    }

    #[test]
    fn a_directory_that_others_may_write_to_is_refused() {
        let scratch = Scratch::new();
        fs_err::create_dir(scratch.join("d")).unwrap();
        for (mode, shown) in [(0o777, "0777"), (0o770, "0770"), (0o702, "0702"), (0o1777, "1777")] {
            set_mode(&scratch.join("d"), mode);
            let reason = reason(Directory::open_or_make(&scratch.join("d")));
            assert_eq!(reason, format!("others may write to it (mode {shown}); `chmod go-w` it"));
        }
        set_mode(&scratch.join("d"), 0o755);
        Directory::open_or_make(&scratch.join("d")).unwrap();
    }

    #[test]
    fn a_directory_of_another_user_is_refused() {
        let scratch = Scratch::new();
        let stat = rustix::fs::stat(scratch.path().as_str()).unwrap();
        let reason = judge(&stat, stat.st_uid + 1).unwrap_err();
        let (theirs, mine) = (stat.st_uid, stat.st_uid + 1);
        let expect =
            format!("it belongs to user {theirs}, not to user {mine}; use another directory");
        assert_eq!(reason, expect);
        assert_eq!(judge(&stat, stat.st_uid), Ok(()));
    }

    #[test]
    fn a_directory_that_was_swapped_is_noticed() {
        let scratch = Scratch::new();
        let root = Directory::open_or_make(&scratch.join("root")).unwrap();
        let child = root.open_or_make_child("child").unwrap();
        root.check_path().unwrap();
        child.check_in(&root).unwrap();

        fs_err::rename(scratch.join("root/child"), scratch.join("child")).unwrap();
        let gone = "it was removed or replaced while the text was saved";
        assert!(child.check_in(&root).unwrap_err().to_string().ends_with(gone));
        symlink(scratch.join("child"), scratch.join("root/child")).unwrap();
        assert!(child.check_in(&root).unwrap_err().to_string().ends_with(gone));

        fs_err::rename(scratch.join("root"), scratch.join("moved")).unwrap();
        fs_err::create_dir(scratch.join("root")).unwrap();
        assert!(root.check_path().unwrap_err().to_string().ends_with(gone));
    }
}
