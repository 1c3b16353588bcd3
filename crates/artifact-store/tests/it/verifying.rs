//! Checking everything that is stored.

use std::num::NonZero;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicU64, Ordering};

use artifact_store::{LocalStore, VerifyReport};
use artifacts::OpenError;
use camino::Utf8Path;
use output_contract::ArtifactUri;

use crate::scratch::{Scratch, call, collect, long_content, owner, publish, publish_named};

fn verify(store: &LocalStore) -> VerifyReport {
    let read = AtomicU64::new(0);
    let report = store
        .verify(NonZero::new(3).unwrap(), &|progress| {
            read.fetch_add(progress.read, Ordering::Relaxed);
            assert!(read.load(Ordering::Relaxed) <= progress.total);
        })
        .unwrap();
    assert_eq!(read.load(Ordering::Relaxed), report.bytes);
    report
}

/// Changes one byte of a file in place: the file stays the same one.
fn flip(path: &Utf8Path, at: usize) {
    let mode = fs_err::metadata(path).unwrap().permissions();
    fs_err::set_permissions(path, PermissionsExt::from_mode(0o600)).unwrap();
    let mut bytes = fs_err::read(path).unwrap();
    bytes[at] ^= 1;
    fs_err::write(path, bytes).unwrap();
    fs_err::set_permissions(path, mode).unwrap();
}

/// Content of more blocks than are checked in one go.
fn huge_content() -> Vec<u8> {
    long_content(3).into_iter().cycle().take(17 * 1024 * 1024 + 5).collect()
}

#[test]
fn what_is_whole_is_left_alone() {
    let scratch = Scratch::new();
    let store = scratch.open();
    assert_eq!(verify(&store).artifacts, 0);
    let _guards = [publish(&store, &[b"", b"small", &huge_content()]), publish_named(&store, b"x")];
    let report = verify(&store);
    assert_eq!((report.artifacts, report.repaired), (5, 0));
    assert!(report.corrupt.is_empty() && report.unreadable.is_empty(), "{report:?}");
}

#[test]
fn sidecars_are_made_anew_whatever_their_damage() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let guard = publish(&store, &[&huge_content()]);
    let path = scratch.path("index", &guard.digests()[0]);
    let good = fs_err::read(&path).unwrap();
    // Header, an entry, its own digest.
    for at in [9, 200, good.len() - 1] {
        flip(&path, at);
        let report = verify(&store);
        assert_eq!((report.repaired, report.corrupt.len()), (1, 0), "{at}");
        assert_eq!(fs_err::read(&path).unwrap(), good, "{at}");
    }
    fs_err::remove_file(&path).unwrap();
    assert_eq!(verify(&store).repaired, 1);
    assert_eq!(fs_err::read(&path).unwrap(), good);
}

#[test]
fn what_is_damaged_is_put_aside_and_comes_back_whole() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let huge = huge_content();
    for (content, at) in [(b"small\n".as_slice(), 3), (&huge, huge.len() - 1), (&huge, 70_000)] {
        let guard = publish(&store, &[content]);
        let digest = guard.digests()[0];
        guard.retain(&owner("s"), &call("c")).unwrap();
        flip(&scratch.path("blobs", &digest), at);
        let report = verify(&store);
        let [corrupt] = &*report.corrupt else { panic!("{report:?}") };
        assert_eq!((corrupt.digest, corrupt.bytes), (digest, content.len() as u64));
        assert_eq!(corrupt.calls, [(owner("s"), call("c"))]);
        let aside = fs_err::read(corrupt.quarantined.as_ref().unwrap()).unwrap();
        assert_eq!(aside.len(), content.len());
        assert!(!scratch.path("blobs", &digest).exists());
        let opened = store.open_artifact(&ArtifactUri::bare(digest));
        assert!(matches!(opened, Err(OpenError::Corrupt { .. })), "{opened:?}");
        let report = verify(&store);
        assert_eq!(report.corrupt, []);
        let missing = &*report.missing;
        assert!(matches!(missing, [missing] if missing.digest == digest), "{missing:?}");
        assert_eq!(missing[0].calls, [(owner("s"), call("c"))]);
        drop(guard);
        collect(&store);

        let _guard = publish(&store, &[content]);
        let healed = store.open_artifact(&ArtifactUri::bare(digest)).unwrap();
        assert_eq!(healed.read(0..healed.bytes()).unwrap(), content);
        let report = verify(&store);
        assert!(report.corrupt.is_empty() && report.missing.is_empty(), "{report:?}");
    }
    assert_eq!(store.stat().unwrap().quarantined, 3);
}

#[test]
fn a_damaged_manifest_stops_collections_no_more() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let guard = publish_named(&store, b"kept\n");
    let [manifest, blob] = *guard.digests() else { panic!() };
    guard.retain(&owner("s"), &call("c")).unwrap();
    drop(guard);
    flip(&scratch.path("manifests", &manifest), 20);
    let report = verify(&store);
    let [corrupt] = &*report.corrupt else { panic!("{report:?}") };
    assert!(corrupt.is_manifest && corrupt.digest == manifest, "{corrupt:?}");
    // The stream has a root of its own.
    assert_eq!(collect(&store).live, 1);
    assert_eq!(store.open_artifact(&ArtifactUri::bare(blob)).unwrap().bytes(), 5);
}

#[test]
fn blob_and_sidecar_that_agree_are_no_proof() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let content = long_content(5);
    let guard = publish(&store, &[&content]);
    let digest = guard.digests()[0];
    flip(&scratch.path("blobs", &digest), 10);
    // Whoever did that gave the sidecar the right values up to the last block.
    let mut hasher = artifacts::hash::ContentHasher::new();
    hasher.update(&fs_err::read(scratch.path("blobs", &digest)).unwrap());
    let mut forged = artifacts::sidecar::Sidecar::of(hasher.finish()).unwrap().encode();
    forged[40..72].copy_from_slice(digest.as_bytes());
    let end = forged.len() - 32;
    forged[end - 32..end].copy_from_slice(digest.as_bytes());
    let own = artifacts::hash::digest_of(&forged[..end]);
    forged[end..].copy_from_slice(own.as_bytes());
    let path = scratch.path("index", &digest);
    fs_err::remove_file(&path).unwrap();
    fs_err::write(&path, forged).unwrap();
    // A page of the front does not see it.
    let stored = store.open_artifact(&ArtifactUri::bare(digest)).and_then(|a| Ok(a.read(0..20)?));
    assert!(stored.is_ok(), "{stored:?}");
    assert_eq!(verify(&store).corrupt.len(), 1);
}
