//! Publishers and collectors stopped at the points where they could go wrong.
//!
//! The sweep lock stops them: a collector that has marked everything waits for
//! whoever holds it shared, and has made its directory in the trash by then; a
//! publisher that has taken its lease waits for whoever holds it exclusively.

use std::thread::{JoinHandle, ScopedJoinHandle, yield_now};
use std::time::SystemTime;

use artifact_store::LocalStore;
use artifacts::CollectReport;
use artifacts::hash::digest_of;
use output_contract::{ArtifactUri, Digest};

use crate::scratch::{Scratch, call, collect, owner, publish, publish_named, seal};

/// How often the other thread gets a chance to do what it must not.
const CHANCES: usize = 2_000;

fn sweep_lock(scratch: &Scratch) -> fs_err::File {
    fs_err::File::open(scratch.root().join("locks/sweep")).unwrap()
}

/// Waits until `happened`, unless `thread` ends first.
fn wait_for<T>(thread: &JoinHandle<T>, happened: impl Fn() -> bool) {
    while !happened() {
        assert!(!thread.is_finished(), "it did not wait");
        yield_now();
    }
}

/// Does something after a collection has marked everything, and before it
/// sweeps.
fn after_marking(scratch: &Scratch, action: impl FnOnce(&LocalStore)) -> CollectReport {
    let lock = sweep_lock(scratch);
    lock.file().lock_shared().unwrap();
    let store = scratch.open();
    let collector = std::thread::spawn(move || collect(&store));
    wait_for(&collector, || !scratch.names_in("trash").is_empty());
    action(&scratch.open());
    lock.file().unlock().unwrap();
    collector.join().unwrap()
}

/// The time of a file; the clock of a file system is coarse, so a later touch
/// may not show.
fn time_of(scratch: &Scratch, shelf: &str, digest: &Digest) -> SystemTime {
    fs_err::metadata(scratch.path(shelf, digest)).unwrap().modified().unwrap()
}

fn set_time(scratch: &Scratch, shelf: &str, digest: &Digest, time: SystemTime) {
    let file = fs_err::File::open(scratch.path(shelf, digest)).unwrap();
    file.file().set_modified(time).unwrap();
}

fn is_there(scratch: &Scratch, digest: Digest) -> bool {
    scratch.open().open_artifact(&ArtifactUri::bare(digest)).is_ok()
}

#[test]
fn what_is_published_again_after_marking_stays() {
    let scratch = Scratch::new();
    let digest = publish(&scratch.open(), &[b"again\n"]).digests()[0];
    let time = time_of(&scratch, "blobs", &digest);
    let mut guard = None;
    let report = after_marking(&scratch, |store| {
        guard = Some(publish(store, &[b"again\n"]));
        set_time(&scratch, "blobs", &digest, time);
    });
    assert_eq!((report.live, report.removed), (1, 0));
    assert!(is_there(&scratch, digest));
}

#[test]
fn what_is_retained_and_released_after_marking_stays() {
    let scratch = Scratch::new();
    let digests = publish_named(&scratch.open(), b"kept\n").digests().to_vec();
    let times =
        [time_of(&scratch, "manifests", &digests[0]), time_of(&scratch, "blobs", &digests[1])];
    // The guard is gone, the process with its lease file too: what they leave
    // counts until a collection that begins later.
    let report = after_marking(&scratch, |store| {
        let guard = store.borrow(digests[0]).unwrap();
        guard.retain(&owner("s"), &call("c")).unwrap();
        guard.release();
        set_time(&scratch, "manifests", &digests[0], times[0]);
        set_time(&scratch, "blobs", &digests[1], times[1]);
    });
    assert_eq!((report.live, report.removed), (2, 0));
    assert!(digests.iter().all(|digest| is_there(&scratch, *digest)));
    let report = collect(&scratch.open());
    assert_eq!((report.live, report.removed), (2, 0));
}

#[test]
fn what_is_touched_after_marking_stays() {
    let scratch = Scratch::new();
    let digest = publish(&scratch.open(), &[b"touched\n"]).digests()[0];
    let report = after_marking(&scratch, |_| {
        set_time(&scratch, "blobs", &digest, SystemTime::UNIX_EPOCH);
    });
    assert_eq!((report.live, report.removed), (1, 0));
    assert!(is_there(&scratch, digest));
}

#[test]
fn what_is_garbage_all_along_goes() {
    let scratch = Scratch::new();
    let digest = publish(&scratch.open(), &[b"garbage\n"]).digests()[0];
    let report = after_marking(&scratch, |store| {
        publish(store, &[b"other\n"]);
    });
    assert_eq!((report.live, report.removed), (0, 1));
    assert!(!is_there(&scratch, digest));
    // A collection knows nothing of what came after its listing.
    assert!(is_there(&scratch, digest_of(b"other\n")));
}

#[test]
fn a_sweep_waits_for_publishers() {
    let scratch = Scratch::new();
    let digest = publish(&scratch.open(), &[b"garbage\n"]).digests()[0];
    after_marking(&scratch, |_| {
        for _ in 0..CHANCES {
            assert!(is_there(&scratch, digest));
            yield_now();
        }
    });
    assert!(!is_there(&scratch, digest));
}

/// Does `action` in a thread while someone sweeps; it must take a lease, and
/// then wait.
fn during_a_sweep<T: Send + 'static>(
    scratch: &Scratch,
    action: impl FnOnce(LocalStore) -> T + Send + 'static,
    check: impl Fn(),
) -> T {
    let lock = sweep_lock(scratch);
    lock.file().lock().unwrap();
    let store = scratch.open();
    let thread = std::thread::spawn(move || action(store));
    let leased = || {
        scratch.names_in("leases").iter().any(|name| {
            let lease = fs_err::read_to_string(scratch.root().join("leases").join(name));
            lease.unwrap().contains(r#""take""#)
        })
    };
    wait_for(&thread, leased);
    for _ in 0..CHANCES {
        check();
        assert!(!thread.is_finished(), "it did not wait");
        yield_now();
    }
    lock.file().unlock().unwrap();
    thread.join().unwrap()
}

#[test]
fn a_publisher_leases_first_and_links_when_no_one_sweeps() {
    let scratch = Scratch::new();
    let (_capture, publication) = seal(&scratch.open(), &[b"x"]);
    let guard = during_a_sweep(
        &scratch,
        move |store| store.publish(&publication).unwrap(),
        || assert_eq!(scratch.on_shelf("blobs"), [""; 0]),
    );
    assert!(is_there(&scratch, guard.digests()[0]));
}

#[test]
fn a_loan_is_refused_where_the_sweep_was_first() {
    let scratch = Scratch::new();
    let digest = publish(&scratch.open(), &[b"swept\n"]).digests()[0];
    collect_leases(&scratch);
    let path = scratch.path("blobs", &digest);
    let borrowed = during_a_sweep(
        &scratch,
        move |store| store.borrow(digest),
        || {
            let _ = fs_err::remove_file(&path);
        },
    );
    assert!(
        matches!(
            borrowed,
            Err(artifacts::OpenError::Unknown { .. } | artifacts::OpenError::Expired { .. })
        ),
        "{borrowed:?}"
    );
}

/// Forgets the leases of stores that are closed, and removes nothing.
fn collect_leases(scratch: &Scratch) {
    let grace = std::time::Duration::from_secs(3600);
    let options = artifacts::CollectOptions { grace, dry_run: false, force: false };
    assert_eq!(scratch.open().collect(&options).unwrap().removed, 0);
    assert_eq!(scratch.names_in("leases"), [""; 0]);
}

#[test]
fn a_copy_that_came_after_comparing_is_compared_before_it_is_kept() {
    for (theirs, healed) in [(b"right\n", 0), (b"wrong\n", 1)] {
        let scratch = Scratch::new();
        let digest = digest_of(b"right\n");
        let path = scratch.path("blobs", &digest);
        let (_capture, publication) = seal(&scratch.open(), &[b"right\n"]);
        let guard = during_a_sweep(
            &scratch,
            move |store| store.publish(&publication).unwrap(),
            || {
                if !path.exists() {
                    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
                    fs_err::write(&path, theirs).unwrap();
                }
            },
        );
        assert_eq!(guard.healed().len(), healed);
        assert_eq!(fs_err::read(&path).unwrap(), b"right\n");
    }
}

#[test]
fn new_lease_files_survive_collectors() {
    let scratch = Scratch::new();
    scratch.open();
    std::thread::scope(|scope| {
        let publishers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    for _ in 0..150 {
                        // Each store has a lease file of its own.
                        let guard = publish(&scratch.open(), &[b"x"]);
                        guard.retain(&owner("s"), &call("c")).unwrap();
                    }
                })
            })
            .collect();
        let store = scratch.open();
        while !publishers.iter().all(ScopedJoinHandle::is_finished) {
            collect(&store);
        }
    });
}

#[test]
fn no_root_is_lost_to_a_compaction() {
    let scratch = Scratch::new();
    scratch.open();
    std::thread::scope(|scope| {
        let keepers: Vec<_> = ["a", "b"]
            .map(|who| {
                let scratch = &scratch;
                scope.spawn(move || {
                    let store = scratch.open();
                    for round in 0..150 {
                        let guard = publish(&store, &[who.as_bytes()]);
                        // All share one roots file.
                        guard.retain(&owner("s"), &call(&format!("{who} {round}"))).unwrap();
                        if round > 0 {
                            let last = call(&format!("{who} {}", round - 1));
                            store.release(&owner("s"), Some(&last)).unwrap();
                        }
                        drop(guard);
                        assert!(is_there(scratch, digest_of(who.as_bytes())));
                    }
                })
            })
            .into();
        let store = scratch.open();
        while !keepers.iter().all(ScopedJoinHandle::is_finished) {
            collect(&store);
        }
    });
    let calls = scratch.open().retained().unwrap();
    let calls: Vec<_> = calls.iter().map(|call| call.call.as_str()).collect();
    assert_eq!(calls.len(), 2);
    assert!(calls.contains(&"a 149") && calls.contains(&"b 149"));
}
