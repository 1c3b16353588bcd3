//! What becomes a store, and what is refused.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use artifact_store::{LocalStore, StoreError, StoreOptions};
use artifacts::{CollectError, CollectOptions, Durability, OpenError, PublishError, RootError};
use camino::Utf8Path;
use output_contract::ArtifactUri;

use crate::scratch::{Scratch, call, open_at, owner, publish, publish_named, seal};

fn mode(path: impl AsRef<std::path::Path>) -> u32 {
    fs_err::symlink_metadata(path.as_ref()).unwrap().mode() & 0o7777
}

fn refusal(path: &Utf8Path) -> StoreError {
    let options = StoreOptions { allow_network_fs: true, ..StoreOptions::default() };
    LocalStore::open(path, options).unwrap_err()
}

/// What a store holds beside directories.
const FILES: [&str; 2] = ["owners", "store.json"];

#[test]
fn everything_has_its_place_and_its_mode() {
    let scratch = Scratch::new();
    let store = scratch.open_with(Durability::Durable);
    let long = vec![b'x'; 300_000];
    let guard = publish_named(&store, &long);
    guard.retain(&owner("s"), &call("c")).unwrap();
    let (_capture, publication) = seal(&store, &[b"not published"]);

    assert_eq!(
        scratch.names_in(""),
        [
            "blobs",
            "captures",
            "index",
            "leases",
            "locks",
            "manifests",
            "owners",
            "quarantine",
            "roots",
            "store.json",
            "trash"
        ]
    );
    let [manifest, blob] = guard.digests() else { panic!() };
    for (shelf, digest) in [("manifests", manifest), ("blobs", blob), ("index", blob)] {
        let path = scratch.path(shelf, digest);
        assert_eq!(mode(&path), 0o444, "{path}");
        assert_eq!(mode(path.parent().unwrap()), 0o700);
    }
    assert_eq!(fs_err::read(scratch.path("blobs", blob)).unwrap(), long);
    for dir in scratch.names_in("").iter().filter(|name| !FILES.contains(&name.as_str())) {
        assert_eq!(mode(scratch.root().join(dir)), 0o700, "{dir}");
    }
    assert_eq!(mode(scratch.root().join("owners")), 0o600);
    for private in ["leases", "roots", "locks"] {
        for name in scratch.names_in(private) {
            assert_eq!(mode(scratch.root().join(private).join(&name)), 0o600, "{private}/{name}");
        }
    }
    assert_eq!(mode(publication.blobs[0].path()), 0o444);
    assert_eq!(mode(publication.blobs[0].path().parent().unwrap()), 0o700);
    let owner_file = artifacts::hash::digest_of(b"s").to_string();
    assert_eq!(scratch.names_in("roots"), [owner_file]);
    let description = fs_err::read_to_string(scratch.root().join("store.json")).unwrap();
    assert_eq!(description, format!(r#"{{"store_id":"{}","format":1}}"#, store.id()));
    assert_eq!(scratch.open().id(), store.id());
}

#[test]
fn modes_do_not_depend_on_the_umask() {
    // The umask is the process's, so another process has it.
    let scratch = Scratch::new();
    let me = std::env::current_exe().unwrap();
    for umask in ["000", "777"] {
        let root = scratch.root().join(umask);
        let status = std::process::Command::new("sh")
            .args(["-c", &format!("umask {umask} && exec \"$0\" \"$@\"")])
            .arg(&me)
            .args(["--exact", "opening::in_another_process", "--nocapture"])
            .env("STORE_ROOT", &root)
            .status()
            .unwrap();
        assert!(status.success());
        assert_eq!(mode(&root), 0o700);
        assert_eq!(mode(root.join("leases")), 0o700);
        let store = open_at(&root, Durability::Fast);
        assert_eq!(store.retained().unwrap().len(), 1);
        let roots = fs_err::read_dir(root.join("roots")).unwrap().next().unwrap().unwrap();
        assert_eq!(mode(roots.path()), 0o600);
        let digest = store.retained().unwrap()[0].digests[0];
        let read = store.open_artifact(&ArtifactUri::bare(digest)).unwrap();
        assert_eq!(read.bytes(), 1);
    }
}

#[test]
fn in_another_process() {
    let Ok(root) = std::env::var("STORE_ROOT") else { return };
    fs_err::create_dir_all(Utf8Path::new(&root).parent().unwrap()).unwrap();
    let guard = publish(&open_at(Utf8Path::new(&root), Durability::Fast), &[b"x"]);
    guard.retain(&owner("s"), &call("c")).unwrap();
}

#[test]
fn foreign_places_are_refused() {
    let scratch = Scratch::new();
    let root = scratch.root();
    let elsewhere = root.with_file_name("elsewhere");
    fs_err::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, &root).unwrap();
    assert!(matches!(refusal(&root), StoreError::File(_)));
    assert_eq!(fs_err::read_dir(&elsewhere).unwrap().count(), 0);

    fs_err::write(elsewhere.join("thesis.tex"), "x").unwrap();
    match refusal(&elsewhere) {
        StoreError::NotAStore { entry, .. } => assert_eq!(entry, "thesis.tex"),
        other => panic!("{other:?}"),
    }

    let file = root.with_file_name("file");
    fs_err::write(&file, "x").unwrap();
    assert!(matches!(refusal(&file), StoreError::File(_)));
}

#[test]
fn someone_elses_directory_is_refused() {
    let scratch = Scratch::new();
    scratch.open();
    // Only root can give a directory away; another user finds `/` foreign.
    let foreign = match std::os::unix::fs::chown(scratch.root(), Some(12_345), None) {
        Ok(()) => scratch.root(),
        Err(_) => "/".into(),
    };
    assert!(matches!(refusal(&foreign), StoreError::ForeignOwner { .. }));
}

#[test]
fn a_store_that_others_may_write_to_is_refused() {
    let scratch = Scratch::new();
    scratch.open();
    let open = std::fs::Permissions::from_mode(0o777);
    fs_err::set_permissions(scratch.root(), open).unwrap();
    assert!(matches!(refusal(&scratch.root()), StoreError::OpenToOthers { mode: 0o777, .. }));
}

#[test]
fn an_interrupted_creation_is_finished() {
    let scratch = Scratch::new();
    fs_err::create_dir_all(scratch.root().join("blobs")).unwrap();
    fs_err::write(scratch.root().join("store.json.1234"), "{").unwrap();
    publish(&scratch.open(), &[b"x"]);
}

#[test]
fn a_description_that_is_none_is_an_error() {
    let scratch = Scratch::new();
    scratch.open();
    fs_err::write(scratch.root().join("store.json"), "{}").unwrap();
    assert!(matches!(refusal(&scratch.root()), StoreError::Description { .. }));
}

#[test]
fn a_newer_format_is_read_and_not_written() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let guard = publish_named(&store, b"x\n");
    let digest = guard.digests()[0];
    guard.retain(&owner("s"), &call("c")).unwrap();
    drop((guard, store));
    let description = r#"{"store_id":7,"format":2,"new":{}}"#.replace('7', "\"id\"");
    fs_err::write(scratch.root().join("store.json"), description).unwrap();
    let leases = scratch.names_in("leases");

    let store = scratch.open();
    let uri = format!("artifact://{digest}/out").parse().unwrap();
    assert_eq!(store.open_artifact(&uri).unwrap().read(0..2).unwrap(), "x\n");
    assert_eq!(store.retained().unwrap().len(), 1);
    let (_capture, publication) = seal(&store, &[b"y"]);
    let newer = (2, 1);
    match store.publish(&publication).unwrap_err() {
        PublishError::NewerFormat { format, supported } => assert_eq!((format, supported), newer),
        other => panic!("{other:?}"),
    }
    assert!(matches!(store.borrow(digest), Err(OpenError::NewerFormat { .. })));
    assert!(matches!(store.release(&owner("s"), None), Err(RootError::NewerFormat { .. })));
    let options = CollectOptions { grace: std::time::Duration::ZERO, dry_run: false, force: false };
    assert!(matches!(store.collect(&options), Err(CollectError::NewerFormat { .. })));
    assert_eq!(scratch.names_in("leases"), leases);
}
