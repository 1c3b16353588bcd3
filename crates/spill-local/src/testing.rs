//! What the tests of several modules need.

use std::os::unix::fs::PermissionsExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use std::fs::Permissions;

/// A directory that is removed with its content.
#[derive(Debug)]
pub(crate) struct Scratch {
    _dir: tempfile::TempDir,
    path: Utf8PathBuf,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::try_from(dir.path().to_owned()).unwrap();
        Self { _dir: dir, path }
    }

    pub(crate) fn path(&self) -> &Utf8Path {
        &self.path
    }

    pub(crate) fn join(&self, name: &str) -> Utf8PathBuf {
        self.path.join(name)
    }
}

pub(crate) fn set_mode(path: &Utf8Path, mode: u32) {
    fs_err::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}
