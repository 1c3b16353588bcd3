//! A spill backend of a few lines: all texts in one file that only grows.
//!
//! The locator is `<file>#<start>+<bytes>`, and the hint is a command that cuts
//! them out. It shows what a backend has to think of; `docs/adding-a-backend.md`
//! is the checklist.

use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use camino::{Utf8Path, Utf8PathBuf};
use fs_err::os::unix::fs::OpenOptionsExt as _;
use fs_err::{File, OpenOptions};
use spill::{SaveText, SpillError, SpillLocator, SpillRef, SpillStore, unblock};

/// Keeps texts one after another. One process at a time may have it open.
#[derive(Debug, Clone)]
pub struct OneFile {
    path: Utf8PathBuf,
    /// One save at a time: a text is in one piece.
    file: Arc<Mutex<File>>,
}

impl OneFile {
    /// Opens the file at `path`, making it for this user only.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(path: &Utf8Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let file = options.create(true).truncate(false).write(true).mode(0o600).open(path)?;
        Ok(Self { path: path.to_owned(), file: Arc::new(Mutex::new(file)) })
    }
}

/// Appends a text, and takes back what was written of it where that fails.
fn append(file: &Mutex<File>, content: &str) -> io::Result<u64> {
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    let start = file.seek(SeekFrom::End(0))?;
    let written = file.write_all(content.as_bytes());
    if written.is_err() {
        file.set_len(start)?;
    }
    written.map(|()| start)
}

fn locator(path: &Utf8Path, start: u64, bytes: u64) -> String {
    format!("{path}#{start}+{bytes}")
}

const HINT: &str =
    "It is so many bytes from there on: tail -c +$((1 + START)) FILE | head -c BYTES";

#[async_trait]
impl SpillStore for OneFile {
    async fn save_text(&self, text: SaveText) -> Result<SpillRef, SpillError> {
        let bytes = text.content.len() as u64;
        let file = Arc::clone(&self.file);
        // Off the caller's threads. Dropped under way, it goes on to its end.
        let start = unblock(move || append(&file, &text.content)).await?;
        let start = start.map_err(|source| SpillError::File {
            action: "append to",
            place: self.path.to_string(),
            source,
        })?;
        let locator = SpillLocator::new(locator(&self.path, start, bytes))
            .map_err(|error| SpillError::Backend(Box::new(error)))?;
        Ok(SpillRef { locator, bytes, retrieval_hint: HINT.to_owned() })
    }

    fn max_reference_bytes(&self, _suggested_name: &str) -> usize {
        locator(&self.path, u64::MAX, u64::MAX).len() + HINT.len()
    }
}
