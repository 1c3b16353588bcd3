//! The ledger of roots files: which there are, and how long each was when a
//! collection last looked.
//!
//! A roots file only grows, but for what a collection and a release remove. One
//! that is gone or shorter than the ledger says was lost, and what it protected
//! is not garbage: the collector asks before it removes most of a store for
//! that. The lines of the file `owners` (module `record`) are:
//!
//! ```json
//! {"type":"known","name":"<sha256 of the owner>","bytes":0}
//! {"type":"forgotten","name":"<sha256 of the owner>"}
//! ```
//!
//! It guards and proves nothing: damaged lines are left out.
//!
//! History: this is the first format.

use std::collections::BTreeMap;

use artifacts::{Durability, FileError};
use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::lock::Locked;
use crate::record;
use crate::tree::{Dir, LockMode};

/// The name of the file.
pub(crate) const LEDGER: &str = "owners";
const MAX_LEDGER_BYTES: u64 = 256 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line {
    Known { name: String, bytes: u64 },
    Forgotten { name: String },
}

/// The file `owners` of a store.
#[derive(Debug)]
pub(crate) struct Ledger {
    root: Dir,
}

impl Ledger {
    pub(crate) const fn new(root: Dir) -> Self {
        Self { root }
    }

    pub(super) fn path(&self) -> Utf8PathBuf {
        self.root.path().join(LEDGER)
    }

    /// Notes that the roots file `name` was made, or is about to have no more
    /// than `bytes` bytes.
    pub(super) fn know(
        &self,
        name: &str,
        bytes: u64,
        durability: Durability,
    ) -> Result<(), FileError> {
        self.append(&Line::Known { name: name.to_owned(), bytes }, durability)
    }

    /// Notes that the roots file `name` is about to be removed.
    pub(super) fn forget(&self, name: &str, durability: Durability) -> Result<(), FileError> {
        self.append(&Line::Forgotten { name: name.to_owned() }, durability)
    }

    fn append(&self, line: &Line, durability: Durability) -> Result<(), FileError> {
        let file = self.locked()?;
        record::append(&file.0, &record::encode(line))?;
        if durability.waits() { file.0.sync() } else { Ok(()) }
    }

    /// The roots files that there must be, with their least size in bytes;
    /// `None` where there is no ledger.
    pub(super) fn read(&self) -> Result<Option<BTreeMap<String, u64>>, FileError> {
        let Some(file) = self.root.open_read(LEDGER)? else { return Ok(None) };
        file.lock(LockMode::Shared)?;
        let file = Locked(file);
        let mut known = BTreeMap::new();
        for line in record::decode_readable(&file.0.read_up_to(MAX_LEDGER_BYTES)?) {
            match line {
                Line::Known { name, bytes } => known.insert(name, bytes),
                Line::Forgotten { name } => known.remove(&name),
            };
        }
        Ok(Some(known))
    }

    /// Replaces all lines by what `known` finds while nobody else appends.
    pub(super) fn rewrite(
        &self,
        durability: Durability,
        known: impl FnOnce() -> Result<Vec<(String, u64)>, FileError>,
    ) -> Result<(), FileError> {
        let file = self.locked()?;
        let line = |(name, bytes)| record::encode(&Line::Known { name, bytes });
        let lines: Vec<u8> = known()?.into_iter().flat_map(line).collect();
        if file.0.read_up_to(MAX_LEDGER_BYTES)? == lines {
            return Ok(());
        }
        let temporary = format!("{LEDGER}.{}", Uuid::new_v4());
        let Some(new) = self.root.create_new(&temporary)? else { return Ok(()) };
        let replaced = (|| {
            new.append(&lines)?;
            if durability.waits() {
                new.sync()?;
            }
            self.root.rename(&temporary, &self.root, LEDGER)?;
            if durability.waits() { self.root.sync() } else { Ok(()) }
        })();
        if replaced.is_err() {
            self.root.unlink(&temporary)?;
        }
        replaced
    }

    fn locked(&self) -> Result<Locked, FileError> {
        loop {
            if let Some(file) = self.root.open_append(LEDGER)? {
                file.lock(LockMode::Exclusive)?;
                let (file, there) = (Locked(file), self.root.stat(LEDGER)?);
                // A collector may have replaced it.
                let id = file.0.stat()?.id;
                if there.is_some_and(|there| there.id == id) {
                    return Ok(file);
                }
                continue;
            }
            // Someone else may be making it at the same time.
            self.root.create_new(LEDGER)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_are_golden() {
        let name = "04".repeat(32);
        let lines: String = [
            Line::Known { name: name.clone(), bytes: 0 },
            Line::Known { name: name.clone(), bytes: 300 },
            Line::Forgotten { name },
        ]
        .iter()
        .map(|line| String::from_utf8(record::encode(line)).unwrap())
        .collect();
        insta::assert_snapshot!(lines, @r#"
        ad3f1678 {"type":"known","name":"0404040404040404040404040404040404040404040404040404040404040404","bytes":0}
        f39a7618 {"type":"known","name":"0404040404040404040404040404040404040404040404040404040404040404","bytes":300}
        da358cd9 {"type":"forgotten","name":"0404040404040404040404040404040404040404040404040404040404040404"}
        "#);
    }
}
