//! Wrong content at an address: found by publishing, and replaced.

use std::os::unix::fs::PermissionsExt;

use artifacts::hash::digest_of;
use artifacts::{OpenError, PublishError};
use camino::Utf8Path;
use output_contract::ArtifactUri;

use crate::scratch::{Scratch, collect, long_content, publish, publish_named, seal};

fn plant(path: &Utf8Path, content: &[u8]) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    if path.exists() {
        fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    fs_err::write(path, content).unwrap();
}

#[test]
fn a_good_publish_heals_what_was_planted() {
    let long = long_content(3);
    let mut planted_long = long.clone();
    planted_long[100_000] ^= 1;
    let cases: [(&[u8], &[u8]); 5] = [
        (b"right\n", b"wrong\n"),
        (b"right\n", b""),
        (b"right\n", b"longer than right\n"),
        (b"", b"not empty"),
        (&long, &planted_long),
    ];
    for (content, planted) in cases {
        let scratch = Scratch::new();
        let store = scratch.open();
        let digest = digest_of(content);
        plant(&scratch.path("blobs", &digest), planted);
        let opened = store.open_artifact(&ArtifactUri::bare(digest));
        assert!(matches!(opened, Err(OpenError::Corrupt { .. })), "{opened:?}");

        let guard = publish(&store, &[content]);
        assert_eq!(guard.healed(), [digest]);
        let artifact = store.open_artifact(&ArtifactUri::bare(digest)).unwrap();
        assert_eq!(artifact.read(0..artifact.bytes()).unwrap(), content);
        assert_eq!(publish(&store, &[content]).healed(), []);
        assert_eq!(scratch.names_in("captures"), [""; 0]);
    }
}

#[test]
fn a_planted_manifest_is_no_manifest_and_is_healed() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let good = publish_named(&store, b"x\n").digests()[0];
    let path = scratch.path("manifests", &good);
    let json = fs_err::read_to_string(&path).unwrap();
    plant(&path, json.replace("out", "err").as_bytes());
    let uri = ArtifactUri::stream(good, "err".parse().unwrap());
    assert!(matches!(store.open_artifact(&uri), Err(OpenError::Corrupt { .. })));
    assert!(matches!(store.borrow(good), Err(OpenError::Corrupt { .. })));
    assert_eq!(publish_named(&store, b"x\n").healed(), [good]);
    assert_eq!(fs_err::read_to_string(&path).unwrap(), json);
}

#[test]
fn a_symlink_at_an_address_is_replaced_and_not_followed() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let outside = scratch.root().with_file_name("outside");
    fs_err::write(&outside, "right\n").unwrap();
    let path = scratch.path("blobs", &digest_of(b"right\n"));
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&outside, &path).unwrap();
    assert_eq!(publish(&store, &[b"right\n"]).healed().len(), 1);
    assert!(fs_err::symlink_metadata(&path).unwrap().is_file());
}

#[test]
fn a_vanished_fan_out_directory_is_made_again() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let guard = publish(&store, &[b"x"]);
    let digest = guard.digests()[0];
    drop(guard);
    collect(&store);
    fs_err::remove_dir(scratch.path("blobs", &digest).parent().unwrap()).unwrap();
    publish(&store, &[b"x"]);
    assert!(scratch.path("blobs", &digest).exists());
}

#[test]
fn a_bad_sidecar_is_replaced_by_the_next_publish() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let long = long_content(3);
    let digest = publish(&store, &[&long]).digests()[0];
    let path = scratch.path("index", &digest);
    let good = fs_err::read(&path).unwrap();
    plant(&path, b"nonsense");
    publish(&store, &[&long]);
    assert_eq!(fs_err::read(&path).unwrap(), good);
}

#[test]
fn only_the_very_file_that_was_sealed_is_published() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let (capture, publication) = seal(&store, &[b"right\n"]);
    let path = publication.blobs[0].path().to_owned();
    fs_err::remove_file(&path).unwrap();
    let refused = store.publish(&publication).unwrap_err();
    assert!(matches!(refused, PublishError::CaptureChanged { .. }), "{refused:?}");
    fs_err::write(&path, "wrong\n").unwrap();
    let refused = store.publish(&publication).unwrap_err();
    assert!(matches!(refused, PublishError::CaptureChanged { .. }), "{refused:?}");
    capture.remove().unwrap();

    let elsewhere = Scratch::new();
    let (_capture, publication) = seal(&elsewhere.open(), &[b"x"]);
    let refused = store.publish(&publication).unwrap_err();
    assert!(matches!(refused, PublishError::ForeignCapture { .. }), "{refused:?}");
    assert_eq!(scratch.on_shelf("blobs"), [""; 0]);
}

#[test]
fn a_capture_can_be_published_again() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let (capture, publication) = seal(&store, &[b"x", b"x", b""]);
    let first = store.publish(&publication).unwrap();
    let second = store.publish(&publication).unwrap();
    assert_eq!(first.digests(), second.digests());
    assert_eq!((first.healed().len(), second.healed().len()), (0, 0));
    drop(first);
    collect(&store);
    capture.remove().unwrap();
    collect(&store);
    assert_eq!(scratch.on_shelf("blobs").len(), 2);
}
