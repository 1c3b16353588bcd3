//! What a store says that it holds.

use artifact_store::{OwnerStat, StoreStat};

use crate::scratch::{Scratch, call, meta, owner, publish};

#[test]
fn shared_bytes_count_once_in_the_total_and_once_for_each_owner() {
    let scratch = Scratch::new();
    let store = scratch.open();
    assert_eq!(store.stat().unwrap(), StoreStat::default());
    for (session, id, contents) in [
        ("a", "1", [b"shared".as_slice(), b"one"]),
        ("a", "2", [b"shared", b"shared"]),
        ("b", "1", [b"shared", b"four"]),
    ] {
        publish(&store, &contents).retain(&owner(session), &call(id)).unwrap();
    }
    publish(&store, &[b"garbage"]);
    let _capture = store.captures().create(&meta(&[])).unwrap();
    let stat = store.stat().unwrap();
    assert_eq!((stat.artifacts, stat.bytes), (4, 6 + 3 + 4 + 7));
    assert_eq!((stat.retained, stat.retained_bytes, stat.saved_bytes()), (3, 13, 12));
    let of = |id, calls, bytes| OwnerStat { owner: owner(id), calls, bytes };
    assert_eq!(stat.owners, [of("a", 2, 9), of("b", 1, 10)]);
    assert_eq!((stat.live_captures, stat.quarantined), (1, 0));
}

#[test]
fn damaged_roots_are_named_and_hide_nobody_else() {
    let scratch = Scratch::new();
    let store = scratch.open();
    publish(&store, &[b"one"]).retain(&owner("a"), &call("1")).unwrap();
    let damaged = scratch.root().join("roots").join(&scratch.names_in("roots")[0]);
    publish(&store, &[b"three"]).retain(&owner("b"), &call("1")).unwrap();
    fs_err::write(&damaged, "damaged\nline\n").unwrap();
    let stat = store.stat().unwrap();
    assert_eq!((stat.artifacts, stat.bytes, stat.retained_bytes), (2, 8, 5));
    assert_eq!((stat.owners.len(), stat.unreadable.len()), (1, 1));
    let (path, why) = &stat.unreadable[0];
    assert_eq!(path, &damaged);
    assert!(why.contains("line 1"), "{why}");
}
