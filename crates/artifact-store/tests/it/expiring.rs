//! What is told of artifacts that were collected.

use artifacts::OpenError;
use output_contract::ArtifactUri;

use crate::scratch::{Scratch, call, collect, owner, publish};

#[test]
fn what_is_gone_says_whose_it_was() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let guard = publish(&store, &[b"kept once\n"]);
    let kept = ArtifactUri::bare(guard.digests()[0]);
    guard.retain(&owner("s"), &call("c")).unwrap();
    drop(guard);
    let never = ArtifactUri::bare(publish(&store, &[b"never kept"]).digests()[0]);
    store.release(&owner("s"), None).unwrap();
    assert_eq!(collect(&store).removed, 2);
    match store.open_artifact(&kept).unwrap_err() {
        OpenError::Expired { digest, bytes: 10, when, what } => {
            assert_eq!((digest, what.as_str()), (kept.digest, "an output of call c of session s"));
            assert!(when.0 > 1_600_000_000_000);
        }
        other => panic!("{other:?}"),
    }
    match scratch.open().borrow(never.digest).unwrap_err() {
        OpenError::Expired { what, .. } => assert_eq!(what, "an output that no call kept"),
        other => panic!("{other:?}"),
    }
    let _guard = publish(&store, &[b"kept once\n"]);
    assert_eq!(store.open_artifact(&kept).unwrap().bytes(), 10);
}

#[test]
fn a_damaged_file_of_tombstones_is_harmless() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let gone = |content: &[u8]| {
        let uri = ArtifactUri::bare(publish(&store, &[content]).digests()[0]);
        collect(&store);
        uri
    };
    let (one, two) = (gone(b"one"), gone(b"two"));
    let path = scratch.root().join("expired");
    let whole = fs_err::read(&path).unwrap();
    let is_expired = |uri| matches!(store.open_artifact(uri), Err(OpenError::Expired { .. }));
    assert!(is_expired(&one) && is_expired(&two));
    // Torn and damaged lines are left out, by readers and by the next collection.
    let mut damaged = whole.clone();
    damaged[20] ^= 1;
    damaged.truncate(whole.len() - 5);
    fs_err::write(&path, &damaged).unwrap();
    for uri in [&one, &two] {
        assert!(matches!(store.open_artifact(uri), Err(OpenError::Unknown { .. })));
    }
    assert!(is_expired(&gone(b"three")));
    // What cannot be written costs no collection.
    fs_err::remove_file(&path).unwrap();
    fs_err::create_dir(&path).unwrap();
    let four = gone(b"four");
    assert!(matches!(store.open_artifact(&four), Err(OpenError::Unknown { .. })));
}

#[test]
fn the_oldest_tombstones_go() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let batch = |from: u64| {
        let contents: Vec<String> = (from..from + 4000).map(|n| n.to_string()).collect();
        let contents: Vec<&[u8]> = contents.iter().map(String::as_bytes).collect();
        let digest = publish(&store, &contents).digests()[0];
        assert_eq!(collect(&store).removed, 4000);
        ArtifactUri::bare(digest)
    };
    let lines = || fs_err::read_to_string(scratch.root().join("expired")).unwrap().lines().count();
    let (first, _) = (batch(10_000), batch(20_000));
    assert_eq!(lines(), 8000);
    let last = batch(30_000);
    assert_eq!(lines(), 4096);
    assert!(matches!(store.open_artifact(&first), Err(OpenError::Unknown { .. })));
    assert!(matches!(store.open_artifact(&last), Err(OpenError::Expired { .. })));
}
