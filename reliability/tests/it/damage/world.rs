//! A store with something of every kind in it, and flips in its files.

use std::os::unix::fs::{FileExt, PermissionsExt};
use std::sync::Arc;
use std::time::Duration;

use artifact_store::{LocalStore, StoreGuard, StoreOptions};
use artifacts::{
    CaptureMeta, CollectError, CollectOptions, CollectReport, Durability, Manifest, ManifestStream,
    OpenError, Publication,
};
use camino::{Utf8Path, Utf8PathBuf};
use output_contract::{ArtifactUri, CallId, Digest, OutputDeclaration, SessionId, Timestamp};
use reliability::Random;
use tempfile::TempDir;

/// A store that keeps a small blob, a large one with a sidecar, and a manifest
/// of two streams; and that had another blob once.
pub(super) struct World {
    dir: TempDir,
    pub(super) small: Digest,
    pub(super) large: Digest,
    pub(super) manifest: Digest,
    pub(super) gone: Digest,
}

pub(super) const SMALL: usize = 300;
pub(super) const LARGE: usize = 300_000;

/// Lines of text, so many bytes in all.
pub(super) fn text(bytes: usize) -> Vec<u8> {
    let lines = (0..).flat_map(|n: u64| format!("line {n} of {bytes}\n").into_bytes());
    lines.take(bytes).collect()
}

impl World {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = open(&root(&dir)).unwrap();
        let keep = |guard: StoreGuard, id: &str| {
            guard.retain(&owner(), &call(id)).unwrap();
            guard.digests()[0]
        };
        let small = keep(publish(&store, &[&text(SMALL)], false), "small");
        let manifest = keep(publish(&store, &[&text(LARGE), b"tiny\n"], true), "named");
        let large = artifacts::hash::digest_of(&text(LARGE));
        let gone = keep(publish(&store, &[b"gone\n"], false), "gone");
        store.release(&owner(), Some(&call("gone"))).unwrap();
        collect(&store).unwrap();
        Self { dir, small, large, manifest, gone }
    }

    pub(super) fn root(&self) -> Utf8PathBuf {
        root(&self.dir)
    }

    pub(super) fn open(&self) -> LocalStore {
        open(&self.root()).unwrap()
    }

    /// Where a blob, manifest or sidecar is.
    pub(super) fn path(&self, shelf: &str, digest: &Digest) -> Utf8PathBuf {
        let hex = digest.to_string();
        self.root().join(shelf).join("sha256").join(&hex[..2]).join(hex)
    }

    /// The only file in a directory of the store.
    pub(super) fn only(&self, dir: &str) -> Utf8PathBuf {
        let entries = self.root().join(dir).read_dir_utf8().unwrap();
        let paths: Vec<_> = entries.map(|entry| entry.unwrap().path().to_owned()).collect();
        assert_eq!(paths.len(), 1, "{paths:?}");
        paths.into_iter().next().unwrap()
    }

    /// The names of all blobs, manifests and sidecars.
    pub(super) fn shelved(&self) -> Vec<String> {
        let mut names = Vec::new();
        for shelf in ["blobs", "manifests", "index"] {
            for dir in self.root().join(shelf).join("sha256").read_dir_utf8().unwrap() {
                let files = dir.unwrap().path().read_dir_utf8().unwrap();
                names.extend(files.map(|file| file.unwrap().path().to_string()));
            }
        }
        names.sort();
        names
    }

    /// Reads everything, whole and in pages. What is served is what was
    /// stored; what is not is in the answer, by what it is.
    pub(super) fn refused(&self, store: &LocalStore) -> Vec<&'static str> {
        let stream = |name: &str| ArtifactUri::stream(self.manifest, name.parse().unwrap());
        let mut refused = Vec::new();
        for (name, uri, expected) in [
            ("small", ArtifactUri::bare(self.small), text(SMALL)),
            ("large", ArtifactUri::bare(self.large), text(LARGE)),
            ("out0", stream("out0"), text(LARGE)),
            ("out1", stream("out1"), b"tiny\n".to_vec()),
        ] {
            if serves(store, &uri, &expected).is_err() {
                refused.push(name);
            }
        }
        let manifest = store.open_artifact(&ArtifactUri::bare(self.manifest));
        match manifest.map(|artifact| artifact.read(0..artifact.bytes()).unwrap()) {
            Ok(bytes) => assert_eq!(Manifest::decode(&bytes).unwrap().digest(), self.manifest),
            Err(_) => refused.push("manifest"),
        }
        let gone = store.open_artifact(&ArtifactUri::bare(self.gone)).unwrap_err();
        assert!(matches!(gone, OpenError::Expired { .. } | OpenError::Unknown { .. }), "{gone}");
        refused
    }
}

/// Reads an artifact from beginning to end, and a line in its middle.
fn serves(store: &LocalStore, uri: &ArtifactUri, expected: &[u8]) -> Result<(), String> {
    let artifact = store.open_artifact(uri).map_err(|error| error.to_string())?;
    assert_eq!(artifact.bytes(), expected.len() as u64, "{uri}");
    let lines = expected.split_inclusive(|&byte| byte == b'\n');
    assert_eq!(artifact.lines(), lines.clone().count() as u64, "{uri}");
    let middle = artifact.lines() / 2;
    let before: usize = lines.take(middle as usize).map(<[u8]>::len).sum();
    let start = artifact.line_start(middle).map_err(|error| error.to_string())?;
    assert_eq!(start, before as u64, "{uri}");
    let bytes = artifact.read(0..artifact.bytes()).map_err(|error| error.to_string())?;
    assert!(bytes == expected, "{uri} serves other bytes");
    Ok(())
}

fn root(dir: &TempDir) -> Utf8PathBuf {
    Utf8Path::from_path(dir.path()).unwrap().join("store")
}

pub(super) fn open(root: &Utf8Path) -> Result<LocalStore, artifact_store::StoreError> {
    // The test machine's temporary directory may be any kind of file system.
    let options = StoreOptions {
        durability: Durability::Fast,
        allow_network_fs: true,
        ..StoreOptions::default()
    };
    LocalStore::open(root, options)
}

pub(super) fn owner() -> SessionId {
    "s".parse().unwrap()
}

pub(super) fn call(id: &str) -> CallId {
    id.parse().unwrap()
}

pub(super) fn meta() -> CaptureMeta {
    CaptureMeta {
        session_id: owner(),
        call_id: call("captured"),
        parent_call_id: None,
        tool: "tool".parse().unwrap(),
        title: "a title".to_owned(),
        output: OutputDeclaration::Single,
        started_at: Timestamp(1_700_000_000_000),
        timeout_ms: Some(1000),
    }
}

/// Publishes one output, or the streams of a named one.
pub(super) fn publish(store: &LocalStore, contents: &[&[u8]], named: bool) -> StoreGuard {
    let capture = store.captures().create(&meta()).unwrap();
    let blobs = contents.iter().enumerate().map(|(index, content)| {
        let mut writer = capture.stream_writer(index).unwrap();
        writer.append(content).unwrap();
        Arc::new(writer.seal().unwrap())
    });
    let blobs: Vec<_> = blobs.collect();
    let streams = blobs.iter().enumerate().map(|(index, blob)| ManifestStream {
        name: format!("out{index}").parse().unwrap(),
        sha256: blob.digest(),
        bytes: blob.bytes(),
        lines: blob.lines(),
    });
    let manifest = named.then(|| Manifest::new(streams.collect()).unwrap());
    let guard = store.publish(&Publication { blobs, manifest }).unwrap();
    capture.remove().unwrap();
    guard
}

/// A collection that waits for no age.
pub(super) fn collect(store: &LocalStore) -> Result<CollectReport, CollectError> {
    store.collect(&CollectOptions { grace: Duration::ZERO, dry_run: false, force: false })
}

/// A file whose bits are flipped, one at a time.
pub(super) struct Target {
    path: Utf8PathBuf,
    pub(super) good: Vec<u8>,
    mode: u32,
}

impl Target {
    pub(super) fn new(path: Utf8PathBuf) -> Self {
        let mode = fs_err::metadata(&path).unwrap().permissions().mode();
        Self { good: fs_err::read(&path).unwrap(), path, mode }
    }

    /// Every bit.
    pub(super) fn all_bits(&self) -> Vec<(usize, u32)> {
        (0..self.good.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))).collect()
    }

    /// One bit of every byte; `turn` says which.
    pub(super) fn all_bytes(&self, turn: u32) -> Vec<(usize, u32)> {
        (0..self.good.len()).map(|at| (at, (at as u32 * 3 + turn) % 8)).collect()
    }

    /// One bit of so many bytes, and of those where a block begins or ends.
    pub(super) fn some_bytes(&self, count: usize) -> Vec<(usize, u32)> {
        let mut random = Random::new(2);
        let edges = (0..=self.good.len() / 65_536).flat_map(|n| {
            let edge = n * 65_536;
            [edge.saturating_sub(1), edge, edge + 1]
        });
        let mut positions: Vec<usize> = edges.chain([self.good.len() - 1]).collect();
        positions.extend((0..count).map(|_| random.below(self.good.len() as u64) as usize));
        positions.retain(|at| *at < self.good.len());
        positions.into_iter().map(|at| (at, random.below(8) as u32)).collect()
    }

    /// Flips each of `bits` in turn, looks at what comes of it, and puts the
    /// file back. Says how many there were.
    pub(super) fn each(&self, bits: &[(usize, u32)], mut look: impl FnMut(&str)) {
        for &(at, bit) in bits {
            self.write(at, self.good[at] ^ 1 << bit);
            look(&format!("bit {bit} of byte {at} of {}", self.path));
            match fs_err::metadata(&self.path) {
                // Whatever became of it.
                Ok(now) if now.len() == self.good.len() as u64 => self.write(at, self.good[at]),
                _ => {}
            }
            if fs_err::read(&self.path).ok().as_ref() != Some(&self.good) {
                let _ = fs_err::remove_file(&self.path);
                fs_err::write(&self.path, &self.good).unwrap();
                self.set_mode(self.mode);
            }
        }
        println!("{:>6} flips in {}", bits.len(), self.path.parent().unwrap());
    }

    fn write(&self, at: usize, byte: u8) {
        self.set_mode(0o600);
        let file = fs_err::OpenOptions::new().write(true).open(&self.path).unwrap();
        file.file().write_all_at(&[byte], at as u64).unwrap();
        self.set_mode(self.mode);
    }

    fn set_mode(&self, mode: u32) {
        fs_err::set_permissions(&self.path, PermissionsExt::from_mode(mode)).unwrap();
    }
}
