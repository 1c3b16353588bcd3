//! What stands between this program and the system, in tests.

use std::fmt::Debug;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::io::Errno;

use super::{Fs, OperationKind, Target};
use crate::capture::FileId;

/// Stands between the store and the system. It is called in the thread that is
/// about to do the operation, and may be called by many.
pub trait Interposer: Debug + Send + Sync {
    /// Before an operation: what is to become of it.
    fn before(&self, operation: &Operation<'_>) -> Verdict;

    /// After an operation that was done, or whose doing was pretended, and which
    /// `file` it was done to, where it has one open. `bytes` are those that were
    /// written.
    fn after(&self, operation: &Operation<'_>, file: Option<FileId>) {
        let _ = (operation, file);
    }
}

/// What is to become of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is done.
    Proceed,
    /// It is not done, and fails so.
    Fail(Errno),
    /// Of a write, only so many bytes are written; all else is done.
    Shorten(usize),
    /// A sync is not done, and succeeds; all else is done.
    Pretend,
}

/// One system call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Operation<'a> {
    /// How many were asked for before it.
    pub number: u64,
    /// What it does.
    pub kind: OperationKind,
    /// Where in the store: `blobs`, `manifests`, `index`, `leases`, `roots`,
    /// `captures`, `locks`, `trash`, `quarantine`, `owners`, `expired`,
    /// `store.json`; empty for the root itself. Of what is linked or renamed,
    /// where it goes to.
    pub area: &'a str,
    /// The file or directory; of an open one, the path that it was opened by.
    pub path: &'a Utf8Path,
    /// The other name, of what is linked or renamed.
    pub to: Option<&'a Utf8Path>,
    /// Of a write, where in the file: `None` at its end. Of a cut, what is left.
    pub position: Option<u64>,
    /// What is written.
    pub bytes: &'a [u8],
}

#[derive(Debug)]
pub(super) struct Interposed {
    root: Utf8PathBuf,
    interposer: Arc<dyn Interposer>,
    count: AtomicU64,
}

impl Fs {
    /// The system behind an `interposer`; `root` is that of the store, for the
    /// areas.
    pub fn interposed(root: &Utf8Path, interposer: Arc<dyn Interposer>) -> Self {
        let interposed = Interposed { root: root.to_owned(), interposer, count: AtomicU64::new(0) };
        Self { interposed: Some(Arc::new(interposed)) }
    }
}

/// A path and a name in it, put together.
fn path_of((dir, name): (&Utf8Path, &str)) -> Utf8PathBuf {
    if name.is_empty() { dir.to_owned() } else { dir.join(name) }
}

impl Interposed {
    pub(super) fn run<T>(
        &self,
        target: &Target<'_>,
        call: impl FnOnce() -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        self.ask(target, |operation, verdict| {
            refuse(verdict)?;
            let done = call()?;
            self.interposer.after(operation, target.file.and_then(file_id));
            Ok(done)
        })
    }

    pub(super) fn open(
        &self,
        target: &Target<'_>,
        call: impl FnOnce() -> Result<OwnedFd, Errno>,
    ) -> Result<OwnedFd, Errno> {
        self.ask(target, |operation, verdict| {
            refuse(verdict)?;
            let file = call()?;
            self.interposer.after(operation, file_id(&file));
            Ok(file)
        })
    }

    pub(super) fn write(
        &self,
        target: &Target<'_>,
        bytes: &[u8],
        call: impl FnOnce(&[u8]) -> Result<usize, Errno>,
    ) -> Result<usize, Errno> {
        self.ask(&Target { bytes, ..*target }, |operation, verdict| {
            refuse(verdict)?;
            let length = if let Verdict::Shorten(length) = verdict { length } else { bytes.len() };
            let written = call(&bytes[..length.min(bytes.len())])?;
            let done = Operation { bytes: &bytes[..written], ..operation.clone() };
            self.interposer.after(&done, target.file.and_then(file_id));
            Ok(written)
        })
    }

    pub(super) fn sync(
        &self,
        target: &Target<'_>,
        call: impl FnOnce() -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        self.ask(target, |operation, verdict| {
            refuse(verdict)?;
            if verdict != Verdict::Pretend {
                call()?;
            }
            self.interposer.after(operation, target.file.and_then(file_id));
            Ok(())
        })
    }

    fn ask<T>(
        &self,
        target: &Target<'_>,
        then: impl FnOnce(&Operation<'_>, Verdict) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let path = path_of((target.dir, target.name));
        let to = target.to.map(path_of);
        let operation = Operation {
            number: self.count.fetch_add(1, Ordering::Relaxed),
            kind: target.kind,
            area: self.area(to.as_ref().unwrap_or(&path)),
            path: &path,
            to: to.as_deref(),
            position: target.position,
            bytes: target.bytes,
        };
        let verdict = self.interposer.before(&operation);
        then(&operation, verdict)
    }

    fn area<'a>(&self, path: &'a Utf8Path) -> &'a str {
        let below = path.strip_prefix(&self.root).ok();
        let first = below.and_then(|below| below.iter().next()).unwrap_or("");
        // Files are written under other names before they have their own.
        first.split_once(".json.").map_or(first, |(name, _)| &first[..name.len() + ".json".len()])
    }
}

fn refuse(verdict: Verdict) -> Result<(), Errno> {
    if let Verdict::Fail(errno) = verdict { Err(errno) } else { Ok(()) }
}

fn file_id(file: impl AsFd) -> Option<FileId> {
    rustix::fs::fstat(file).ok().map(|stat| FileId::of(&stat))
}
