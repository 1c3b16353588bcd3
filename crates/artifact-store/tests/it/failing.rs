//! Every system call of the store fails once, in every way.
//!
//! A script runs on a [`FaultyDisk`] again and again, each time with another
//! call failing: once, or from then on. Whether it ends with an error or not,
//! what was retained before is served, nothing partial is at an address, the
//! same script succeeds afterwards, and then two collections leave exactly what
//! the roots name.

mod scripts;

use std::error::Error;
use std::sync::Arc;

use artifact_store::{LocalStore, StoreOptions};
use artifacts::Durability;
use artifacts::fs::{Fs, Interposer};
use camino::Utf8Path;
use output_contract::Digest;
use testkit::{DiskFault, FaultyDisk};

use self::scripts::Script;
use crate::oracle::{Found, ensure, nothing_wrong_is_served, read, settles};
use crate::scratch::{Scratch, open_at, owner};

/// Far more calls than any script makes.
const ENDLESS: u64 = 10_000;

fn open(root: &Utf8Path, disk: &Arc<FaultyDisk>) -> Result<LocalStore, Box<dyn Error>> {
    let fs = Fs::interposed(root, Arc::clone(disk) as Arc<dyn Interposer>);
    let options = StoreOptions {
        durability: Durability::Durable,
        allow_network_fs: true,
        ..StoreOptions::default()
    };
    Ok(LocalStore::open_on(root, options, &fs)?)
}

/// What was retained before, byte for byte.
fn before(store: &LocalStore) -> Vec<(Digest, Vec<u8>)> {
    let calls = store.retained_by(&owner("before")).unwrap();
    let digests = calls.into_iter().flat_map(|call| call.digests);
    digests.map(|digest| (digest, read(store, digest).unwrap())).collect()
}

/// No handle below `root` is open in this process.
fn nothing_is_open(root: &Utf8Path) -> Found {
    let Ok(open) = fs_err::read_dir("/proc/self/fd") else { return Ok(()) };
    for handle in open {
        if let Ok(target) = fs_err::read_link(handle.unwrap().path()) {
            ensure(!target.starts_with(root), || format!("left open: {}", target.display()))?;
        }
    }
    Ok(())
}

/// Runs the script with one fault; `false` where its call never came.
fn fails_well(script: &Script, disk: FaultyDisk) -> Result<bool, String> {
    let scratch = Scratch::in_memory();
    let root = scratch.root();
    (script.prepare)(&open_at(&root, Durability::Fast));
    let kept = before(&open_at(&root, Durability::Fast));
    if script.anew {
        fs_err::remove_dir_all(&root).unwrap();
    }

    let disk = Arc::new(disk);
    let done = open(&root, &disk).and_then(|store| (script.act)(&store));
    nothing_is_open(&root)?;

    let store = open_at(&root, Durability::Fast);
    for (digest, bytes) in &kept {
        let served = read(&store, *digest).map_err(|error| format!("{digest}: {error:?}"))?;
        ensure(served == *bytes, || format!("{digest} changed"))?;
    }
    if !script.damages {
        let report = store.verify(std::num::NonZero::<usize>::MIN, &|_| {});
        let report = report.map_err(|error| format!("verify: {error:?}"))?;
        ensure(report.corrupt.is_empty(), || format!("partial: {:?}", report.corrupt))?;
    }
    nothing_wrong_is_served(&root, &store)?;
    if done.is_ok() {
        (script.check)(&store).map_err(|message| format!("it succeeded: {message}"))?;
    }
    (script.act)(&store).map_err(|error| format!("again: {error:?}"))?;
    (script.check)(&store).map_err(|message| format!("again: {message}"))?;
    settles(&root, &store)?;
    (script.check)(&store).map_err(|message| format!("after collecting: {message}"))?;
    Ok(disk.has_failed())
}

#[track_caller]
fn every_call_fails(script: &Script) {
    for (fault, lasting) in [
        (DiskFault::Io, false),
        (DiskFault::Io, true),
        (DiskFault::NoSpace, false),
        (DiskFault::NoSpace, true),
        (DiskFault::ShortWrite, false),
        (DiskFault::NoWrite, false),
    ] {
        // What fails from then on fails much the same one call later.
        for number in (0..ENDLESS).step_by(if lasting { 3 } else { 1 }) {
            assert!(number + 3 < ENDLESS);
            let disk = if lasting {
                FaultyDisk::lasting(fault, number)
            } else {
                FaultyDisk::once(fault, number)
            };
            match fails_well(script, disk) {
                Ok(true) => {}
                Ok(false) => {
                    println!("{fault:?} (lasting: {lasting}): {number} calls");
                    break;
                }
                Err(message) => panic!("{fault:?} {number} (lasting: {lasting}): {message}"),
            }
        }
    }
}

#[test]
fn opening_a_new_store() {
    every_call_fails(&scripts::OPEN);
}

#[test]
fn publishing_a_blob() {
    every_call_fails(&scripts::PUBLISH);
}

#[test]
fn publishing_streams_with_a_sidecar() {
    every_call_fails(&scripts::STREAMS);
}

#[test]
fn publishing_what_is_there() {
    every_call_fails(&scripts::DEDUP);
}

#[test]
fn borrowing() {
    every_call_fails(&scripts::BORROW);
}

#[test]
fn releasing() {
    every_call_fails(&scripts::RELEASE);
}

#[test]
fn collecting() {
    every_call_fails(&scripts::COLLECT);
}

#[test]
fn retiring() {
    every_call_fails(&scripts::RETIRE);
}

#[test]
fn verifying_what_is_damaged() {
    every_call_fails(&scripts::VERIFY);
}

#[test]
fn recovering() {
    every_call_fails(&scripts::RECOVER);
}

#[test]
fn reading() {
    every_call_fails(&scripts::READ);
}
