//! What must be true of every store, whatever happened to it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use artifact_store::LocalStore;
use artifacts::hash::digest_of;
use artifacts::{CollectOptions, OpenError, Publication};
use camino::Utf8Path;
use output_contract::{ArtifactUri, Digest};

use crate::scratch::{call, owner};

/// What is wrong, for whoever reads the failed test.
pub(crate) type Found = Result<(), String>;

/// Fails with a message unless something holds.
pub(crate) fn ensure(holds: bool, message: impl FnOnce() -> String) -> Found {
    if holds { Ok(()) } else { Err(message()) }
}

/// Reads all of an artifact.
pub(crate) fn read(store: &LocalStore, digest: Digest) -> Result<Vec<u8>, OpenError> {
    let artifact = store.open_artifact(&ArtifactUri::bare(digest))?;
    Ok(artifact.read(0..artifact.bytes())?.to_vec())
}

/// An artifact is there, and is what it is called.
pub(crate) fn serves(store: &LocalStore, digest: Digest) -> Found {
    let bytes = read(store, digest).map_err(|error| format!("{digest}: {error:?}"))?;
    ensure(digest_of(&bytes) == digest, || format!("{digest}: other bytes are served"))
}

/// Everything that a root names is there.
pub(crate) fn roots_hold(store: &LocalStore) -> Found {
    let retained = store.retained().map_err(|error| format!("roots: {error:?}"))?;
    let digests: BTreeSet<Digest> = retained.into_iter().flat_map(|call| call.digests).collect();
    digests.into_iter().try_for_each(|digest| serves(store, digest))
}

/// The digests on a shelf.
pub(crate) fn on_shelf(root: &Utf8Path, shelf: &str) -> BTreeSet<Digest> {
    let base = root.join(shelf).join("sha256");
    let dirs = fs_err::read_dir(base).unwrap().map(|dir| dir.unwrap().path());
    let files = dirs.flat_map(|dir| fs_err::read_dir(dir).unwrap());
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names.map(|name| name.parse().expect("only digests are at addresses")).collect()
}

/// Whatever is at an address is served as what it is called, or is corrupt.
pub(crate) fn nothing_wrong_is_served(root: &Utf8Path, store: &LocalStore) -> Found {
    for shelf in ["blobs", "manifests"] {
        for digest in on_shelf(root, shelf) {
            match read(store, digest) {
                Ok(bytes) if digest_of(&bytes) == digest => {}
                Err(OpenError::Corrupt { .. }) => {}
                other => return Err(format!("{shelf} {digest}: {other:?}")),
            }
        }
    }
    Ok(())
}

/// Seals and publishes what dead processes left, as every command of the
/// program does first. What cannot be sealed keeps nothing else back.
pub(crate) fn recover(store: &LocalStore) -> Result<(), Box<dyn std::error::Error>> {
    for (number, dead) in store.captures().dead()?.into_iter().enumerate() {
        let streams = dead.seal().streams.into_iter();
        let blobs = streams.collect::<Result<Vec<_>, _>>()?.into_iter().map(Arc::new).collect();
        let guard = store.publish(&Publication { blobs, manifest: None })?;
        guard.retain(&owner("recovered"), &call(&format!("call {number}")))?;
        guard.release();
        dead.remove()?;
    }
    Ok(())
}

/// A collection that waits for no age.
pub(crate) const NOW: CollectOptions =
    CollectOptions { grace: Duration::ZERO, dry_run: false, force: false };

/// A collection for which everything is young.
pub(crate) const HOUR: CollectOptions =
    CollectOptions { grace: Duration::from_secs(3600), dry_run: false, force: false };

/// Recovers and collects, after which exactly what the roots name is there, and
/// nothing else of any kind.
pub(crate) fn settles(root: &Utf8Path, store: &LocalStore) -> Found {
    recover(store).map_err(|error| format!("recovery: {error:?}"))?;
    let collect = || store.collect(&NOW).map_err(|error| format!("collection: {error:?}"));
    collect()?;
    let again = collect()?;
    ensure(again.removed == 0, || format!("the second collection removed {}", again.removed))?;
    roots_hold(store)?;
    let retained = store.retained().map_err(|error| format!("roots: {error:?}"))?;
    let closure: BTreeSet<Digest> = retained.into_iter().flat_map(|call| call.digests).collect();
    let stored = &on_shelf(root, "blobs") | &on_shelf(root, "manifests");
    ensure(stored == closure, || format!("stored {stored:?}, retained {closure:?}"))?;
    let sidecars = on_shelf(root, "index");
    ensure(sidecars.is_subset(&closure), || format!("sidecars {sidecars:?}"))?;
    for dir in ["captures", "leases", "trash"] {
        let left: Vec<_> = fs_err::read_dir(root.join(dir)).unwrap().map(|e| e.unwrap()).collect();
        // The open store may have a lease file, in which nothing is leased.
        let allowed = usize::from(dir == "leases");
        ensure(left.len() <= allowed, || format!("left in {dir}: {left:?}"))?;
    }
    let odd = fs_err::read_dir(root.join("roots")).unwrap().map(|entry| entry.unwrap().path());
    let odd: Vec<_> = odd.filter(|path| path.extension().is_some()).collect();
    ensure(odd.is_empty(), || format!("left in roots: {odd:?}"))?;
    let odd = fs_err::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name());
    let odd: Vec<_> = odd.filter(|name| name.to_string_lossy().contains("json.")).collect();
    ensure(odd.is_empty(), || format!("left in the root: {odd:?}"))
}
