//! Reading: only what was verified, and cheaply.

use std::os::unix::fs::PermissionsExt;
use std::sync::LazyLock;

use artifact_store::{LocalStore, StoredArtifact};
use artifacts::hash::digest_of;
use artifacts::{OpenError, PageRequest, ReadError};
use camino::Utf8PathBuf;
use output_contract::{ArtifactUri, Digest};
use proptest::prelude::*;

use crate::scratch::{Scratch, long_content, publish};

/// A store with one large artifact, which tests damage in their own copies.
struct Damaged {
    scratch: Scratch,
    store: LocalStore,
    digest: Digest,
}

/// A way to damage a file.
type Damage = &'static dyn Fn(&mut Vec<u8>);

static CONTENT: LazyLock<Vec<u8>> = LazyLock::new(|| long_content(7));

impl Damaged {
    fn new() -> Self {
        let scratch = Scratch::new();
        let store = scratch.open();
        let digest = publish(&store, &[&CONTENT]).digests()[0];
        Self { scratch, store, digest }
    }

    fn path(&self, shelf: &str) -> Utf8PathBuf {
        self.scratch.path(shelf, &self.digest)
    }

    fn change(&self, shelf: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let path = self.path(shelf);
        let mut bytes = fs_err::read(&path).unwrap();
        change(&mut bytes);
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        fs_err::write(&path, bytes).unwrap();
    }

    fn open(&self) -> Result<StoredArtifact, OpenError> {
        self.store.open_artifact(&ArtifactUri::bare(self.digest))
    }
}

fn range_of<T: std::fmt::Debug>(result: Result<T, ReadError>) -> std::ops::Range<u64> {
    match result {
        Err(ReadError::Corrupt { range, .. }) => range,
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_changed_byte_is_never_served_and_the_rest_is() {
    for at in [0, 70_000, 131_071, CONTENT.len() - 1] {
        let damaged = Damaged::new();
        damaged.change("blobs", |bytes| bytes[at] ^= 0x20);
        let artifact = damaged.open().unwrap();
        let block = at as u64 / 65_536 * 65_536
            ..(at as u64 / 65_536 * 65_536 + 65_536).min(artifact.bytes());
        assert_eq!(range_of(artifact.read(0..artifact.bytes())), block, "{at}");
        assert_eq!(range_of(artifact.read(block.start..block.start + 1)), block);
        for (index, expected) in CONTENT.chunks(65_536).enumerate() {
            let start = index as u64 * 65_536;
            if start != block.start {
                assert_eq!(artifact.read(start..start + expected.len() as u64).unwrap(), expected);
            }
        }
        let request = PageRequest { offset: 0, limit: Some(1), byte_offset: 0, page_bytes: 100 };
        assert_eq!(artifact.page(&request).is_ok(), block.start > 0);
    }
}

#[test]
fn small_artifacts_are_checked_whole() {
    let scratch = Scratch::new();
    let store = scratch.open();
    for (content, planted) in [
        (b"good\n".as_slice(), b"evil\n".as_slice()),
        (b"12345", b""),
        (b"", b"x"),
        (b"ab", b"abc"),
    ] {
        let digest = publish(&store, &[content]).digests()[0];
        let path = scratch.path("blobs", &digest);
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        fs_err::write(&path, planted).unwrap();
        match store.open_artifact(&ArtifactUri::bare(digest)) {
            Err(OpenError::Corrupt { digest: named, range }) => {
                assert_eq!((named, range), (digest, 0..planted.len() as u64));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_is_no_file_is_corrupt() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let digest = publish(&store, &[b"x"]).digests()[0];
    let path = scratch.path("blobs", &digest);
    fs_err::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
    let opened = store.open_artifact(&ArtifactUri::bare(digest));
    assert!(matches!(opened, Err(OpenError::Corrupt { .. })), "{opened:?}");
}

#[test]
fn a_bad_sidecar_costs_one_hash_and_is_made_anew() {
    let good = fs_err::read(Damaged::new().path("index")).unwrap();
    let damages: [(&str, Damage); 8] = [
        ("empty", &|b| b.clear()),
        ("short", &|b| b.truncate(b.len() - 1)),
        ("another magic", &|b| b[0] ^= 1),
        ("another artifact", &|b| b[40] ^= 1),
        ("another total", &|b| b[24] ^= 1),
        ("another end", &|b| b[12] ^= 1),
        ("another chaining value", &|b| b[80 + 40 + 9] ^= 1),
        ("another count", &|b| b[80 + 2 * 40] ^= 1),
    ];
    for (name, damage) in damages {
        let damaged = Damaged::new();
        damaged.change("index", damage);
        let artifact = damaged.open().unwrap();
        assert_eq!(artifact.read(0..artifact.bytes()).unwrap(), *CONTENT, "{name}");
        assert_eq!(artifact.lines(), 1200, "{name}");
        assert_eq!(fs_err::read(damaged.path("index")).unwrap(), good, "{name}");
    }
    let damaged = Damaged::new();
    fs_err::remove_file(damaged.path("index")).unwrap();
    damaged.open().unwrap();
    assert_eq!(fs_err::read(damaged.path("index")).unwrap(), good);
    assert_eq!(damaged.scratch.names_in("trash"), [""; 0]);
}

#[test]
fn readers_of_a_bad_sidecar_do_not_disturb_one_another() {
    const READERS: usize = 8;
    let damaged = Damaged::new();
    damaged.change("index", |bytes| bytes[80 + 40 + 9] ^= 1);
    let artifact = damaged.open().unwrap();
    let together = std::sync::Barrier::new(READERS);
    std::thread::scope(|scope| {
        for _ in 0..READERS {
            scope.spawn(|| {
                together.wait();
                assert_eq!(artifact.read(0..artifact.bytes()).unwrap(), *CONTENT);
            });
        }
    });
}

#[test]
fn no_sidecar_and_damage_is_corrupt_as_a_whole() {
    let damaged = Damaged::new();
    fs_err::remove_file(damaged.path("index")).unwrap();
    damaged.change("blobs", |bytes| bytes[9] ^= 1);
    match damaged.open() {
        Err(OpenError::Corrupt { range, .. }) => assert_eq!(range, 0..CONTENT.len() as u64),
        other => panic!("{other:?}"),
    }
    assert!(!damaged.path("index").exists());
}

#[test]
fn damage_after_opening_is_found() {
    let damaged = Damaged::new();
    let artifact = damaged.open().unwrap();
    damaged.change("blobs", |bytes| bytes.truncate(100_000));
    assert_eq!(range_of(artifact.read(0..100_001)), 65_536..131_072);
    assert_eq!(artifact.read(0..65_536).unwrap(), CONTENT[..65_536]);
}

#[test]
fn a_page_at_any_offset_reads_the_page() {
    let damaged = Damaged::new();
    // All blocks but two are damaged: a page that needed another would fail.
    damaged.change("blobs", |bytes| {
        let last = (bytes.len() - 1) / 65_536;
        for block in (0..last).filter(|block| *block != 2) {
            bytes[block * 65_536] ^= 0xff;
        }
    });
    let artifact = damaged.open().unwrap();
    let newlines = |end: usize| CONTENT[..end].iter().filter(|b| **b == b'\n').count() as u64;
    let line = newlines(2 * 65_536) + 2;
    let request = PageRequest { offset: line, limit: Some(3), byte_offset: 0, page_bytes: 100 };
    let page = artifact.page(&request).unwrap();
    let expected: Vec<&[u8]> =
        CONTENT.split_inclusive(|b| *b == b'\n').skip(line as usize).take(3).collect();
    assert_eq!(page.bytes, expected.concat());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_flipped_bit_anywhere_is_found_or_made_no_difference(
        shelf in prop_oneof![Just("blobs"), Just("index")],
        at in any::<prop::sample::Index>(),
        bit in 0u32..8,
        line in 0u64..1300,
        offset in any::<prop::sample::Index>(),
    ) {
        let damaged = Damaged::new();
        damaged.change(shelf, |bytes| { let at = at.index(bytes.len()); bytes[at] ^= 1 << bit; });
        let Ok(artifact) = damaged.open() else {
            prop_assert_eq!(shelf, "blobs");
            return Ok(());
        };
        prop_assert_eq!((artifact.bytes(), artifact.lines()), (CONTENT.len() as u64, 1200));
        match artifact.line_start(line) {
            Ok(start) => {
                let before = CONTENT.split_inclusive(|b| *b == b'\n').take(line as usize);
                prop_assert_eq!(start, before.map(<[u8]>::len).sum::<usize>() as u64);
            }
            Err(_) => prop_assert_eq!(shelf, "blobs"),
        }
        let start = offset.index(CONTENT.len());
        let end = (start + 70_000).min(CONTENT.len());
        match artifact.read(start as u64..end as u64) {
            Ok(bytes) => prop_assert_eq!(bytes, &CONTENT[start..end]),
            Err(_) => prop_assert_eq!(shelf, "blobs"),
        }
        if shelf == "blobs" {
            prop_assert!(artifact.read(0..artifact.bytes()).is_err());
        }
    }
}

#[test]
fn identical_bytes_in_both_name_spaces_do_not_mix() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let manifest = crate::scratch::publish_named(&store, b"out\n").digests()[0];
    let json = fs_err::read(scratch.path("manifests", &manifest)).unwrap();
    let forged = String::from_utf8(json.clone()).unwrap().replace("out", "err").into_bytes();
    publish(&store, &[&json, &forged]);
    let uri = |digest, stream: &str| ArtifactUri::stream(digest, stream.parse().unwrap());
    assert!(store.open_artifact(&uri(manifest, "out")).is_ok());
    // Output that looks like a manifest is output.
    let opened = store.open_artifact(&uri(digest_of(&forged), "err"));
    assert!(matches!(opened, Err(OpenError::NotNamed { .. })), "{opened:?}");
}
