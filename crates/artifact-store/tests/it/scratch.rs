//! Stores in temporary directories, and what is put in them.

use std::sync::Arc;
use std::time::Duration;

use artifact_store::{LocalStore, StoreGuard, StoreOptions};
use artifacts::{
    Capture, CaptureMeta, CollectOptions, CollectReport, Durability, Manifest, ManifestStream,
    Publication,
};
use camino::{Utf8Path, Utf8PathBuf};
use output_contract::{CallId, Digest, OutputDeclaration, SessionId, Timestamp};
use tempfile::TempDir;

/// A temporary directory, in memory where there is one: for stores that are
/// made by the hundred.
pub(crate) fn memory_dir() -> TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

/// A temporary directory for one store.
pub(crate) struct Scratch {
    dir: TempDir,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    /// In memory where that is possible.
    pub(crate) fn in_memory() -> Self {
        Self { dir: memory_dir() }
    }

    /// The store's root.
    pub(crate) fn root(&self) -> Utf8PathBuf {
        Utf8Path::from_path(self.dir.path()).unwrap().join("store")
    }

    /// Opens the store; fast, since power stays on.
    pub(crate) fn open(&self) -> LocalStore {
        self.open_with(Durability::Fast)
    }

    pub(crate) fn open_with(&self, durability: Durability) -> LocalStore {
        open_at(&self.root(), durability)
    }

    /// Where a blob, manifest or sidecar is.
    pub(crate) fn path(&self, shelf: &str, digest: &Digest) -> Utf8PathBuf {
        let hex = digest.to_string();
        self.root().join(shelf).join("sha256").join(&hex[..2]).join(hex)
    }

    /// The digests on a shelf.
    pub(crate) fn on_shelf(&self, shelf: &str) -> Vec<String> {
        let base = self.root().join(shelf).join("sha256");
        let mut names: Vec<String> = (fs_err::read_dir(base).unwrap())
            .flat_map(|dir| fs_err::read_dir(dir.unwrap().path()).unwrap())
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// The names in a directory of the store.
    pub(crate) fn names_in(&self, dir: &str) -> Vec<String> {
        let entries = fs_err::read_dir(self.root().join(dir)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

pub(crate) fn open_at(root: &Utf8Path, durability: Durability) -> LocalStore {
    // The test machine's temporary directory may be any kind of file system.
    let options = StoreOptions { durability, allow_network_fs: true, ..StoreOptions::default() };
    LocalStore::open(root, options).unwrap()
}

pub(crate) fn owner(id: &str) -> SessionId {
    id.parse().unwrap()
}

pub(crate) fn call(id: &str) -> CallId {
    id.parse().unwrap()
}

pub(crate) fn meta(streams: &[&str]) -> CaptureMeta {
    let output = match streams {
        [] => OutputDeclaration::Single,
        names => OutputDeclaration::named(names).unwrap(),
    };
    CaptureMeta {
        session_id: owner("session"),
        call_id: call("call"),
        parent_call_id: None,
        tool: "tool".parse().unwrap(),
        title: String::new(),
        output,
        started_at: Timestamp::default(),
        timeout_ms: None,
    }
}

/// Seals `contents` in a new capture.
pub(crate) fn seal(store: &LocalStore, contents: &[&[u8]]) -> (Capture, Publication) {
    let capture = store.captures().create(&meta(&[])).unwrap();
    let blobs = contents.iter().enumerate().map(|(index, content)| {
        let mut writer = capture.stream_writer(index).unwrap();
        writer.append(content).unwrap();
        Arc::new(writer.seal().unwrap())
    });
    let blobs = blobs.collect();
    (capture, Publication { blobs, manifest: None })
}

/// Publishes `contents`, the capture removed.
pub(crate) fn publish(store: &LocalStore, contents: &[&[u8]]) -> StoreGuard {
    let (capture, publication) = seal(store, contents);
    let guard = store.publish(&publication).unwrap();
    capture.remove().unwrap();
    guard
}

/// Publishes `content` as the stream `out` of a manifest.
pub(crate) fn publish_named(store: &LocalStore, content: &[u8]) -> StoreGuard {
    let (capture, mut publication) = seal(store, &[content]);
    let blob = &publication.blobs[0];
    let stream = ManifestStream {
        name: "out".parse().unwrap(),
        sha256: blob.digest(),
        bytes: blob.bytes(),
        lines: blob.lines(),
    };
    publication.manifest = Some(Manifest::new(vec![stream]).unwrap());
    let guard = store.publish(&publication).unwrap();
    capture.remove().unwrap();
    guard
}

/// A collection that waits for no age.
pub(crate) fn collect(store: &LocalStore) -> CollectReport {
    store.collect(&CollectOptions { grace: Duration::ZERO, dry_run: false, force: false }).unwrap()
}

/// Content of several blocks, with lines of many lengths.
pub(crate) fn long_content(seed: u64) -> Vec<u8> {
    let line = |n: u64| format!("{:width$}\n", n * seed, width = (n * 31 % 700) as usize);
    (0..1200).flat_map(|n| line(n).into_bytes()).collect()
}
