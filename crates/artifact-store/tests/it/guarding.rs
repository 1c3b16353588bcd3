//! What a collection does where roots were lost.

use std::time::Duration;

use artifacts::{CollectError, CollectOptions};
use camino::Utf8PathBuf;

use crate::scratch::{Scratch, call, collect, owner, publish};

const NOW: CollectOptions = CollectOptions { grace: Duration::ZERO, dry_run: false, force: false };

/// Ten artifacts of the owner `s`, of a call each.
fn filled() -> (Scratch, Utf8PathBuf) {
    let scratch = Scratch::new();
    let store = scratch.open();
    for id in 0..10 {
        let guard = publish(&store, &[format!("content {id}").as_bytes()]);
        guard.retain(&owner("s"), &call(&id.to_string())).unwrap();
    }
    let roots = scratch.root().join("roots").join(&scratch.names_in("roots")[0]);
    (scratch, roots)
}

#[test]
fn lost_roots_keep_what_they_kept_until_forced() {
    let (scratch, roots) = filled();
    let store = scratch.open();
    let content = fs_err::read(&roots).unwrap();
    fs_err::remove_file(&roots).unwrap();
    for _ in 0..2 {
        match store.collect(&NOW) {
            Err(CollectError::RootsLost { unexplained: 10, bytes: 90, stored: 10, lost }) => {
                assert_eq!(lost, std::slice::from_ref(&roots));
            }
            other => panic!("{other:?}"),
        }
        // Not even a collection that finds everything young lets it be forgotten.
        let hour = CollectOptions { grace: Duration::from_secs(3600), ..NOW };
        assert_eq!(store.collect(&hour).unwrap().young, 10);
    }
    let dry = store.collect(&CollectOptions { dry_run: true, ..NOW }).unwrap();
    assert_eq!((dry.removed, dry.unexplained), (10, 10));
    assert_eq!(scratch.on_shelf("blobs").len(), 10);
    // What is restored is as good as before.
    fs_err::write(&roots, &content).unwrap();
    assert_eq!(collect(&store).live, 10);
    fs_err::remove_file(&roots).unwrap();
    let forced = store.collect(&CollectOptions { force: true, ..NOW }).unwrap();
    assert_eq!((forced.removed, forced.unexplained), (10, 10));
    publish(&store, &[b"never retained"]);
    assert_eq!(collect(&store).removed, 1);
}

#[test]
fn shortened_roots_are_lost_ones() {
    let (scratch, roots) = filled();
    let store = scratch.open();
    collect(&store);
    let content = fs_err::read_to_string(&roots).unwrap();
    let shorter: Vec<&str> = content.split_inclusive('\n').take(3).collect();
    fs_err::write(&roots, shorter.concat()).unwrap();
    let refused = store.collect(&NOW);
    assert!(matches!(refused, Err(CollectError::RootsLost { unexplained: 8, .. })), "{refused:?}");
}

#[test]
fn a_store_without_any_record_is_no_garbage() {
    let (scratch, roots) = filled();
    fs_err::remove_file(&roots).unwrap();
    fs_err::remove_file(scratch.root().join("owners")).unwrap();
    let refused = scratch.open().collect(&NOW);
    assert!(matches!(refused, Err(CollectError::RootsLost { stored: 10, .. })), "{refused:?}");
    let forced = scratch.open().collect(&CollectOptions { force: true, ..NOW }).unwrap();
    assert_eq!(forced.removed, 10);
}

#[test]
fn what_was_released_goes_without_force() {
    let (scratch, roots) = filled();
    let store = scratch.open();
    store.release(&owner("s"), None).unwrap();
    // The note of the release outlives a collection that finds all too young,
    let hour = CollectOptions { grace: Duration::from_secs(3600), ..NOW };
    assert_eq!(store.collect(&hour).unwrap().young, 10);
    assert!(roots.exists());
    assert_eq!(store.owners().unwrap(), []);
    // and explains, although another owner's roots are lost.
    publish(&store, &[b"other"]).retain(&owner("t"), &call("1")).unwrap();
    let other = scratch.names_in("roots").into_iter().find(|name| !roots.ends_with(name)).unwrap();
    fs_err::remove_file(scratch.root().join("roots").join(other)).unwrap();
    let report = collect(&store);
    assert_eq!((report.removed, report.unexplained), (11, 1));
    assert!(!roots.exists());
}

#[test]
fn damaged_roots_that_were_removed_with_their_owner_are_not_lost() {
    let (scratch, roots) = filled();
    let store = scratch.open();
    fs_err::write(&roots, "damaged\nline\n").unwrap();
    store.release(&owner("s"), None).unwrap();
    assert_eq!(collect(&store).removed, 10);
}

#[test]
fn a_damaged_ledger_stops_nothing() {
    let (scratch, _) = filled();
    fs_err::write(scratch.root().join("owners"), "damaged\n\0\n").unwrap();
    assert_eq!(collect(&scratch.open()).live, 10);
    let ledger = fs_err::read_to_string(scratch.root().join("owners")).unwrap();
    assert_eq!(ledger.lines().count(), 1, "{ledger}");
}
