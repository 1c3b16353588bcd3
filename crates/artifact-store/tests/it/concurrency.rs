//! Several threads and processes on one store, while it is collected.

use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use artifacts::Durability;
use artifacts::hash::digest_of;
use camino::Utf8Path;
use output_contract::ArtifactUri;

use crate::scratch::{Scratch, call, collect, open_at, owner, publish_named, seal};

const ROUNDS: u32 = 60;

/// Publishes contents that others publish too, retains some, and checks that
/// what is guarded or retained is there.
fn publish_and_check(root: &Utf8Path, who: &str) {
    let store = open_at(root, Durability::Fast);
    for round in 0..ROUNDS {
        let content = format!("content {}\n", round % 5).into_bytes();
        let guard = publish_named(&store, &content);
        assert_eq!(guard.healed(), [], "nothing was damaged");
        let [manifest, blob] = *guard.digests() else { panic!("{guard:?}") };
        assert_eq!(blob, digest_of(&content));
        let uri = ArtifactUri::stream(manifest, "out".parse().unwrap());
        let read = || {
            let artifact = store.open_artifact(&uri).unwrap();
            artifact.read(0..artifact.bytes()).unwrap()
        };
        assert_eq!(read(), content);
        let (session, id) = (owner(who), call(&format!("call {}", round % 3)));
        if round % 2 == 0 {
            guard.retain(&session, &id).unwrap();
            drop(guard);
            assert_eq!(read(), content);
            // A fork borrows what is rooted.
            let borrowed = store.borrow(manifest).unwrap();
            store.release(&session, Some(&id)).unwrap();
            assert_eq!(read(), content);
            drop(borrowed);
        }
    }
}

/// Collects without any grace until `done`.
fn collect_until(root: &Utf8Path, done: &AtomicBool) {
    let store = open_at(root, Durability::Fast);
    while !done.load(Ordering::Relaxed) {
        collect(&store);
    }
}

/// What is left once everything was released and collected.
fn assert_empty(scratch: &Scratch) {
    let store = scratch.open();
    collect(&store);
    for shelf in ["blobs", "manifests", "index"] {
        assert_eq!(scratch.on_shelf(shelf), [""; 0], "{shelf}");
    }
    for dir in ["leases", "roots", "captures", "trash"] {
        assert_eq!(scratch.names_in(dir), [""; 0], "{dir}");
    }
}

#[test]
fn threads_publish_the_same_content_while_others_collect() {
    let scratch = Scratch::new();
    let (root, done) = (scratch.root(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let collectors = [(); 2].map(|()| scope.spawn(|| collect_until(&root, &done)));
        let publishers = ["a", "b", "c"].map(|who| {
            let root = &root;
            scope.spawn(move || publish_and_check(root, who))
        });
        let results = publishers.map(std::thread::ScopedJoinHandle::join);
        done.store(true, Ordering::Relaxed);
        assert!(results.iter().all(Result::is_ok));
        assert!(collectors.into_iter().all(|collector| collector.join().is_ok()));
    });
    assert_empty(&scratch);
}

#[test]
fn processes_publish_the_same_content_while_others_collect() {
    let scratch = Scratch::new();
    let (root, done) = (scratch.root(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let collector = scope.spawn(|| collect_until(&root, &done));
        let children = ["a", "b", "c"].map(|who| child("concurrency::as_a_publisher", &root, who));
        let statuses = children.map(|child| child.wait_with_output().unwrap());
        done.store(true, Ordering::Relaxed);
        collector.join().unwrap();
        for output in statuses {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        }
    });
    assert_empty(&scratch);
}

/// Runs one test of this binary in a process of its own, with the store's root.
fn child(test: &str, root: &Utf8Path, who: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env("STORE_ROOT", root)
        .env("STORE_WHO", who)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn as_a_publisher() {
    if let (Ok(root), Ok(who)) = (std::env::var("STORE_ROOT"), std::env::var("STORE_WHO")) {
        publish_and_check(Utf8Path::new(&root), &who);
    }
}

#[test]
fn stores_are_made_by_many_at_once() {
    let scratch = Scratch::new();
    let root = scratch.root();
    let ids: Vec<String> = std::thread::scope(|scope| {
        let open = || open_at(&root, Durability::Durable).id().to_owned();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert!(!scratch.names_in("").iter().any(|name| name.starts_with("store.json.")));
}

#[test]
fn a_guard_outlives_the_store_it_came_from() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let (capture, publication) = seal(&store, &[b"x"]);
    let guard = store.publish(&publication).unwrap();
    capture.remove().unwrap();
    drop(store);
    assert_eq!(collect(&scratch.open()).live, 1);
    guard.retain(&owner("s"), &call("c")).unwrap();
    drop(guard);
    assert_eq!(collect(&scratch.open()).live, 1);
}
