//! The store's only way to the disk: directory and file handles.
//!
//! Everything is reached from an opened root directory by names that this
//! crate made or checked; no symlink is followed, and no handle survives an
//! `exec`. Modes hold whatever the umask. Errors carry the path.
//!
//! Nothing else in this crate calls the file system, and everything here does
//! so by an [`artifacts::fs::Fs`], so that tests can let it fail or crash.

mod dir;
mod file;
mod kind;

use std::time::Duration;

use artifacts::FileId;
use rustix::fs::{FileType, Stat};

pub(crate) use self::dir::{Dir, vanished};
pub(crate) use self::file::{File, LockMode};

/// What the file system knows of a file, without its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileStat {
    pub(crate) id: FileId,
    pub(crate) bytes: u64,
    /// When its content or times were last changed, since the Unix epoch, by
    /// the file system's own clock.
    pub(crate) changed: Duration,
    pub(crate) owner: u32,
    pub(crate) mode: u32,
    pub(crate) links: u64,
    pub(crate) is_file: bool,
}

impl FileStat {
    #[expect(clippy::unnecessary_cast, reason = "the types differ between platforms")]
    fn of(stat: &Stat) -> Self {
        Self {
            id: FileId { device: stat.st_dev as u64, inode: stat.st_ino as u64 },
            bytes: u64::try_from(stat.st_size).unwrap_or(0),
            changed: Duration::new(
                u64::try_from(stat.st_mtime).unwrap_or(0),
                u32::try_from(stat.st_mtime_nsec).unwrap_or(0),
            ),
            owner: stat.st_uid,
            mode: stat.st_mode as u32 & 0o7777,
            links: stat.st_nlink as u64,
            is_file: FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile,
        }
    }
}

/// The user that this process acts as.
pub(crate) fn current_user() -> u32 {
    rustix::process::geteuid().as_raw()
}
