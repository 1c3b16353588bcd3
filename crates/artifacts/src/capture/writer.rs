//! Writing one file of a capture.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use bytes::Bytes;
use camino::{Utf8Path, Utf8PathBuf};
use rustix::io::Errno;

use super::directory::{set_mode, stat_of};
use super::error::CaptureError;
use super::hashing::{BESIDE_FROM_BYTES, Hashing};
use super::lock::CaptureLock;
use super::sealed::{FileId, SealedCapture};
use crate::durability::Durability;
use crate::error::FileError;
use crate::fs::{Fs, OperationKind, Target};

/// Appends to one file of a capture and hashes on the way; what is large, on a
/// thread of its own that ends with this.
///
/// *Accepted* bytes are those in the file, and those that are hashed. An append
/// is accepted whole, or the file is cut back to what was accepted before, and
/// every later append fails with the same error.
#[derive(Debug)]
pub struct CaptureWriter {
    file: OwnedFd,
    path: Utf8PathBuf,
    fs: Fs,
    accepted: u64,
    hashing: Hashing,
    error: Option<CaptureError>,
    durability: Durability,
    lock: Arc<CaptureLock>,
}

impl CaptureWriter {
    pub(super) fn new(
        file: OwnedFd,
        path: Utf8PathBuf,
        fs: Fs,
        durability: Durability,
        lock: Arc<CaptureLock>,
    ) -> Self {
        let hashing = Hashing::new(BESIDE_FROM_BYTES);
        Self { file, path, fs, accepted: 0, hashing, error: None, durability, lock }
    }

    /// Where the file is; it can be followed while it grows.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Bytes accepted so far.
    pub const fn accepted(&self) -> u64 {
        self.accepted
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
        self.write(bytes)?;
        self.hashing.update(bytes);
        Ok(())
    }

    /// The same, of bytes that may be kept until they are hashed, a few pieces
    /// at a time. It is the faster way to write a large file.
    ///
    /// # Errors
    /// As for [`append`](Self::append).
    pub fn append_shared(&mut self, bytes: Bytes) -> Result<(), CaptureError> {
        self.write(&bytes)?;
        self.hashing.update_shared(bytes);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), CaptureError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        if let Err(errno) = write_all(&self.fs, &self.file, &self.path, bytes, self.accepted) {
            let error = CaptureError::File(FileError::new("write", &self.path, errno));
            self.error = Some(error.clone());
            // If this fails too, sealing finds the wrong size and tries again.
            let _ = cut(&self.fs, &self.file, &self.path, self.accepted);
            return Err(error);
        }
        self.accepted += bytes.len() as u64;
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
        let Self { file, path, fs, accepted, hashing, durability, lock, .. } = self;
        let failed = |action, errno| FileError::new(action, &path, errno);
        let mut stat = stat_of(&fs, &file, &path).map_err(|errno| failed("look at", errno))?;
        if stat.st_size as u64 > accepted {
            cut(&fs, &file, &path, accepted).map_err(|errno| failed("cut", errno))?;
            stat = stat_of(&fs, &file, &path).map_err(|errno| failed("look at", errno))?;
        }
        if stat.st_size as u64 != accepted {
            return Err(CaptureError::Size { path, accepted, found: stat.st_size as u64 });
        }
        // No bytes, nothing to lose: most streams are empty, and whoever
        // publishes one brings its name to the medium in any case.
        let durability = if accepted == 0 { Durability::Fast } else { durability };
        finish_file(&fs, &file, &path, durability)?;
        // Waited for last: it hashed while the medium was.
        let content = hashing.finish();
        assert_eq!(content.facts.bytes, accepted, "what is written is hashed");
        Ok(SealedCapture::new(content, path, (FileId::of(&stat), file), durability, lock))
    }
}

/// Makes a complete file read-only and brings it to the medium.
pub(super) fn finish_file(
    fs: &Fs,
    file: &OwnedFd,
    path: &Utf8Path,
    durability: Durability,
) -> Result<(), CaptureError> {
    set_mode(fs, file, path, 0o444)
        .map_err(|errno| FileError::new("set the mode of", path, errno))?;
    if durability.waits() {
        fs.sync(Target::of(OperationKind::SyncFile, file, path), || rustix::fs::fdatasync(file))
            .map_err(|errno| CaptureError::Lost { source: FileError::new("sync", path, errno) })?;
    }
    Ok(())
}

/// Writes all of `bytes` at `offset`.
pub(super) fn write_all(
    fs: &Fs,
    file: &OwnedFd,
    path: &Utf8Path,
    mut bytes: &[u8],
    mut offset: u64,
) -> Result<(), Errno> {
    while !bytes.is_empty() {
        let target = Target::of(OperationKind::Write, file, path).position(offset);
        match fs.write(target, bytes, |bytes| rustix::io::pwrite(file, bytes, offset)) {
            Ok(0) => return Err(Errno::IO),
            Ok(written) => {
                bytes = &bytes[written..];
                offset += written as u64;
            }
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// Cuts a file to its first `bytes` bytes.
fn cut(fs: &Fs, file: &OwnedFd, path: &Utf8Path, bytes: u64) -> Result<(), Errno> {
    let target = Target::of(OperationKind::Truncate, file, path).position(bytes);
    fs.run(target, || rustix::fs::ftruncate(file, bytes))
}
