//! What is on the medium, and what is not yet.

use std::collections::{BTreeMap, HashMap};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

use artifacts::FileId;
use camino::{Utf8Path, Utf8PathBuf};

/// A disk. Directories are known by their paths below its base, since none is
/// ever renamed.
#[derive(Debug, Clone, Default)]
pub(super) struct Disk {
    pub(super) files: Vec<FileModel>,
    pub(super) dirs: BTreeMap<Utf8PathBuf, DirModel>,
    by_id: HashMap<FileId, usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    Dir,
    /// An index into [`Disk::files`].
    File(usize),
}

#[derive(Debug, Clone, Default)]
pub(super) struct FileModel {
    /// On the medium.
    pub(super) durable: Arc<Vec<u8>>,
    /// Since then.
    pub(super) pending: Vec<Change>,
    length: u64,
}

#[derive(Debug, Clone)]
pub(super) enum Change {
    Write { at: u64, bytes: Arc<[u8]> },
    Cut { length: u64 },
}

#[derive(Debug, Clone, Default)]
pub(super) struct DirModel {
    pub(super) durable: BTreeMap<String, Entry>,
    pub(super) pending: Vec<NameChange>,
    current: BTreeMap<String, Entry>,
}

#[derive(Debug, Clone)]
pub(super) enum NameChange {
    Set {
        name: String,
        entry: Entry,
    },
    Remove {
        name: String,
    },
    /// Both at once.
    Rename {
        from: String,
        to: String,
        entry: Entry,
    },
}

impl NameChange {
    pub(super) fn names(&self) -> Vec<&str> {
        match self {
            Self::Set { name, .. } | Self::Remove { name } => vec![name],
            Self::Rename { from, to, .. } => vec![from, to],
        }
    }

    pub(super) fn apply(&self, entries: &mut BTreeMap<String, Entry>) {
        match self {
            Self::Set { name, entry } => {
                entries.insert(name.clone(), *entry);
            }
            Self::Remove { name } => {
                entries.remove(name);
            }
            Self::Rename { from, to, entry } => {
                entries.remove(from);
                entries.insert(to.clone(), *entry);
            }
        }
    }
}

impl Change {
    pub(super) fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Self::Write { at, bytes } => {
                let (start, end) = (*at as usize, *at as usize + bytes.len());
                content.resize(content.len().max(end), 0);
                content[start..end].copy_from_slice(bytes);
            }
            Self::Cut { length } => content.resize(*length as usize, 0),
        }
    }
}

impl DirModel {
    fn change(&mut self, change: NameChange) {
        change.apply(&mut self.current);
        self.pending.push(change);
    }
}

fn split(path: &Utf8Path) -> (&Utf8Path, &str) {
    let name = path.file_name().expect("the base itself is never made or removed");
    (path.parent().expect("what has a name is somewhere"), name)
}

impl Disk {
    /// What is in the directory `base`, all on the medium.
    pub(super) fn read(base: &Utf8Path) -> std::io::Result<Self> {
        let mut disk = Self::default();
        disk.read_dir(base, Utf8Path::new(""))?;
        Ok(disk)
    }

    fn read_dir(&mut self, base: &Utf8Path, path: &Utf8Path) -> std::io::Result<()> {
        let mut entries = BTreeMap::new();
        for found in base.join(path).read_dir_utf8()? {
            let found = found?;
            let (name, below) = (found.file_name().to_owned(), path.join(found.file_name()));
            if found.file_type()?.is_dir() {
                self.read_dir(base, &below)?;
                entries.insert(name, Entry::Dir);
            } else {
                let stat = found.metadata()?;
                let id = FileId { device: stat.dev(), inode: stat.ino() };
                let content = fs_err::read(found.path())?;
                let file = *self.by_id.entry(id).or_insert_with(|| {
                    let length = content.len() as u64;
                    self.files.push(FileModel {
                        durable: Arc::new(content),
                        length,
                        ..FileModel::default()
                    });
                    self.files.len() - 1
                });
                entries.insert(name, Entry::File(file));
            }
        }
        let current = entries.clone();
        self.dirs
            .insert(path.to_owned(), DirModel { durable: entries, current, ..DirModel::default() });
        Ok(())
    }

    fn dir(&mut self, path: &Utf8Path) -> &mut DirModel {
        self.dirs.get_mut(path).expect("every directory was made here")
    }

    fn file(&mut self, id: FileId) -> &mut FileModel {
        let file = *self.by_id.get(&id).expect("every file was made here");
        &mut self.files[file]
    }

    /// What is at `path`, which exists.
    pub(super) fn entry(&mut self, path: &Utf8Path) -> Entry {
        let (dir, name) = split(path);
        *self.dir(dir).current.get(name).expect("the system found it")
    }

    pub(super) fn set(&mut self, path: &Utf8Path, entry: Entry) {
        let (dir, name) = split(path);
        self.dir(dir).change(NameChange::Set { name: name.to_owned(), entry });
        if entry == Entry::Dir {
            self.dirs.insert(path.to_owned(), DirModel::default());
        }
    }

    pub(super) fn remove(&mut self, path: &Utf8Path) {
        let (dir, name) = split(path);
        self.dir(dir).change(NameChange::Remove { name: name.to_owned() });
    }

    /// A file that was made, or opened where it was: `false`.
    pub(super) fn create(&mut self, path: &Utf8Path, id: FileId) -> bool {
        let (dir, name) = split(path);
        let known = self.by_id.get(&id).copied().map(Entry::File);
        if known.is_some() && self.dir(dir).current.get(name).copied() == known {
            return false;
        }
        // An inode that was in use before may be so again.
        self.by_id.insert(id, self.files.len());
        self.files.push(FileModel::default());
        self.set(path, Entry::File(self.files.len() - 1));
        true
    }

    pub(super) fn rename(&mut self, path: &Utf8Path, to: &Utf8Path) {
        let entry = self.entry(path);
        let ((dir, from), (to_dir, to_name)) = (split(path), split(to));
        if self.dir(to_dir).current.get(to_name) == Some(&entry) {
            // Two names of one file stay as they are.
            return;
        }
        let (from, to_name) = (from.to_owned(), to_name.to_owned());
        if dir == to_dir {
            self.dir(dir).change(NameChange::Rename { from, to: to_name, entry });
        } else {
            self.dir(dir).change(NameChange::Remove { name: from });
            self.dir(to_dir).change(NameChange::Set { name: to_name, entry });
        }
    }

    pub(super) fn write(&mut self, id: FileId, position: Option<u64>, bytes: &[u8]) {
        let file = self.file(id);
        let at = position.unwrap_or(file.length);
        file.length = file.length.max(at + bytes.len() as u64);
        file.pending.push(Change::Write { at, bytes: bytes.into() });
    }

    pub(super) fn cut(&mut self, id: FileId, length: u64) {
        let file = self.file(id);
        file.length = length;
        file.pending.push(Change::Cut { length });
    }

    /// `false` where nothing was waiting for it.
    pub(super) fn sync_file(&mut self, id: FileId) -> bool {
        let file = self.file(id);
        let changed = !file.pending.is_empty();
        for change in std::mem::take(&mut file.pending) {
            change.apply(Arc::make_mut(&mut file.durable));
        }
        changed
    }

    /// `false` where nothing was waiting for it.
    pub(super) fn sync_dir(&mut self, path: &Utf8Path) -> bool {
        let dir = self.dir(path);
        let changed = !dir.pending.is_empty();
        for change in std::mem::take(&mut dir.pending) {
            change.apply(&mut dir.durable);
        }
        changed
    }
}
