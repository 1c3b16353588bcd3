//! Roots: what calls retain, one append-only file per owner.
//!
//! The file of an owner is named by the SHA-256 of its id. Its lines (module
//! `record`) are:
//!
//! ```json
//! {"type":"owner","version":1,"owner":"<session id>"}
//! {"type":"retain","call":"<call id>","digests":["<64 hex>", …],"at":<ms since 1970>}
//! {"type":"release","call":"<call id>"}
//! {"type":"release_all"}
//! ```
//!
//! History: version 1 is the first; another one is unreadable, so that a
//! collector deletes nothing.
//!
//! A call retains the union of all that was recorded for it since it was last
//! released. Appends happen under the file's own lock, after which the name
//! must still be that of the locked file: a collector may have replaced or
//! removed it, and only a collector does.

mod ledger;
mod owner;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use artifacts::error::BackendError;
use artifacts::hash::digest_of;
use artifacts::{Durability, FileError, FileId, RootError};
use camino::Utf8PathBuf;
use output_contract::{CallId, Digest, SessionId, Timestamp};

use self::owner::{Head, RootRecord};
use crate::lock::{Collector, Held, Locked};
use crate::record;
use crate::tree::{Dir, File, FileStat, LockMode};

pub(crate) use self::ledger::{LEDGER, Ledger};
pub(crate) use self::owner::OwnerRoots;

/// Roots files that are kept open; most processes have one owner.
const KEPT_OPEN: usize = 8;
const MAX_ROOTS_BYTES: u64 = 1024 * 1024 * 1024;

/// The roots directory.
#[derive(Debug)]
pub(crate) struct Roots {
    dir: Dir,
    ledger: Ledger,
    durability: Durability,
    /// Files whose name this process has brought to the medium.
    synced: Mutex<VecDeque<(FileId, File)>>,
    /// The file that was appended to last. Whoever takes it out has it alone.
    recent: Mutex<Option<Recent>>,
}

/// A roots file as this process left it.
#[derive(Debug)]
struct Recent {
    name: String,
    file: File,
    /// Its size in bytes; all of them were whole lines.
    end: u64,
}

/// The name of the file of `owner`.
fn file_name(owner: &SessionId) -> String {
    digest_of(owner.as_str().as_bytes()).to_string()
}

impl Roots {
    pub(crate) fn new(dir: Dir, ledger: Ledger, durability: Durability) -> Self {
        Self { dir, ledger, durability, synced: Mutex::default(), recent: Mutex::default() }
    }

    /// Records that `call` retains `digests`; durable when it returns, where
    /// the store is.
    pub(crate) fn retain(
        &self,
        owner: &SessionId,
        call: &CallId,
        digests: &[Digest],
    ) -> Result<(), RootError> {
        let name = file_name(owner);
        let retain = |at: &FileStat| {
            // The file system's own clock is the only one the store looks at.
            let at = Timestamp(at.changed.as_millis() as u64);
            RootRecord::Retain { call: call.clone(), digests: digests.to_vec(), at }
        };
        let recent = self.recent().take_if(|recent| recent.name == name);
        if let Some(mut recent) = recent {
            recent.file.lock(LockMode::Exclusive)?;
            let held = Held(&recent.file);
            let now = held.0.touch()?;
            if self.is_called(&name, &now)? {
                let whole = now.bytes == recent.end;
                let end = self.append(held.0, &now, whole, owner, &retain(&now))?;
                drop(held);
                recent.end = end;
                *self.recent() = Some(recent);
                return Ok(());
            }
        }
        let file = self.lock_to_append(&name, true)?.expect("made where it is missing");
        let now = file.0.touch()?;
        let end = self.append(&file.0, &now, false, owner, &retain(&now))?;
        let again = file.0.again();
        drop(file);
        *self.recent() = again.ok().map(|file| Recent { name, file, end });
        Ok(())
    }

    fn recent(&self) -> MutexGuard<'_, Option<Recent>> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that `call`, or all calls of `owner`, retain nothing.
    pub(crate) fn release(
        &self,
        owner: &SessionId,
        call: Option<&CallId>,
    ) -> Result<(), RootError> {
        let name = file_name(owner);
        let Some(file) = self.lock_to_append(&name, false)? else { return Ok(()) };
        let record = match call {
            Some(call) => RootRecord::Release { call: call.clone() },
            None if parse(&file.0, &name).is_err() => {
                // Damaged, and nothing that it said matters any more. Whoever
                // waits for the lock will see that the name is gone.
                self.ledger.forget(&name, self.durability)?;
                self.dir.unlink(&name)?;
                return if self.durability.waits() { Ok(self.dir.sync()?) } else { Ok(()) };
            }
            None => RootRecord::ReleaseAll,
        };
        self.append(&file.0, &file.0.stat()?, false, owner, &record)?;
        Ok(())
    }

    /// Appends one record to a locked file, whole or not at all, and returns the
    /// size that it has then. Damage further on is the collector's concern: it
    /// must not keep calls from being saved. The caller may know that the file is
    /// as this process left it, of this owner and `whole`.
    fn append(
        &self,
        file: &File,
        stat: &FileStat,
        whole: bool,
        owner: &SessionId,
        record: &RootRecord,
    ) -> Result<u64, RootError> {
        let line = record::encode(record);
        let first = if whole { Vec::new() } else { first_line(file, owner)? };
        if whole {
            file.append_after(stat.bytes, &line)?;
        } else {
            record::append(file, &[&first[..], &line].concat())?;
        }
        let finish = || {
            if self.durability.waits() {
                file.sync()?;
                self.sync_name(file, stat.id)?;
            }
            // Not before: a file that a loss of power takes together with all
            // that it retained would seem to be lost.
            if first.is_empty() {
                return Ok(());
            }
            self.ledger.know(&file_name(owner), 0, Durability::Fast)
        };
        if let Err(error) = finish() {
            // It may or may not be on the medium; it must not seem to be.
            file.cut_back(stat.bytes);
            return Err(error.into());
        }
        if whole {
            return Ok(stat.bytes + line.len() as u64);
        }
        // Where it is unknown, the next append looks at the file again.
        Ok(file.stat().map_or(0, |now| now.bytes))
    }

    /// Brings the name of a roots file to the medium, unless this process has
    /// already. The file is kept open from then on: otherwise a new one could
    /// get its inode.
    fn sync_name(&self, file: &File, id: FileId) -> Result<(), FileError> {
        let known = || self.synced.lock().unwrap_or_else(PoisonError::into_inner);
        if !known().iter().any(|(known, _)| *known == id) {
            self.dir.sync()?;
            let kept = file.again()?;
            let mut known = known();
            if known.len() == KEPT_OPEN {
                known.pop_front();
            }
            known.push_back((id, kept));
        }
        Ok(())
    }

    /// Locks the file called `name` to change it; `None` where there is none
    /// and it is not to be made.
    fn lock_to_append(&self, name: &str, create: bool) -> Result<Option<Locked>, FileError> {
        self.lock(LockMode::Exclusive, name, || {
            loop {
                match self.dir.open_append(name)? {
                    None if create => {}
                    found => return Ok(found),
                }
                // Someone else may be making it at the same time.
                if let Some(made) = self.dir.create_new(name)? {
                    return Ok(Some(made));
                }
            }
        })
    }

    /// Locks the file that `open` opens, which must still be called `name` then.
    fn lock(
        &self,
        mode: LockMode,
        name: &str,
        open: impl Fn() -> Result<Option<File>, FileError>,
    ) -> Result<Option<Locked>, FileError> {
        loop {
            let Some(file) = open()? else { return Ok(None) };
            file.lock(mode)?;
            let file = Locked(file);
            if self.is_called(name, &file.0.stat()?)? {
                return Ok(Some(file));
            }
        }
    }

    /// Whether a locked file still has its name.
    fn is_called(&self, name: &str, file: &FileStat) -> Result<bool, FileError> {
        Ok(self.dir.stat(name)?.is_some_and(|stat| stat.id == file.id))
    }

    /// The names of all roots files.
    pub(crate) fn names(&self) -> Result<Vec<String>, FileError> {
        let mut names = self.dir.names()?;
        names.retain(|name| !name.ends_with(TEMPORARY));
        names.sort_unstable();
        Ok(names)
    }

    /// The records that are gone, or shorter than a collection left them,
    /// without anybody having released anything.
    pub(crate) fn lost(&self) -> Result<Lost, FileError> {
        let Some(known) = self.ledger.read()? else {
            let anything = !self.names()?.is_empty();
            return Ok(if anything {
                Lost::default()
            } else {
                Lost { ledger: true, ..Lost::default() }
            });
        };
        let mut lost = Lost::default();
        for (name, bytes) in known {
            if self.dir.stat(&name)?.is_none_or(|stat| stat.bytes < bytes) {
                lost.records.insert(name, bytes);
            }
        }
        Ok(lost)
    }

    /// Where the lost records were, for messages.
    pub(crate) fn paths_of(&self, lost: &Lost) -> Vec<Utf8PathBuf> {
        if lost.ledger {
            return vec![self.ledger.path()];
        }
        lost.records.keys().map(|name| self.dir.path().join(name)).collect()
    }

    /// Notes the records that there are, beside those that stay lost.
    pub(crate) fn note(&self, lost: &Lost, _collector: &Collector) -> Result<(), FileError> {
        if lost.ledger {
            return Ok(());
        }
        self.ledger.rewrite(self.durability, || {
            let mut known = Vec::new();
            for name in self.names()? {
                if let Some(stat) = self.dir.stat(&name)? {
                    known.push((name, stat.bytes));
                }
            }
            known.retain(|(name, _)| !lost.records.contains_key(name));
            known.extend(lost.records.iter().map(|(name, bytes)| (name.clone(), *bytes)));
            Ok(known)
        })
    }

    /// Removes what interrupted compactions left behind.
    pub(crate) fn remove_temporaries(&self, _collector: &Collector) -> Result<(), FileError> {
        let names = self.dir.names()?;
        names.iter().filter(|name| name.ends_with(TEMPORARY)).try_for_each(|n| self.dir.unlink(n))
    }

    /// Where the roots file `name` is, for messages.
    pub(crate) fn path_of(&self, name: &str) -> Utf8PathBuf {
        self.dir.path().join(name)
    }

    /// Reads one roots file; `None` where it is gone or empty.
    pub(crate) fn read(&self, name: &str) -> Result<Option<OwnerRoots>, RootError> {
        match self.lock(LockMode::Shared, name, || self.dir.open_read(name))? {
            Some(file) => parse(&file.0, name),
            None => Ok(None),
        }
    }

    /// Reads the roots of one owner; `None` where there are none.
    pub(crate) fn read_owner(&self, owner: &SessionId) -> Result<Option<OwnerRoots>, RootError> {
        self.read(&file_name(owner))
    }

    /// Rewrites one roots file without what says nothing any more, and removes
    /// it where nothing is left. What was released stays noted while `keep`
    /// wants it; before it goes, `look` sees it. Only the collector does this.
    pub(crate) fn compact(
        &self,
        name: &str,
        _collector: &Collector,
        look: impl FnOnce(&OwnerRoots),
        keep: impl Fn(&Digest) -> bool,
    ) -> Result<(), RootError> {
        let Some(file) = self.lock_to_append(name, false)? else { return Ok(()) };
        let roots = parse(&file.0, name)?;
        let superfluous = roots.as_ref().is_none_or(OwnerRoots::has_superfluous_lines);
        if !superfluous {
            return Ok(());
        }
        if let Some(roots) = &roots {
            look(roots);
        }
        let Some(lines) = roots.and_then(|roots| roots.lines(keep)) else {
            self.ledger.forget(name, self.durability)?;
            self.dir.unlink(name)?;
            return Ok(());
        };
        if read_file(&file.0)? == lines {
            return Ok(());
        }
        let temporary = format!("{name}{TEMPORARY}");
        let written = self.rewrite(name, &temporary, &lines);
        if written.is_err() {
            self.dir.unlink(&temporary)?;
        }
        Ok(written?)
    }

    fn rewrite(&self, name: &str, temporary: &str, lines: &[u8]) -> Result<(), FileError> {
        if let Some(file) = self.dir.create_new(temporary)? {
            file.append(lines)?;
            if self.durability.waits() {
                file.sync()?;
            }
            // Before: a file that is shorter than is known would seem damaged.
            self.ledger.know(name, lines.len() as u64, self.durability)?;
            self.dir.rename(temporary, &self.dir, name)?;
            if self.durability.waits() {
                self.dir.sync()?;
            }
        }
        Ok(())
    }
}

/// The line that must go before others where the file has none yet.
fn first_line(file: &File, owner: &SessionId) -> Result<Vec<u8>, RootError> {
    match owner::head(file)? {
        Head::Missing => Ok(record::encode(&RootRecord::first(owner))),
        Head::Owner(found) if found == *owner => Ok(Vec::new()),
        Head::Owner(_) => Err(unreadable(file, "it is another owner's")),
        Head::Version(version) => Err(unreadable(file, format!("its version is {version}"))),
        Head::Damaged => Ok(Vec::new()),
    }
}

/// Records of roots that are missing although nobody released them.
#[derive(Debug, Default)]
pub(crate) struct Lost {
    /// Their names, and the size in bytes that they had at least.
    records: BTreeMap<String, u64>,
    /// There is neither a record nor the list of records.
    ledger: bool,
}

impl Lost {
    pub(crate) fn is_nothing(&self) -> bool {
        self.records.is_empty() && !self.ledger
    }
}

/// The suffix of a file that is being compacted.
const TEMPORARY: &str = ".new";

fn unreadable(file: &File, source: impl Into<BackendError>) -> RootError {
    RootError::Unreadable { path: file.path().to_owned(), source: source.into() }
}

fn read_file(file: &File) -> Result<Vec<u8>, RootError> {
    let bytes = file.read_up_to(MAX_ROOTS_BYTES)?;
    if bytes.len() as u64 > MAX_ROOTS_BYTES {
        return Err(unreadable(file, "it is too long"));
    }
    Ok(bytes)
}

/// Reads what may be a roots file, and writes it again.
#[cfg(feature = "fault-injection")]
pub(crate) fn rewrite(bytes: &[u8]) -> Option<Vec<u8>> {
    owner::parse(bytes).ok()??.lines(|_| true)
}

/// Reads a locked file, which must be where its owner's belongs.
fn parse(file: &File, name: &str) -> Result<Option<OwnerRoots>, RootError> {
    let roots = owner::parse(&read_file(file)?).map_err(|source| unreadable(file, source))?;
    let named = match &roots {
        Some(roots) => file_name(roots.owner()) == name,
        None => Digest::parse(name).is_ok(),
    };
    if named { Ok(roots) } else { Err(unreadable(file, "its name is not that of its owner")) }
}
