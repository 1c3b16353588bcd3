//! A disk that takes no more: a real limit on the size of files.

use std::process::Command;

use artifacts::hash::digest_of;
use artifacts::{CaptureError, CaptureRoot, Durability};
use bytes::Bytes;
use camino::Utf8Path;

use crate::capture::{meta, scratch};

/// Far more than `ulimit -f` below allows, whatever unit the shell counts in.
const TOO_MUCH: usize = 100_000;

#[test]
fn what_was_accepted_survives_a_full_disk() {
    run_with_file_limit("20", "full_disk::under_a_limit");
}

#[test]
fn what_was_accepted_of_a_large_file_survives_a_full_disk() {
    // At least 4 MiB, at most 8, whatever unit the shell counts in.
    run_with_file_limit("8192", "full_disk::large_under_a_limit");
}

/// The limit is the process's, so another process has it. Its signal is
/// ignored, which exec keeps.
fn run_with_file_limit(limit: &str, test: &str) {
    let (_dir, root) = scratch();
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f $0; exec \"$@\"", limit])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env("CAPTURE_ROOT", root.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn under_a_limit() {
    let Ok(root) = std::env::var("CAPTURE_ROOT") else { return };
    let root = CaptureRoot::new(Utf8Path::new(&root).to_owned(), Durability::Durable);
    let capture = root.create(&meta()).unwrap();
    let mut writer = capture.stream_writer(0).unwrap();
    let line = b"0123456789 a line of 32 bytes..\n";
    for _ in 0..100 {
        writer.append(line).unwrap();
    }
    let accepted = writer.accepted();
    // The first part of this one still fits, and is taken back.
    for _ in 0..2 {
        let error = writer.append(&vec![b'x'; TOO_MUCH]).unwrap_err();
        assert!(matches!(error, CaptureError::File(_)));
        assert_eq!(error.detail(), "file too large");
    }
    assert_eq!(writer.append(b"small").unwrap_err().detail(), "file too large");
    assert_eq!(writer.error().unwrap().detail(), "file too large");
    assert_eq!(writer.accepted(), accepted);
    assert_eq!(fs_err::metadata(writer.path()).unwrap().len(), accepted);
    let sealed = writer.seal().unwrap();
    assert_eq!(fs_err::read(sealed.path()).unwrap(), line.repeat(100));
    assert_eq!((sealed.bytes(), sealed.lines()), (accepted, 100));
}

/// Most of it is hashed on a thread by then.
#[test]
fn large_under_a_limit() {
    let Ok(root) = std::env::var("CAPTURE_ROOT") else { return };
    let root = CaptureRoot::new(Utf8Path::new(&root).to_owned(), Durability::Fast);
    let capture = root.create(&meta()).unwrap();
    let mut writer = capture.stream_writer(0).unwrap();
    let pieces: Vec<Bytes> = (0..u8::MAX).map(|n| vec![n; 100_000].into()).collect();
    let mut accepted: Vec<u8> = Vec::new();
    for piece in pieces {
        match writer.append_shared(piece.clone()) {
            Ok(()) => accepted.extend(&piece),
            Err(error) => assert_eq!(error.detail(), "file too large"),
        }
    }
    assert!(accepted.len() > 4_000_000, "{}", accepted.len());
    assert_eq!(writer.accepted(), accepted.len() as u64);
    let sealed = writer.seal().unwrap();
    assert_eq!(fs_err::read(sealed.path()).unwrap(), accepted);
    assert_eq!((sealed.digest(), sealed.bytes()), (digest_of(&accepted), accepted.len() as u64));
}
