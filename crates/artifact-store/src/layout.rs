//! Where everything lies, and how an empty directory becomes a store.
//!
//! ```text
//! store.json                        {"store_id": …, "format": 1}
//! locks/gc  locks/sweep             flock files, never unlinked
//! blobs/sha256/ab/<64 hex>          0444, exactly the bytes
//! manifests/sha256/ab/<64 hex>      0444
//! index/sha256/ab/<64 hex>          0444, sidecars of blobs over 256 KiB
//! leases/<uuid>                     module `lease`
//! roots/<sha256 of the owner>       module `roots`
//! owners                            module `roots::ledger`
//! expired                           module `expired`
//! captures/<uuid>/… <uuid>.lock     crate `artifacts`, module `capture`
//! trash/<uuid>/…                    on its way out, nobody's
//! quarantine/                       damaged artifacts, put aside
//! ```
//!
//! Directories are 0700, files 0600 until they are complete.
//!
//! History: format 1 is the first. A newer one is read, as far as it has the
//! same layout, and never written.

use std::sync::Once;
use std::time::Duration;

use artifacts::fs::Fs;
use artifacts::{Durability, FileError};
use camino::Utf8Path;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::StoreError;
use crate::expired::EXPIRED;
use crate::lock::{Collector, Locks};
use crate::roots::{LEDGER, Ledger, Roots};
use crate::shelf::Shelf;
use crate::tree::{self, Dir, current_user};

/// The format that this crate writes.
pub(crate) const STORE_FORMAT: u64 = 1;

const DESCRIPTION: &str = "store.json";
const DIRECTORIES: [&str; 9] =
    ["locks", "blobs", "manifests", "index", "leases", "roots", "captures", "trash", "quarantine"];
const LOCKS: [&str; 2] = [GC_LOCK, SWEEP_LOCK];
const SHELVES: [&str; 3] = ["blobs", "manifests", "index"];
const ALGORITHM: &str = "sha256";
const MAX_DESCRIPTION_BYTES: u64 = 4096;

/// Held by the collector, one at a time.
pub(crate) const GC_LOCK: &str = "gc";
/// Held shared to link, exclusive to sweep.
pub(crate) const SWEEP_LOCK: &str = "sweep";

/// `store.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Description {
    store_id: String,
    format: u64,
}

/// The open directories of a store.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) store_id: String,
    pub(crate) format: u64,
    pub(crate) root: Dir,
    pub(crate) locks: Locks,
    pub(crate) blobs: Shelf,
    pub(crate) manifests: Shelf,
    pub(crate) index: Shelf,
    pub(crate) leases: Dir,
    pub(crate) roots: Roots,
    pub(crate) captures: Dir,
    pub(crate) trash: Dir,
    pub(crate) quarantine: Dir,
    root_synced: Once,
}

impl Layout {
    /// Opens the store at `path`, and makes one where there is nothing.
    pub(crate) fn open(
        path: &Utf8Path,
        durability: Durability,
        allow_network_fs: bool,
        fs: &Fs,
    ) -> Result<Self, StoreError> {
        let root = match Dir::open_root(path, fs)? {
            Some(root) => root,
            None => {
                Dir::create_root(path, fs)?;
                Dir::open_root(path, fs)?.ok_or_else(|| vanished(path))?
            }
        };
        check_root(&root, allow_network_fs)?;
        let description = match read_description(&root)? {
            Some(description) => description,
            None => create(&root, fs)?,
        };
        let shelf = |name| Ok::<_, FileError>(Shelf::new(root.dir(name)?.dir(ALGORITHM)?));
        Ok(Self {
            store_id: description.store_id,
            format: description.format,
            locks: Locks::new(root.dir("locks")?),
            blobs: shelf("blobs")?,
            manifests: shelf("manifests")?,
            index: shelf("index")?,
            leases: root.dir("leases")?,
            roots: Roots::new(root.dir("roots")?, Ledger::new(root.again()?), durability),
            captures: root.dir("captures")?,
            trash: root.dir("trash")?,
            quarantine: root.dir("quarantine")?,
            root,
            root_synced: Once::new(),
        })
    }

    /// Brings the names of the store's own directories to the medium, once:
    /// whoever made the store may not have come to that. It is for those that
    /// publish or borrow, because reading needs no medium.
    pub(crate) fn sync_root(&self) -> Result<(), FileError> {
        if !self.root_synced.is_completed() {
            self.root.sync()?;
            self.root_synced.call_once(|| ());
        }
        Ok(())
    }
}

fn vanished(path: &Utf8Path) -> FileError {
    FileError::new("open", path, std::io::Error::from(std::io::ErrorKind::NotFound))
}

fn check_root(root: &Dir, allow_network_fs: bool) -> Result<(), StoreError> {
    let (stat, user) = (root.own_stat()?, current_user());
    let path = root.path().to_owned();
    if stat.owner != user {
        return Err(StoreError::ForeignOwner { path, owner: stat.owner, user });
    }
    match root.untrusted_file_system()? {
        Some(kind) if !allow_network_fs => Err(StoreError::NetworkFileSystem { path, kind }),
        _ => Ok(()),
    }
}

fn read_description(root: &Dir) -> Result<Option<Description>, StoreError> {
    let Some(file) = root.open_read(DESCRIPTION)? else { return Ok(None) };
    let json = file.read_up_to(MAX_DESCRIPTION_BYTES)?;
    let description = serde_json::from_slice(&json)
        .map_err(|source| StoreError::Description { path: file.path().to_owned(), source })?;
    let stat = root.own_stat()?;
    if stat.mode & 0o022 != 0 {
        return Err(StoreError::OpenToOthers { path: root.path().to_owned(), mode: stat.mode });
    }
    Ok(Some(description))
}

/// Makes all directories, then the description: where it is, all else is. This
/// waits for the medium however little is to survive, since a store of which
/// only a part did could not be opened again.
fn create(root: &Dir, fs: &Fs) -> Result<Description, StoreError> {
    if let Some(entry) = root.names()?.into_iter().find(|name| !is_ours(name)) {
        return Err(StoreError::NotAStore { path: root.path().to_owned(), entry });
    }
    root.make_own_private()?;
    for name in DIRECTORIES {
        let dir = root.make_dir(name)?;
        if SHELVES.contains(&name) {
            dir.make_dir(ALGORITHM)?;
        }
        if name == "locks" {
            for lock in LOCKS {
                dir.create_new(lock)?;
            }
        }
        dir.sync()?;
    }
    root.create_new(LEDGER)?;
    root.sync()?;
    // Whoever made the root may not have come to that.
    Dir::sync_name_of_root(root.path(), fs)?;
    let description = Description { store_id: Uuid::new_v4().to_string(), format: STORE_FORMAT };
    let temporary = format!("{DESCRIPTION}.{}", description.store_id);
    let json = serde_json::to_vec(&description).expect("a text and a number are JSON");
    let written = write_description(root, &temporary, &json);
    root.unlink(&temporary)?;
    match written {
        Ok(true) => return Ok(description),
        // Someone else was faster, and may have collected since: theirs is the
        // one.
        Ok(false) => {}
        Err(error) if tree::vanished(&error) => {}
        Err(error) => return Err(error.into()),
    }
    read_description(root)?.ok_or_else(|| vanished(&root.path().join(DESCRIPTION)).into())
}

/// Removes what interrupted creations and collections left in the root, where
/// `past` says that its time is old enough.
pub(crate) fn remove_temporaries(
    root: &Dir,
    _collector: &Collector,
    past: impl Fn(Duration) -> bool,
) -> Result<(), FileError> {
    for name in root.names()? {
        let temporary = [DESCRIPTION, LEDGER, EXPIRED]
            .iter()
            .any(|file| name.strip_prefix(file).is_some_and(|rest| rest.starts_with('.')));
        if temporary && root.stat(&name)?.is_some_and(|stat| stat.is_file && past(stat.changed)) {
            root.unlink(&name)?;
        }
    }
    Ok(())
}

fn write_description(root: &Dir, temporary: &str, json: &[u8]) -> Result<bool, FileError> {
    let file = root.create_new(temporary)?.ok_or_else(|| vanished(root.path()))?;
    file.append(json)?;
    file.sync()?;
    let ours = root.link(temporary, root, DESCRIPTION)?;
    root.sync()?;
    Ok(ours)
}

/// Whether an interrupted creation may have left `name`.
fn is_ours(name: &str) -> bool {
    DIRECTORIES.contains(&name) || name == LEDGER || name.starts_with(DESCRIPTION)
}
