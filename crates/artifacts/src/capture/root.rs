//! The directory of all captures.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use uuid::Uuid;

use super::Capture;
use super::dead::DeadCapture;
use super::directory::Directory;
use super::error::CaptureError;
use super::lock::{CaptureLock, LOCK_SUFFIX, Taken};
use super::meta::{CaptureMeta, META_FILE};
use crate::durability::Durability;
use crate::error::FileError;
use crate::fs::Fs;

/// How often a new name is tried where a lock cannot be had at once.
const TRIES: usize = 16;

/// Where captures are made and found again.
#[derive(Debug, Clone)]
pub struct CaptureRoot {
    dir: Utf8PathBuf,
    durability: Durability,
    fs: Fs,
    /// The directory, once a capture was made in it.
    open: OnceLock<Arc<Directory>>,
}

impl CaptureRoot {
    /// Captures in `dir`, which is made at the first of them.
    pub const fn new(dir: Utf8PathBuf, durability: Durability) -> Self {
        Self { dir, durability, fs: Fs::real(), open: OnceLock::new() }
    }

    /// The same, by another way to the disk.
    #[doc(hidden)]
    #[must_use]
    pub fn on(self, fs: Fs) -> Self {
        Self { fs, ..self }
    }

    /// The directory.
    pub fn path(&self) -> &Utf8Path {
        &self.dir
    }

    /// Makes a new capture, locks it, and writes down what it is of.
    ///
    /// # Errors
    /// [`CaptureError`] where a file cannot be made or locked.
    pub fn create(&self, meta: &CaptureMeta) -> Result<Capture, CaptureError> {
        self.make(Some(meta))
    }

    /// Makes a new capture that is of no call: nobody recovers it once its
    /// process is gone, and a collection removes it.
    ///
    /// # Errors
    /// As for [`create`](Self::create).
    pub fn scratch(&self) -> Result<Capture, CaptureError> {
        self.make(None)
    }

    fn make(&self, meta: Option<&CaptureMeta>) -> Result<Capture, CaptureError> {
        let mut root = self.open_to_create()?;
        for _ in 0..TRIES {
            let id = Uuid::now_v7().to_string();
            // Whoever looks for dead captures may hold or remove the new lock
            // for a moment; another name is as good.
            let lock = match CaptureLock::take(&root, &id, true)? {
                Taken::Held(lock) => lock,
                Taken::Busy => continue,
                Taken::Gone => {
                    // Or the directory itself was removed since it was opened.
                    root = Arc::new(Directory::open_or_create(&self.dir, &self.fs)?);
                    continue;
                }
            };
            let dir = match described_dir(&root, &id, meta) {
                Ok(dir) => dir,
                Err(error) => {
                    // Nothing was captured: leave as little as a full disk allows.
                    let _ = root.open_dir(&id).map(|dir| root.remove_capture(&dir, &lock, &[]));
                    let _ = root.unlink(lock.name());
                    return Err(error);
                }
            };
            return Ok(Capture {
                root,
                dir,
                lock: Arc::new(lock),
                meta: meta.cloned(),
                durability: self.durability,
                files: Mutex::new(meta.map(|_| META_FILE.to_owned()).into_iter().collect()),
            });
        }
        Err(CaptureError::Contended { path: self.dir.clone() })
    }

    /// Takes over the captures whose process is gone and that say what they
    /// are of. Each is locked while its [`DeadCapture`] lives. An entry that is
    /// no capture, or cannot be looked at, keeps none of the others back.
    ///
    /// # Errors
    /// [`CaptureError::File`] where the directory cannot be read.
    pub fn dead(&self) -> Result<Vec<DeadCapture>, CaptureError> {
        let Some(root) = self.open()? else { return Ok(Vec::new()) };
        let mut dead = Vec::new();
        for id in capture_ids(&root)? {
            let Ok(Taken::Held(lock)) = CaptureLock::take(&root, &id, true) else { continue };
            let Ok(found) = root.find_dir(&id) else { continue };
            let Some(dir) = found else {
                // Its owner removed it since it was listed. Whoever collects
                // comes past here again.
                let _ = root.unlink(lock.name());
                continue;
            };
            let Some(meta) = CaptureMeta::read(&dir) else { continue };
            dead.push(DeadCapture::new(Arc::clone(&root), dir, lock, meta, self.durability));
        }
        Ok(dead)
    }

    /// What is being captured right now, by any process. A capture that is
    /// being made or cleaned up may be left out.
    ///
    /// # Errors
    /// [`CaptureError::File`] where the directory cannot be read.
    pub fn live(&self) -> Result<Vec<CaptureMeta>, CaptureError> {
        let Some(root) = self.open()? else { return Ok(Vec::new()) };
        let mut live = Vec::new();
        for id in capture_ids(&root)? {
            if let Ok(Taken::Busy) = CaptureLock::take(&root, &id, false)
                && let Ok(Some(dir)) = root.find_dir(&id)
            {
                live.extend(CaptureMeta::read(&dir));
            }
        }
        Ok(live)
    }

    /// Removes captures that no process holds, that do not say what they are
    /// of, and whose files did not change after `before`: a point in time as the
    /// file system counts it, since the Unix epoch. Returns how many there
    /// were; in a `dry_run` they stay.
    ///
    /// # Errors
    /// [`CaptureError::File`] where the directory cannot be read.
    pub fn remove_orphans(&self, before: Duration, dry_run: bool) -> Result<u64, CaptureError> {
        let Some(root) = self.open()? else { return Ok(0) };
        let mut removed = 0;
        for id in capture_ids(&root)? {
            // What cannot be looked at or removed is no capture of ours; the
            // others are cleaned up all the same.
            removed += u64::from(remove_orphan(&root, &id, before, dry_run).unwrap_or(false));
        }
        Ok(removed)
    }

    /// The directory, which is opened once.
    fn open_to_create(&self) -> Result<Arc<Directory>, FileError> {
        if let Some(open) = self.open.get() {
            return Ok(Arc::clone(open));
        }
        let root = Arc::new(Directory::open_or_create(&self.dir, &self.fs)?);
        Ok(Arc::clone(self.open.get_or_init(|| root)))
    }

    fn open(&self) -> Result<Option<Arc<Directory>>, FileError> {
        match Directory::open(&self.dir, &self.fs) {
            Ok(root) => Ok(Some(Arc::new(root))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Removes one capture if it is an orphan. Returns whether it is.
fn remove_orphan(
    root: &Directory,
    id: &str,
    before: Duration,
    dry_run: bool,
) -> Result<bool, CaptureError> {
    if !is_older(root, id, before)? {
        return Ok(false);
    }
    let lock = match CaptureLock::take(root, id, !dry_run)? {
        Taken::Held(lock) => Some(lock),
        Taken::Busy => return Ok(false),
        Taken::Gone => None,
    };
    match (root.find_dir(id)?, lock) {
        (Some(dir), _) if CaptureMeta::read(&dir).is_some() => Ok(false),
        (Some(_), _) if dry_run => Ok(true),
        (Some(dir), Some(lock)) => root.remove_capture(&dir, &lock, &[]).map(|()| true),
        (None, Some(lock)) if !dry_run => Ok(root.unlink(lock.name()).map(|()| false)?),
        _ => Ok(false),
    }
}

/// Makes the directory of a new capture, with its description.
fn described_dir(
    root: &Directory,
    id: &str,
    meta: Option<&CaptureMeta>,
) -> Result<Directory, CaptureError> {
    let dir = root.create_dir(id)?;
    if let Some(meta) = meta {
        meta.write(&dir)?;
    }
    Ok(dir)
}

/// The ids of all captures of which a directory or a lock file exists, oldest
/// first.
fn capture_ids(root: &Directory) -> Result<BTreeSet<String>, FileError> {
    Ok(root
        .names()?
        .iter()
        .map(|name| name.strip_suffix(LOCK_SUFFIX).unwrap_or(name))
        .filter(|id| Uuid::try_parse(id).is_ok_and(|uuid| uuid.to_string() == *id))
        .map(str::to_owned)
        .collect())
}

/// Whether neither lock file nor directory was changed after `before`.
fn is_older(root: &Directory, id: &str, before: Duration) -> Result<bool, FileError> {
    for name in [id, &format!("{id}{LOCK_SUFFIX}")] {
        if let Some(stat) = root.stat(name)? {
            let changed = Duration::new(
                u64::try_from(stat.st_mtime).unwrap_or(0),
                u32::try_from(stat.st_mtime_nsec).unwrap_or(0),
            );
            if changed > before {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
