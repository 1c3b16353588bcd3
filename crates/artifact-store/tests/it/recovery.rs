//! Processes that are killed, and what they leave.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use artifacts::hash::digest_of;
use artifacts::{CollectOptions, Durability, Manifest, ManifestStream, Publication};
use camino::Utf8Path;
use output_contract::ArtifactUri;

use crate::scratch::{Scratch, call, collect, meta, open_at, owner, publish_named};

/// Runs [`as_a_victim`] in a process of its own until it has come to `point`,
/// and kills it there.
fn killed_at(point: &str, root: &Utf8Path) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "recovery::as_a_victim", "--nocapture"])
        .env("STORE_ROOT", root)
        .env("STORE_POINT", point)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line.ends_with("reached")), "{point}");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn as_a_victim() {
    let (Ok(root), Ok(point)) = (std::env::var("STORE_ROOT"), std::env::var("STORE_POINT")) else {
        return;
    };
    let reach = |here: &str| {
        if here == point {
            println!("reached");
            std::io::stdout().flush().unwrap();
            // Until it is killed.
            loop {
                std::thread::park();
            }
        }
    };
    let store = open_at(Utf8Path::new(&root), Durability::Fast);
    let capture = store.captures().create(&meta(&["out", "err"])).unwrap();
    reach("captured nothing");
    let mut writer = capture.stream_writer(0).unwrap();
    writer.append(b"one\n").unwrap();
    writer.append(b"two").unwrap();
    reach("captured some");
    let blob = Arc::new(writer.seal().unwrap());
    let stream = ManifestStream {
        name: "out".parse().unwrap(),
        sha256: blob.digest(),
        bytes: blob.bytes(),
        lines: blob.lines(),
    };
    let manifest = Some(Manifest::new(vec![stream]).unwrap());
    let guard = store.publish(&Publication { blobs: vec![blob], manifest }).unwrap();
    reach("published");
    guard.retain(&owner("s"), &call("c")).unwrap();
    reach("retained");
    guard.release();
    reach("released");
}

/// Seals and publishes what dead processes left, as recovery does.
fn recover(scratch: &Scratch) -> Vec<Vec<u8>> {
    let store = scratch.open();
    let mut streams = Vec::new();
    for dead in store.captures().dead().unwrap() {
        assert_eq!(*dead.meta(), meta(&["out", "err"]));
        let recovered = dead.seal();
        let blobs: Vec<_> =
            recovered.streams.into_iter().map(|sealed| Arc::new(sealed.unwrap())).collect();
        let guard = store.publish(&Publication { blobs, manifest: None }).unwrap();
        guard.retain(&owner("s"), &call("recovered")).unwrap();
        for digest in guard.digests() {
            let artifact = store.open_artifact(&ArtifactUri::bare(*digest)).unwrap();
            streams.push(artifact.read(0..artifact.bytes()).unwrap().to_vec());
        }
        dead.remove().unwrap();
    }
    streams
}

#[test]
fn what_was_captured_is_recovered_at_every_point() {
    for (point, out) in [
        ("captured nothing", ""),
        ("captured some", "one\ntwo"),
        ("published", "one\ntwo"),
        ("retained", "one\ntwo"),
        ("released", "one\ntwo"),
    ] {
        let scratch = Scratch::new();
        scratch.open();
        killed_at(point, &scratch.root());
        collect(&scratch.open());
        assert_eq!(recover(&scratch), [out.as_bytes(), b""], "{point}");
        assert_eq!(recover(&scratch), [[0_u8; 0]; 0]);
        assert_eq!(scratch.names_in("captures"), [""; 0]);
        let store = scratch.open();
        for _ in 0..2 {
            collect(&store);
            for digest in store.retained().unwrap().iter().flat_map(|call| &call.digests) {
                store.open_artifact(&ArtifactUri::bare(*digest)).unwrap();
            }
        }
        store.release(&owner("s"), None).unwrap();
        collect(&store);
        assert_eq!((scratch.on_shelf("blobs"), scratch.on_shelf("manifests")), (vec![], vec![]));
        assert_eq!((scratch.names_in("leases"), scratch.names_in("roots")), (vec![], vec![]));
    }
}

#[test]
fn the_leases_of_a_dead_process_hold_until_the_grace_is_over() {
    let scratch = Scratch::new();
    scratch.open();
    killed_at("published", &scratch.root());
    let store = scratch.open();
    for file in ["blobs", "manifests"].iter().flat_map(|shelf| {
        let digests = scratch.on_shelf(shelf);
        digests.into_iter().map(|hex| scratch.path(shelf, &hex.parse().unwrap()))
    }) {
        let file = fs_err::File::open(file).unwrap();
        file.file().set_modified(std::time::UNIX_EPOCH).unwrap();
    }
    let hour = CollectOptions { grace: Duration::from_secs(3600), dry_run: false, force: false };
    let report = store.collect(&hour).unwrap();
    assert_eq!((report.live, report.removed), (2, 0));
    assert_eq!(scratch.names_in("leases").len(), 1);

    let lease = scratch.root().join("leases").join(&scratch.names_in("leases")[0]);
    let lease = fs_err::File::open(lease).unwrap();
    lease.file().set_modified(std::time::UNIX_EPOCH).unwrap();
    let report = store.collect(&hour).unwrap();
    assert_eq!((report.live, report.removed), (0, 2));
    assert_eq!(scratch.names_in("leases"), [""; 0]);
}

#[test]
fn damaged_leases_of_a_dead_process_stop_nothing_after_the_grace() {
    let scratch = Scratch::new();
    let store = scratch.open();
    publish_named(&store, b"x\n");
    let lease = scratch.root().join("leases/0190163d-8694-739b-aea5-966c26f8ad91");
    fs_err::write(&lease, [vec![0; 4096], b"\ntail\n".to_vec()].concat()).unwrap();
    let hour = CollectOptions { grace: Duration::from_secs(3600), dry_run: false, force: false };
    assert!(store.collect(&hour).is_err());
    assert_eq!(collect(&store).removed, 2);
    assert!(!lease.exists());
}

#[test]
fn live_captures_are_nobody_elses() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let capture = store.captures().create(&meta(&[])).unwrap();
    let mut writer = capture.stream_writer(0).unwrap();
    let other = scratch.open();
    assert_eq!(other.captures().dead().unwrap().len(), 0);
    assert_eq!(other.captures().live().unwrap(), [meta(&[])]);
    assert_eq!(collect(&other).removed_captures, 0);
    drop(capture);
    // The writer holds the lock too.
    assert_eq!(other.captures().dead().unwrap().len(), 0);
    writer.append(b"x").unwrap();
    let sealed = writer.seal().unwrap();
    assert_eq!((other.captures().dead().unwrap().len(), sealed.digest()), (0, digest_of(b"x")));
    drop(sealed);
    assert_eq!(other.captures().dead().unwrap().len(), 1);
}
