//! Leases: what live processes are working with.
//!
//! A lease file is made by one opened store, which holds it locked (flock,
//! exclusive) for as long as it may append or a guard in it lives. Its lines
//! (module `record`) are:
//!
//! ```json
//! {"type":"lease_file","version":1}
//! {"type":"take","guard":0,"digests":["<64 hex>", …]}
//! {"type":"release","guard":0}
//! ```
//!
//! History: version 1 is the first; another one is unreadable, so that a
//! collector deletes nothing.
//!
//! A *take* names the whole closure of what it protects, and is complete
//! before the shared sweep lock is taken. A *release* frees nothing by itself:
//! the entry counts until a collection that began after it has ended (module
//! `collect`). After [`GUARDS_PER_FILE`] guards a new file is begun, so that
//! some file is fully released some day.
//!
//! Leases are never brought to the medium: power loss ends every process that
//! they could protect from.

pub(crate) mod state;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use artifacts::FileError;
use output_contract::Digest;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::lock::Locked;
use crate::record;
use crate::tree::{Dir, LockMode};

const VERSION: u32 = 1;
/// Guards in one file before the next is begun.
const GUARDS_PER_FILE: u64 = 1024;
const TRIES: usize = 16;

/// A line of a lease file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum LeaseRecord {
    /// The first line.
    LeaseFile { version: u32 },
    /// These are protected.
    Take { guard: u64, digests: Vec<Digest> },
    /// They need no protection any more.
    Release { guard: u64 },
}

/// The leases of this process, in the file that it appends to.
#[derive(Debug, Default)]
pub(crate) struct LeaseBook {
    current: Mutex<Option<Current>>,
}

#[derive(Debug)]
struct Current {
    file: Arc<LeaseFile>,
    guards: u64,
}

#[derive(Debug)]
struct LeaseFile {
    file: Locked,
    /// Its size in bytes while it ends with a whole line, as far as is known.
    /// One line at a time.
    end: Mutex<Option<u64>>,
}

/// Protection of some digests, until it is released or dropped.
#[derive(Debug)]
pub(crate) struct Lease {
    file: Arc<LeaseFile>,
    guard: u64,
    released: AtomicBool,
}

impl LeaseBook {
    /// Protects `digests` from every sweep that begins after this returns.
    pub(crate) fn take(&self, leases: &Dir, digests: &[Digest]) -> Result<Lease, FileError> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let Current { file, guards } = match current.take() {
            Some(open) if open.guards < GUARDS_PER_FILE && open.file.is_there()? => open,
            _ => Current { file: Arc::new(LeaseFile::create(leases)?), guards: 0 },
        };
        // Where this fails, the file is not used again: its tail is unknown.
        file.append(&LeaseRecord::Take { guard: guards, digests: digests.to_vec() })?;
        *current = Some(Current { file: Arc::clone(&file), guards: guards + 1 });
        Ok(Lease { file, guard: guards, released: AtomicBool::new(false) })
    }
}

impl LeaseFile {
    fn create(leases: &Dir) -> Result<Self, FileError> {
        for _ in 0..TRIES {
            let name = Uuid::now_v7().to_string();
            let Some(file) = leases.create_new(&name)? else { continue };
            file.lock(LockMode::Exclusive)?;
            let id = file.stat()?.id;
            // A collector may have found it unlocked, and removed it.
            if leases.stat(&name)?.is_some_and(|stat| stat.id == id) {
                let first = record::encode(&LeaseRecord::LeaseFile { version: VERSION });
                record::append(&file, &first)?;
                let end = Mutex::new(Some(first.len() as u64));
                return Ok(Self { file: Locked(file), end });
            }
        }
        let busy = std::io::Error::from(std::io::ErrorKind::ResourceBusy);
        Err(FileError::new("make a lease in", leases.path(), busy))
    }

    fn append(&self, line: &LeaseRecord) -> Result<(), FileError> {
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let (line, now) = (record::encode(line), self.file.0.stat()?.bytes);
        if end.take() != Some(now) {
            return record::append(&self.file.0, &line);
        }
        self.file.0.append_after(now, &line)?;
        *end = Some(now + line.len() as u64);
        Ok(())
    }

    fn is_there(&self) -> Result<bool, FileError> {
        Ok(self.file.0.stat()?.links > 0)
    }
}

impl Lease {
    /// Whether the file that says so still exists.
    pub(crate) fn is_held(&self) -> Result<bool, FileError> {
        Ok(!self.released.load(Ordering::Acquire) && self.file.is_there()?)
    }

    /// Ends the protection. Where that cannot be recorded, it lasts until the
    /// process ends and the grace is over.
    pub(crate) fn release(&self) {
        if !self.released.swap(true, Ordering::AcqRel) {
            let _ = self.file.append(&LeaseRecord::Release { guard: self.guard });
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_are_golden() {
        let digests = vec![Digest::from_bytes([0xab; 32]), Digest::EMPTY];
        let lines: String = [
            LeaseRecord::LeaseFile { version: VERSION },
            LeaseRecord::Take { guard: 0, digests },
            LeaseRecord::Release { guard: 0 },
        ]
        .iter()
        .map(|line| String::from_utf8(record::encode(line)).unwrap())
        .collect();
        insta::assert_snapshot!(lines, @r#"
        9efd58e9 {"type":"lease_file","version":1}
        6f28fd10 {"type":"take","guard":0,"digests":["abababababababababababababababababababababababababababababababab","e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"]}
        bdcc9eec {"type":"release","guard":0}
        "#);
    }
}
