//! A store in a directory that is removed again, and what is in it.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use async_trait::async_trait;
use camino::{Utf8Path, Utf8PathBuf};
use spill::conformance::Harness;
use spill::{SaveText, SpillLocator, SpillOwner, SpillSource, SpillStore};
use spill_local::LocalSpill;

#[derive(Debug)]
pub(crate) struct Scratch {
    dir: tempfile::TempDir,
    pub(crate) store: LocalSpill,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(dir.path()).unwrap();
        let store = LocalSpill::new(path.join("deep/root")).unwrap();
        Self { dir, store }
    }

    pub(crate) fn path(&self) -> &Utf8Path {
        Utf8Path::from_path(self.dir.path()).unwrap()
    }

    pub(crate) fn root(&self) -> &Utf8Path {
        self.store.root()
    }

    /// The files below the root, hidden ones too.
    pub(crate) fn files(&self) -> Vec<Utf8PathBuf> {
        files(self.root())
    }
}

/// The files below `directory`, in order; none where it does not exist.
pub(crate) fn files(directory: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut files = Vec::new();
    let Ok(entries) = directory.read_dir_utf8() else { return files };
    for entry in entries {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => files.extend(self::files(entry.path())),
            false => files.push(entry.path().to_owned()),
        }
    }
    files.sort();
    files
}

pub(crate) fn text(session: &str, name: &str, content: impl Into<String>) -> SaveText {
    SaveText {
        owner: SpillOwner { session: session.parse().unwrap() },
        source: SpillSource {
            tool: "fetch".parse().unwrap(),
            call: "call".parse().unwrap(),
            label: "result".to_owned(),
        },
        suggested_name: name.to_owned(),
        content: content.into(),
    }
}

pub(crate) fn mode(path: &Utf8Path) -> u32 {
    fs_err::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

pub(crate) fn set_mode(path: &Utf8Path, mode: u32) {
    fs_err::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[async_trait]
impl Harness for Scratch {
    fn store(&self) -> &dyn SpillStore {
        &self.store
    }

    async fn retrieve(&self, locator: &SpillLocator) -> Option<Vec<u8>> {
        fs_err::read(locator.as_str()).ok()
    }

    async fn kept(&self) -> Vec<Vec<u8>> {
        // One that was listed may be gone, or have its own name by now.
        self.files().iter().filter_map(|file| fs_err::read(file).ok()).collect()
    }

    fn begin_failing(&self) {
        set_mode(self.root(), 0o777);
    }

    fn end_failing(&self) {
        set_mode(self.root(), 0o700);
    }
}
