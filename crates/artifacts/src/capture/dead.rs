//! Captures whose process is gone.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use camino::Utf8Path;
use rustix::io::Errno;

use super::directory::{Directory, is_file, stat_of};
use super::error::CaptureError;
use super::lock::CaptureLock;
use super::meta::CaptureMeta;
use super::sealed::{FileId, SealedCapture};
use super::stream_file;
use super::writer::finish_file;
use crate::durability::Durability;
use crate::error::FileError;
use crate::fs::{Fs, OperationKind, Target};
use crate::hash::{BLOCK_BYTES, ContentHasher};

/// A capture that its process left behind; its lock is ours now.
#[derive(Debug)]
pub struct DeadCapture {
    root: Arc<Directory>,
    dir: Directory,
    lock: Arc<CaptureLock>,
    meta: CaptureMeta,
    durability: Durability,
}

/// What a dead capture still holds.
#[derive(Debug)]
pub struct RecoveredCapture {
    /// The streams in declaration order. One whose file was not made yet is
    /// empty; one that cannot be read or is lost keeps no other back.
    pub streams: Vec<Result<SealedCapture, CaptureError>>,
}

impl DeadCapture {
    pub(super) fn new(
        root: Arc<Directory>,
        dir: Directory,
        lock: CaptureLock,
        meta: CaptureMeta,
        durability: Durability,
    ) -> Self {
        Self { root, dir, lock: Arc::new(lock), meta, durability }
    }

    /// What was being captured.
    pub const fn meta(&self) -> &CaptureMeta {
        &self.meta
    }

    /// The directory.
    pub fn dir(&self) -> &Utf8Path {
        self.dir.path()
    }

    /// Seals every declared stream as it is on disk. May be repeated.
    pub fn seal(&self) -> RecoveredCapture {
        let channels = 0..self.meta.output.channels();
        let streams = channels.map(|index| self.seal_file(&stream_file(index))).collect();
        RecoveredCapture { streams }
    }

    fn seal_file(&self, name: &str) -> Result<SealedCapture, CaptureError> {
        let path = self.dir.path().join(name);
        let file = match self.dir.open_file(name)? {
            Some(file) => file,
            None => self.dir.create_new(name, 0o600)?,
        };
        let failed = |errno| FileError::new("look at", &path, errno);
        let fs = self.dir.fs();
        let stat = stat_of(fs, &file, &path).map_err(failed)?;
        if !is_file(&stat) {
            return Err(failed(Errno::INVAL).into());
        }
        finish_file(fs, &file, &path, self.durability)?;
        let hasher = hash_file(fs, &file, &path)?;
        let after = stat_of(fs, &file, &path).map_err(failed)?;
        if after.st_size as u64 != hasher.bytes() {
            let (accepted, found) = (hasher.bytes(), after.st_size as u64);
            return Err(CaptureError::Size { path, accepted, found });
        }
        let (id, lock) = ((FileId::of(&stat), file), Arc::clone(&self.lock));
        Ok(SealedCapture::new(hasher.finish(), path, id, self.durability, lock))
    }

    /// Removes the files, the directory, and at last the lock file.
    ///
    /// # Errors
    /// [`CaptureError::File`]; what is left is found by a later recovery.
    pub fn remove(self) -> Result<(), CaptureError> {
        self.root.remove_capture(&self.dir, &self.lock, &[])
    }
}

fn hash_file(fs: &Fs, file: &OwnedFd, path: &Utf8Path) -> Result<ContentHasher, CaptureError> {
    let mut hasher = ContentHasher::new();
    let mut buffer = vec![0; BLOCK_BYTES as usize];
    loop {
        let read = fs.run(Target::of(OperationKind::Read, file, path), || {
            rustix::io::pread(file, &mut buffer[..], hasher.bytes())
        });
        match read {
            Ok(0) => return Ok(hasher),
            Ok(read) => hasher.update(&buffer[..read]),
            Err(errno) => return Err(FileError::new("read", path, errno).into()),
        }
    }
}
