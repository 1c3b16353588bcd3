//! Letting calls go by age and size.

use std::time::Duration;

use artifact_store::{LocalStore, RetentionLimits};
use output_contract::Timestamp;

use crate::scratch::{Scratch, call, collect, meta, owner, publish};

fn retired(store: &LocalStore, max_bytes: u64, now: Timestamp) -> Vec<String> {
    let limits = RetentionLimits { max_age: Duration::from_secs(60), max_bytes };
    let dry = store.retire(&limits, now, true).unwrap();
    let calls = store.retire(&limits, now, false).unwrap();
    assert_eq!(dry, calls);
    calls.iter().map(|call| call.call.to_string()).collect()
}

#[test]
fn what_is_past_the_limits_goes_but_for_what_is_held() {
    let scratch = Scratch::new();
    let store = scratch.open();
    for (id, content) in [("1", "first"), ("2", "other"), ("call", "third")] {
        let guard = publish(&store, &[content.as_bytes()]);
        guard.retain(&owner("session"), &call(id)).unwrap();
    }
    let now = Timestamp(store.retained().unwrap().iter().map(|call| call.at.0).max().unwrap());
    assert_eq!(retired(&store, 15, now), [""; 0]);
    let digest = store.retained_by(&owner("session")).unwrap()[0].digests[0];
    let leased = store.borrow(digest).unwrap();
    let running = store.captures().create(&meta(&[])).unwrap();
    let later = Timestamp(now.0 + 61_000);
    assert_eq!(retired(&store, 15, later), ["2"]);
    running.remove().unwrap();
    leased.release();
    let mut rest = retired(&store, 15, later);
    rest.sort();
    assert_eq!(rest, ["1", "call"]);
    assert_eq!(collect(&store).removed, 3);
}

#[test]
fn damaged_roots_keep_no_other_call() {
    let scratch = Scratch::new();
    let store = scratch.open();
    publish(&store, &[b"x"]).retain(&owner("a"), &call("1")).unwrap();
    let damaged = scratch.root().join("roots").join(&scratch.names_in("roots")[0]);
    publish(&store, &[b"y"]).retain(&owner("b"), &call("2")).unwrap();
    fs_err::write(damaged, "damaged\nline\n").unwrap();
    assert_eq!(retired(&store, 1, Timestamp(u64::MAX)), ["2"]);
}

#[test]
fn a_collection_is_due_once() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let hour = Duration::from_secs(3600);
    let lock = fs_err::File::open(scratch.root().join("locks/gc")).unwrap();
    let touched = lock.metadata().unwrap().modified().unwrap();
    let touched = touched.duration_since(std::time::UNIX_EPOCH).unwrap();
    let now = Timestamp(touched.as_millis() as u64 + 1);
    assert!(!store.is_collection_due(now, hour).unwrap());
    lock.file().set_modified(std::time::UNIX_EPOCH).unwrap();
    lock.file().lock().unwrap();
    assert!(!store.is_collection_due(now, hour).unwrap());
    lock.file().unlock().unwrap();
    assert!(store.is_collection_due(now, hour).unwrap());
    assert!(!store.is_collection_due(now, hour).unwrap());
}
