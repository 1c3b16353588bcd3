//! Collections: what they remove, what stops them.

use std::time::Duration;

use artifacts::{CollectError, CollectOptions, CollectReport};
use camino::Utf8Path;
use output_contract::Digest;

use crate::scratch::{Scratch, call, collect, long_content, meta, owner, publish, publish_named};

const HOUR: Duration = Duration::from_secs(3600);

#[test]
fn a_blob_goes_with_its_sidecar_and_trash_is_empty() {
    let scratch = Scratch::new();
    let store = scratch.open();
    publish(&store, &[&long_content(1)]);
    // A sidecar whose blob is gone has nothing to index.
    let orphan = Digest::from_bytes([9; 32]);
    fs_err::create_dir_all(scratch.path("index", &orphan).parent().unwrap()).unwrap();
    fs_err::write(scratch.path("index", &orphan), "x").unwrap();
    fs_err::create_dir(scratch.root().join("trash/left-behind")).unwrap();
    fs_err::write(scratch.root().join("trash/left-behind/x"), "x").unwrap();
    fs_err::write(scratch.root().join("trash/left-behind/.hidden"), "x").unwrap();
    assert_eq!(scratch.on_shelf("index").len(), 2);
    let report = collect(&store);
    assert_eq!(report.removed, 1);
    assert_eq!(report.removed_bytes, long_content(1).len() as u64);
    for shelf in ["blobs", "index"] {
        assert_eq!(scratch.on_shelf(shelf), [""; 0]);
    }
    assert_eq!(scratch.names_in("trash"), [""; 0]);
}

#[test]
fn the_young_are_left_alone_and_a_dry_run_removes_nothing() {
    let scratch = Scratch::new();
    let store = scratch.open();
    publish_named(&store, b"young\n");
    let kept = publish(&store, &[b"kept\n"]);
    let report =
        store.collect(&CollectOptions { grace: HOUR, dry_run: false, force: false }).unwrap();
    let expected = CollectReport { live: 1, young: 2, ..CollectReport::default() };
    assert_eq!(report, expected);
    let report = store
        .collect(&CollectOptions { grace: Duration::ZERO, dry_run: true, force: false })
        .unwrap();
    assert_eq!((report.live, report.removed), (1, 2));
    assert!(report.removed_bytes > 6);
    assert_eq!(scratch.on_shelf("blobs").len() + scratch.on_shelf("manifests").len(), 3);
    drop(kept);
}

#[test]
fn the_streams_of_a_young_manifest_stay_however_old() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let digests = publish_named(&store, b"old\n").digests().to_vec();
    let blob = fs_err::File::open(scratch.path("blobs", &digests[1])).unwrap();
    blob.file().set_modified(std::time::UNIX_EPOCH).unwrap();
    let report =
        store.collect(&CollectOptions { grace: HOUR, dry_run: false, force: false }).unwrap();
    assert_eq!((report.live, report.young, report.removed), (0, 2, 0));
}

#[test]
fn an_old_blob_that_is_published_again_is_young() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let digest = publish(&store, &[b"again\n"]).digests()[0];
    let blob = fs_err::File::open(scratch.path("blobs", &digest)).unwrap();
    blob.file().set_modified(std::time::UNIX_EPOCH).unwrap();
    publish(&store, &[b"again\n"]);
    let report =
        store.collect(&CollectOptions { grace: HOUR, dry_run: false, force: false }).unwrap();
    assert_eq!((report.young, report.removed), (1, 0));
}

#[test]
fn only_one_collects_at_a_time() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let lock = fs_err::File::open(scratch.root().join("locks/gc")).unwrap();
    lock.file().lock().unwrap();
    publish(&store, &[b"x"]);
    assert_eq!(collect(&store), CollectReport { busy: true, ..CollectReport::default() });
    lock.file().unlock().unwrap();
    assert_eq!(collect(&store).removed, 1);
}

fn append(path: &Utf8Path, bytes: &[u8]) {
    let mut content = fs_err::read(path).unwrap_or_default();
    content.extend_from_slice(bytes);
    fs_err::write(path, content).unwrap();
}

/// A collection that must fail and remove nothing.
fn refuses(scratch: &Scratch, what: &str, path: &Utf8Path) {
    let store = scratch.open();
    let before = [scratch.on_shelf("blobs"), scratch.on_shelf("manifests")];
    let options = CollectOptions { grace: Duration::ZERO, dry_run: false, force: false };
    match store.collect(&options) {
        Err(CollectError::Unreadable { what: named, path: at, .. }) => {
            assert_eq!((named, &*at), (what, path));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!([scratch.on_shelf("blobs"), scratch.on_shelf("manifests")], before);
}

#[test]
fn unreadable_roots_leases_or_manifests_stop_it() {
    let prepare = || {
        let scratch = Scratch::new();
        let store = scratch.open();
        let kept = publish_named(&store, b"kept\n");
        kept.retain(&owner("s"), &call("c")).unwrap();
        let manifest = kept.digests()[0];
        drop((kept, publish(&store, &[b"garbage\n"])));
        let roots = scratch.root().join("roots").join(&scratch.names_in("roots")[0]);
        (scratch, store, roots, manifest)
    };
    let (scratch, _store, roots, _) = prepare();
    append(&roots, b"damaged line\n");
    refuses(&scratch, "roots", &roots);

    let (scratch, _store, roots, _) = prepare();
    let mut content = fs_err::read(&roots).unwrap();
    content[150] ^= 1;
    fs_err::write(&roots, content).unwrap();
    refuses(&scratch, "roots", &roots);

    let (scratch, _store, roots, _) = prepare();
    let other = roots.with_file_name("odd");
    fs_err::rename(&roots, &other).unwrap();
    refuses(&scratch, "roots", &other);

    let (scratch, _store, roots, _) = prepare();
    fs_err::remove_file(&roots).unwrap();
    fs_err::create_dir(&roots).unwrap();
    refuses(&scratch, "roots", &roots);

    let (scratch, _store, ..) = prepare();
    let lease = scratch.root().join("leases").join(&scratch.names_in("leases")[0]);
    append(&lease, b"damaged line\n");
    refuses(&scratch, "lease", &lease);

    let (scratch, _store, ..) = prepare();
    let lease = scratch.root().join("leases/odd");
    append(&lease, b"");
    refuses(&scratch, "lease", &lease);

    let (scratch, _store, _, manifest) = prepare();
    let path = scratch.path("manifests", &manifest);
    fs_err::remove_file(&path).unwrap();
    append(&path, b"{}");
    refuses(&scratch, "manifest", &path);
}

#[test]
fn torn_tails_stop_nothing_and_are_closed() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let retain = |content: &[u8], id| {
        let guard = publish(&store, &[content]);
        guard.retain(&owner("s"), &call(id)).unwrap();
    };
    retain(b"one", "1");
    let roots = scratch.root().join("roots").join(&scratch.names_in("roots")[0]);
    append(&roots, b"0123abcd {\"type\":\"retain\",\"call\":\"2\"");
    let lease = scratch.root().join("leases").join(&scratch.names_in("leases")[0]);
    append(&lease, b"0123abcd {\"type\":\"ta");
    assert_eq!(collect(&store).live, 1);
    retain(b"three", "3");
    let calls = store.retained_by(&owner("s")).unwrap();
    assert_eq!(calls.iter().map(|c| c.call.as_str()).collect::<Vec<_>>(), ["1", "3"]);
    assert!(calls[0].at.0 > 1_600_000_000_000);
    assert_eq!(collect(&store).live, 2);
    assert_eq!(collect(&store).live, 2);
}

#[test]
fn a_first_line_may_be_torn_anywhere() {
    let scratch = Scratch::new();
    let store = scratch.open();
    publish(&store, &[b"x"]).retain(&owner("s"), &call("1")).unwrap();
    let roots = scratch.root().join("roots").join(&scratch.names_in("roots")[0]);
    let whole = fs_err::read(&roots).unwrap();
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap();
    for torn in 0..=first {
        fs_err::write(&roots, &whole[..torn]).unwrap();
        for id in ["2", "3"] {
            publish(&store, &[b"x"]).retain(&owner("s"), &call(id)).unwrap();
        }
        assert_eq!(store.retained_by(&owner("s")).unwrap().len(), 2, "{torn}");
    }
    assert_eq!(collect(&store).live, 1);
}

#[test]
fn roots_are_compacted_and_empty_ones_removed() {
    let scratch = Scratch::new();
    let store = scratch.open();
    for id in ["1", "2", "2"] {
        publish(&store, &[id.as_bytes()]).retain(&owner("s"), &call(id)).unwrap();
    }
    let roots = scratch.root().join("roots").join(&scratch.names_in("roots")[0]);
    append(&roots.with_file_name(format!("{}.new", roots.file_name().unwrap())), b"left behind");
    store.release(&owner("s"), Some(&call("1"))).unwrap();
    let lines = || fs_err::read_to_string(&roots).unwrap().lines().count();
    assert_eq!(lines(), 5);
    let before = store.retained().unwrap();
    collect(&store);
    assert_eq!(lines(), 2);
    assert_eq!(store.retained().unwrap(), before);
    assert_eq!(scratch.names_in("roots").len(), 1);
    store.release(&owner("s"), None).unwrap();
    collect(&store);
    assert_eq!(scratch.names_in("roots"), [""; 0]);
    assert_eq!(scratch.on_shelf("blobs"), [""; 0]);
}

#[test]
fn what_a_process_knows_of_its_roots_is_checked() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let keep = |content: &[u8], id| {
        let guard = publish(&store, &[content]);
        guard.retain(&owner("s"), &call(id)).unwrap();
        guard.release();
    };
    let calls = || -> Vec<String> {
        let retained = scratch.open().retained().unwrap();
        retained.iter().map(|retained| retained.call.to_string()).collect()
    };
    keep(b"a", "1");
    keep(b"b", "2");
    let roots = scratch.root().join("roots").join(&scratch.names_in("roots")[0]);
    append(&roots, b"0123 torn");
    keep(b"c", "3");
    assert_eq!(calls(), ["1", "2", "3"]);
    // Another file has the name now.
    scratch.open().release(&owner("s"), Some(&call("1"))).unwrap();
    assert_eq!(collect(&scratch.open()).removed, 1);
    keep(b"d", "4");
    assert_eq!(calls(), ["2", "3", "4"]);
    // And now none.
    scratch.open().release(&owner("s"), None).unwrap();
    assert_eq!(collect(&scratch.open()).removed, 3);
    assert_eq!(scratch.names_in("roots"), [""; 0]);
    keep(b"e", "5");
    assert_eq!(calls(), ["5"]);
    assert_eq!(collect(&scratch.open()).live, 1);
}

#[test]
fn lease_files_are_begun_anew_and_forgotten() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let guards: Vec<_> = (0..1025).map(|_| store.borrow(publish_one(&store)).unwrap()).collect();
    // 1,025 publications and as many loans.
    assert_eq!(scratch.names_in("leases").len(), 3);
    collect(&store);
    assert_eq!(scratch.names_in("leases").len(), 3);
    drop(guards);
    collect(&store);
    // The file that is still appended to stays.
    assert_eq!(scratch.names_in("leases").len(), 1);
    assert_eq!(scratch.on_shelf("blobs"), [""; 0]);
    drop(store);
    collect(&scratch.open());
    assert_eq!(scratch.names_in("leases"), [""; 0]);
}

fn publish_one(store: &artifact_store::LocalStore) -> Digest {
    publish(store, &[b"one"]).digests()[0]
}

#[test]
fn captures_without_a_description_go_and_others_stay() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let live = store.captures().create(&meta(&[])).unwrap();
    drop(store.captures().create(&meta(&[])).unwrap());
    let unreadable = store.captures().create(&meta(&[])).unwrap();
    fs_err::write(unreadable.dir().join("meta.json"), "{").unwrap();
    drop(unreadable);
    let id = "0190163d-8694-739b-aea5-966c26f8ad91";
    fs_err::create_dir(scratch.root().join("captures").join(id)).unwrap();
    fs_err::write(scratch.root().join(format!("captures/{id}/stream-0")), "x").unwrap();

    let report =
        store.collect(&CollectOptions { grace: HOUR, dry_run: false, force: false }).unwrap();
    assert_eq!(report.removed_captures, 0);
    let report = store
        .collect(&CollectOptions { grace: Duration::ZERO, dry_run: true, force: false })
        .unwrap();
    assert_eq!((report.removed_captures, scratch.names_in("captures").len()), (2, 7));
    assert_eq!(collect(&store).removed_captures, 2);
    assert_eq!(scratch.names_in("captures").len(), 4);
    assert_eq!(store.captures().dead().unwrap().len(), 1);
    live.remove().unwrap();
}

#[test]
fn many_files_are_swept_in_batches() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let contents: Vec<String> = (0..150).map(|n| format!("content {n}")).collect();
    let contents: Vec<&[u8]> = contents.iter().map(String::as_bytes).collect();
    let kept = publish(&store, &contents[..7]);
    publish(&store, &contents);
    let report = collect(&store);
    assert_eq!((report.live, report.removed), (7, 143));
    drop(kept);
}

#[test]
fn a_file_of_others_on_a_shelf_stops_nothing() {
    let scratch = Scratch::new();
    let store = scratch.open();
    publish(&store, &[b"garbage"]).release();
    for shelf in ["blobs", "manifests", "index"] {
        fs_err::write(scratch.root().join(shelf).join("sha256/.DS_Store"), "theirs").unwrap();
    }
    assert_eq!(collect(&store).removed, 1);
    assert_eq!(store.stat().unwrap().artifacts, 0);
    let report = store.verify(std::num::NonZero::<usize>::MIN, &|_| ()).unwrap();
    assert!(report.unreadable.is_empty(), "{report:?}");
    assert!(scratch.root().join("blobs/sha256/.DS_Store").exists());
}
