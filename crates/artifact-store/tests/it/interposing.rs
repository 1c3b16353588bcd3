//! What tests can see and change of the way to the disk.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use artifact_store::{LocalStore, StoreOptions};
use artifacts::fs::{Errno, Fs, Interposer, Operation, OperationKind, Verdict};
use artifacts::{Durability, RootError};
use camino::Utf8Path;
use output_contract::ArtifactUri;

use crate::scratch::{Scratch, call, collect, long_content, owner, publish, publish_named};

/// Notes what is done, and does something about some of it.
#[derive(Debug)]
struct Notes {
    seen: Mutex<Vec<(OperationKind, String)>>,
    verdict: fn(&Operation<'_>) -> Verdict,
}

impl Interposer for Notes {
    fn before(&self, operation: &Operation<'_>) -> Verdict {
        self.seen.lock().unwrap().push((operation.kind, operation.area.to_owned()));
        (self.verdict)(operation)
    }
}

fn open(root: &Utf8Path, verdict: fn(&Operation<'_>) -> Verdict) -> (Arc<Notes>, LocalStore) {
    let notes = Arc::new(Notes { seen: Mutex::default(), verdict });
    let fs = Fs::interposed(root, Arc::clone(&notes) as Arc<dyn Interposer>);
    let options = StoreOptions { allow_network_fs: true, ..StoreOptions::default() };
    (notes, LocalStore::open_on(root, options, &fs).unwrap())
}

#[test]
fn every_operation_says_what_and_where() {
    let scratch = Scratch::new();
    let (notes, store) = open(&scratch.root(), |_| Verdict::Proceed);
    let guard = publish_named(&store, &long_content(1));
    guard.retain(&owner("s"), &call("c")).unwrap();
    guard.release();
    store.release(&owner("s"), None).unwrap();
    assert_eq!(collect(&store).removed, 2);
    let seen: BTreeSet<(OperationKind, String)> = notes.seen.lock().unwrap().drain(..).collect();
    for (kind, area) in [
        (OperationKind::MakeDir, "blobs"),
        (OperationKind::Create, "store.json"),
        (OperationKind::SyncDir, ""),
        (OperationKind::Create, "captures"),
        (OperationKind::Write, "captures"),
        (OperationKind::SyncFile, "captures"),
        (OperationKind::Write, "leases"),
        (OperationKind::Lock, "locks"),
        (OperationKind::Link, "blobs"),
        (OperationKind::Link, "manifests"),
        (OperationKind::Rename, "index"),
        (OperationKind::SyncDir, "blobs"),
        (OperationKind::Write, "owners"),
        (OperationKind::Write, "roots"),
        (OperationKind::SyncFile, "roots"),
        (OperationKind::Unlink, "manifests"),
        (OperationKind::Rename, "trash"),
        (OperationKind::Unlink, "trash"),
        (OperationKind::RemoveDir, "trash"),
        (OperationKind::Write, "expired"),
    ] {
        assert!(seen.contains(&(kind, area.to_owned())), "{kind:?} {area}: {seen:?}");
    }
}

#[test]
fn of_an_empty_blob_the_name_alone_is_synced() {
    let scratch = Scratch::new();
    let (notes, store) = open(&scratch.root(), |_| Verdict::Proceed);
    for (content, files) in [("", 0), ("x", 1), ("", 0), ("x", 2)] {
        let before = notes.seen.lock().unwrap().len();
        publish(&store, &[content.as_bytes()]).release();
        let seen = notes.seen.lock().unwrap()[before..].to_vec();
        let count = |kind| seen.iter().filter(|(of, _)| *of == kind).count();
        assert_eq!(count(OperationKind::SyncFile), files, "{content:?}");
        assert!(count(OperationKind::SyncDir) > 0, "{content:?}");
    }
}

#[test]
fn a_sync_that_failed_is_final() {
    let scratch = Scratch::new();
    let (notes, store) =
        open(&scratch.root(), |operation| match (operation.kind, operation.area) {
            (OperationKind::SyncFile, "roots") => Verdict::Fail(Errno::IO),
            (OperationKind::SyncFile | OperationKind::SyncDir, _) => Verdict::Pretend,
            _ => Verdict::Proceed,
        });
    let guard = publish(&store, &[b"x"]);
    let refused = guard.retain(&owner("s"), &call("c"));
    assert!(matches!(refused, Err(RootError::File(_))), "{refused:?}");
    let sync = (OperationKind::SyncFile, "roots".to_owned());
    let tries = notes.seen.lock().unwrap().iter().filter(|seen| **seen == sync).count();
    assert_eq!(tries, 1);
    assert_eq!(store.retained().unwrap(), []);
}

#[test]
fn a_new_roots_file_has_its_name_synced_even_with_an_old_inode() {
    let scratch = Scratch::new();
    let (notes, store) = open(&scratch.root(), |_| Verdict::Proceed);
    let retain = |id: &str| {
        notes.seen.lock().unwrap().clear();
        publish(&store, &[b"x"]).retain(&owner("s"), &call(id)).unwrap();
        let sync = (OperationKind::SyncDir, "roots".to_owned());
        notes.seen.lock().unwrap().iter().filter(|seen| **seen == sync).count()
    };
    assert_eq!([retain("1"), retain("2")], [1, 0]);
    store.release(&owner("s"), None).unwrap();
    collect(&store);
    assert_eq!(scratch.names_in("roots"), [""; 0]);
    assert_eq!([retain("3"), retain("4")], [1, 0]);
}

#[test]
fn interrupted_calls_and_short_writes_are_completed() {
    let scratch = Scratch::new();
    let (_, store) = open(&scratch.root(), |operation| match operation.kind {
        _ if operation.number % 2 == 0 => Verdict::Fail(Errno::INTR),
        OperationKind::Write => Verdict::Shorten(operation.bytes.len().div_ceil(2)),
        OperationKind::SyncFile | OperationKind::SyncDir => Verdict::Pretend,
        _ => Verdict::Proceed,
    });
    let long = long_content(1);
    let guard = publish_named(&store, &long);
    guard.retain(&owner("s"), &call("c")).unwrap();
    guard.release();
    let store = scratch.open_with(Durability::Durable);
    assert_eq!(collect(&store).live, 2);
    let digest = store.retained().unwrap()[0].digests[1];
    let artifact = store.open_artifact(&ArtifactUri::bare(digest)).unwrap();
    assert_eq!(artifact.read(0..artifact.bytes()).unwrap(), long);
}
