//! What went wrong in other stores, reproduced in this one.
//!
//! Elsewhere in these tests:
//! - a blob that is published again while it is collected:
//!   `interleaving::what_is_published_again_after_marking_stays`;
//! - a collection that does not know all roots:
//!   `collecting::unreadable_roots_leases_or_manifests_stop_it`;
//! - an empty file that counts as valid: `healing::a_good_publish_heals_what_was_planted`,
//!   `crashing`;
//! - a collection of what another process captures:
//!   `recovery::live_captures_are_nobody_elses`;
//! - a blob older than the grace, just needed again:
//!   `collecting::an_old_blob_that_is_published_again_is_young`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use artifact_store::{LocalStore, StoreOptions};
use artifacts::fs::{Errno, Fs, Interposer, Operation, OperationKind, Verdict};
use artifacts::hash::digest_of;

use crate::oracle::read;
use crate::scratch::{Scratch, call, collect, meta, owner, publish, seal};

/// Does something right before the first operation that it is meant for.
struct Before {
    which: fn(&Operation<'_>) -> bool,
    action: Box<dyn Fn(&Operation<'_>) -> Verdict + Send + Sync>,
    done: AtomicBool,
}

impl std::fmt::Debug for Before {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Before")
    }
}

impl Interposer for Before {
    fn before(&self, operation: &Operation<'_>) -> Verdict {
        if (self.which)(operation) && !self.done.swap(true, Ordering::Relaxed) {
            return (self.action)(operation);
        }
        Verdict::Proceed
    }
}

fn open(
    scratch: &Scratch,
    which: fn(&Operation<'_>) -> bool,
    action: impl Fn(&Operation<'_>) -> Verdict + Send + Sync + 'static,
) -> (LocalStore, Arc<Before>) {
    let done = AtomicBool::new(false);
    let before = Arc::new(Before { which, action: Box::new(action), done });
    let fs = Fs::interposed(&scratch.root(), Arc::clone(&before) as Arc<dyn Interposer>);
    let options = StoreOptions { allow_network_fs: true, ..StoreOptions::default() };
    (LocalStore::open_on(&scratch.root(), options, &fs).unwrap(), before)
}

#[test]
fn a_fan_out_directory_that_goes_between_its_making_and_the_link_is_made_again() {
    let scratch = Scratch::new();
    let (store, before) = open(
        &scratch,
        |operation| operation.kind == OperationKind::Link && operation.area == "blobs",
        |operation| {
            fs_err::remove_dir(operation.to.unwrap().parent().unwrap()).unwrap();
            Verdict::Proceed
        },
    );
    let guard = publish(&store, &[b"x"]);
    assert!(before.done.load(Ordering::Relaxed));
    assert_eq!(read(&store, guard.digests()[0]).unwrap(), b"x");
}

#[test]
fn the_loser_of_a_race_leaves_the_winners_copy_alone() {
    let scratch = Scratch::new();
    let winner = scratch.open();
    let others = scratch.open();
    let (capture, publication) = seal(&winner, &[b"same\n"]);
    // The other one comes right before the first one links.
    let (loser, before) = open(
        &scratch,
        |operation| operation.kind == OperationKind::Link && operation.area == "blobs",
        move |_| {
            let guard = others.publish(&publication).unwrap();
            guard.retain(&owner("winner"), &call("c")).unwrap();
            Verdict::Proceed
        },
    );
    let guard = publish(&loser, &[b"same\n"]);
    assert!(before.done.load(Ordering::Relaxed));
    assert_eq!(guard.healed(), []);
    drop(guard);
    collect(&loser);
    capture.remove().unwrap();
    assert_eq!(read(&winner, digest_of(b"same\n")).unwrap(), b"same\n");

    // And so does one that fails after that.
    let (loser, _) = open(
        &scratch,
        |operation| operation.kind == OperationKind::SyncFile && operation.area == "blobs",
        |_| Verdict::Fail(Errno::IO),
    );
    let (capture, publication) = seal(&loser, &[b"same\n"]);
    assert!(loser.publish(&publication).is_err());
    capture.remove().unwrap();
    collect(&loser);
    assert_eq!(read(&winner, digest_of(b"same\n")).unwrap(), b"same\n");
}

#[test]
fn a_full_disk_at_the_last_write_is_an_error_and_no_result() {
    let scratch = Scratch::new();
    let (store, _) =
        open(&scratch, |operation| operation.bytes == b"last\n", |_| Verdict::Fail(Errno::NOSPC));
    let capture = store.captures().create(&meta(&[])).unwrap();
    let mut writer = capture.stream_writer(0).unwrap();
    writer.append(b"first\n").unwrap();
    assert_eq!(writer.append(b"last\n").unwrap_err().detail(), "no space left on device");
    // Whoever goes on does so with what was accepted, and knows it.
    assert!(writer.error().is_some());
    let sealed = writer.seal().unwrap();
    assert_eq!((sealed.bytes(), sealed.digest()), (6, digest_of(b"first\n")));
}
