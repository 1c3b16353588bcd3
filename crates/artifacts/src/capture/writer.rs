//! Writing one file of a capture.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::io::Errno;

use super::directory::set_mode;
use super::error::CaptureError;
use super::lock::CaptureLock;
use super::sealed::{FileId, SealedCapture};
use crate::durability::Durability;
use crate::error::FileError;
use crate::hash::ContentHasher;

/// Appends to one file of a capture and hashes on the way.
///
/// *Accepted* bytes are those in the file. An append is accepted whole, or the
/// file is cut back to what was accepted before, and every later append fails
/// with the same error.
#[derive(Debug)]
pub struct CaptureWriter {
    file: OwnedFd,
    path: Utf8PathBuf,
    hasher: ContentHasher,
    error: Option<CaptureError>,
    durability: Durability,
    lock: Arc<CaptureLock>,
}

impl CaptureWriter {
    pub(super) fn new(
        file: OwnedFd,
        path: Utf8PathBuf,
        durability: Durability,
        lock: Arc<CaptureLock>,
    ) -> Self {
        Self { file, path, hasher: ContentHasher::new(), error: None, durability, lock }
    }

    /// Where the file is; it can be followed while it grows.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Bytes accepted so far.
    pub fn accepted(&self) -> u64 {
        self.hasher.bytes()
    }

    /// Lines in the accepted bytes; an unterminated rest is one more.
    pub fn lines(&self) -> u64 {
        self.hasher.lines()
    }

    /// The error that ended appending, where one did.
    pub const fn error(&self) -> Option<&CaptureError> {
        self.error.as_ref()
    }

    /// Appends all of `bytes`, or nothing.
    ///
    /// # Errors
    /// [`CaptureError::File`] where they could not be written, and from then on
    /// at every append. What was accepted before can still be
    /// [sealed](Self::seal).
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), CaptureError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        if let Err(errno) = write_all(&self.file, bytes, self.accepted()) {
            let error = CaptureError::File(FileError::new("write", &self.path, errno));
            self.error = Some(error.clone());
            // If this fails too, sealing finds the wrong size and tries again.
            let _ = rustix::fs::ftruncate(&self.file, self.accepted());
            return Err(error);
        }
        self.hasher.update(bytes);
        Ok(())
    }

    /// Ends the file: its size must be what was written and hashed, it becomes
    /// read-only and, where the capture is durable, it is on the medium.
    ///
    /// Works after a failed append too, for what had been accepted.
    ///
    /// # Errors
    /// [`CaptureError::Size`] where the file was changed by someone else,
    /// [`CaptureError::Lost`] where the medium refused it.
    pub fn seal(self) -> Result<SealedCapture, CaptureError> {
        let Self { file, path, hasher, durability, lock, .. } = self;
        let accepted = hasher.bytes();
        let failed = |action, errno| FileError::new(action, &path, errno);
        let mut stat = rustix::fs::fstat(&file).map_err(|errno| failed("look at", errno))?;
        if stat.st_size as u64 > accepted {
            rustix::fs::ftruncate(&file, accepted).map_err(|errno| failed("cut", errno))?;
            stat = rustix::fs::fstat(&file).map_err(|errno| failed("look at", errno))?;
        }
        if stat.st_size as u64 != accepted {
            return Err(CaptureError::Size { path, accepted, found: stat.st_size as u64 });
        }
        // No bytes, nothing to lose: most streams are empty, and whoever
        // publishes one brings its name to the medium in any case.
        let durability = if accepted == 0 { Durability::Fast } else { durability };
        finish_file(&file, &path, durability)?;
        Ok(SealedCapture::new(hasher.finish(), path, (FileId::of(&stat), file), durability, lock))
    }
}

/// Makes a complete file read-only and brings it to the medium.
pub(super) fn finish_file(
    file: &OwnedFd,
    path: &Utf8Path,
    durability: Durability,
) -> Result<(), CaptureError> {
    set_mode(file, 0o444).map_err(|errno| FileError::new("set the mode of", path, errno))?;
    if durability.waits() {
        rustix::fs::fdatasync(file)
            .map_err(|errno| CaptureError::Lost { source: FileError::new("sync", path, errno) })?;
    }
    Ok(())
}

/// Writes all of `bytes` at `offset`.
pub(super) fn write_all(file: &OwnedFd, mut bytes: &[u8], mut offset: u64) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match rustix::io::pwrite(file, bytes, offset) {
            Ok(0) => return Err(Errno::IO),
            Ok(written) => {
                bytes = &bytes[written..];
                offset += written as u64;
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}
