//! Captures: locked local directories in which output is written once, hashed
//! on the way, and sealed.
//!
//! ```text
//! <root>/<uuid>.lock     held (flock) while the capture is alive
//! <root>/<uuid>/         0700
//!     meta.json          what is being captured, for recovery
//!     stream-0 …         one file per declared stream, 0600; 0444 once sealed
//!     attachment-0 …
//! ```
//!
//! A lock belongs to an open handle; the kernel frees it when the process dies,
//! whatever way. A capture whose lock can be taken is therefore dead, and is
//! sealed by whoever finds it ([`CaptureRoot::dead`]). The lock file lies
//! outside of the directory, so that it is the last thing to go.
//!
//! All of this blocks; asynchronous callers use a thread.

mod dead;
mod directory;
mod error;
mod hashing;
mod lock;
mod meta;
mod root;
mod sealed;
mod writer;

use std::sync::{Arc, Mutex, PoisonError};

use camino::Utf8Path;

use self::directory::Directory;
use self::lock::CaptureLock;
use self::meta::META_FILE;
use crate::durability::Durability;

pub use self::dead::{DeadCapture, RecoveredCapture};
pub use self::error::CaptureError;
pub use self::meta::CaptureMeta;
pub use self::root::CaptureRoot;
pub use self::sealed::{FileId, SealedCapture};
pub use self::writer::CaptureWriter;

/// A live capture: a directory that no one else cleans up.
///
/// The lock is shared with the writers and sealed captures made from it, and
/// freed with the last of them. Dropping all without [`remove`](Self::remove)
/// leaves the capture to recovery.
#[derive(Debug)]
pub struct Capture {
    root: Arc<Directory>,
    dir: Directory,
    lock: Arc<CaptureLock>,
    meta: Option<CaptureMeta>,
    durability: Durability,
    /// The names of what was made in it.
    files: Mutex<Vec<String>>,
}

impl Capture {
    /// What is being captured; `None` for [scratch](CaptureRoot::scratch).
    pub const fn meta(&self) -> Option<&CaptureMeta> {
        self.meta.as_ref()
    }

    /// The directory.
    pub fn dir(&self) -> &Utf8Path {
        self.dir.path()
    }

    /// Makes the file of the channel with this index in the declaration.
    ///
    /// # Errors
    /// As for [`writer`](Self::writer).
    pub fn stream_writer(&self, index: usize) -> Result<CaptureWriter, CaptureError> {
        self.writer(&stream_file(index))
    }

    /// Makes the file of an attachment.
    ///
    /// # Errors
    /// As for [`writer`](Self::writer).
    pub fn attachment_writer(&self, index: usize) -> Result<CaptureWriter, CaptureError> {
        self.writer(&format!("attachment-{index}"))
    }

    /// Makes a new file in the capture, readable by its owner only.
    ///
    /// # Errors
    /// [`CaptureError::Name`] where `name` is not a plain file name;
    /// [`CaptureError::File`] where it exists or cannot be made.
    pub fn writer(&self, name: &str) -> Result<CaptureWriter, CaptureError> {
        if name.is_empty()
            || name.starts_with('.')
            || name.contains(['/', '\0'])
            || name == META_FILE
        {
            return Err(CaptureError::Name { name: name.to_owned() });
        }
        let file = self.dir.create_new(name, 0o600)?;
        self.files.lock().unwrap_or_else(PoisonError::into_inner).push(name.to_owned());
        let path = self.dir.path().join(name);
        let fs = self.dir.fs().clone();
        Ok(CaptureWriter::new(file, path, fs, self.durability, Arc::clone(&self.lock)))
    }

    /// Removes the files, the directory, and at last the lock file.
    ///
    /// # Errors
    /// [`CaptureError::File`]; what is left is found by recovery or collection.
    pub fn remove(self) -> Result<(), CaptureError> {
        let files = self.files.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.root.remove_capture(&self.dir, &self.lock, &files)
    }
}

/// The file name of the channel with this index.
fn stream_file(index: usize) -> String {
    format!("stream-{index}")
}
