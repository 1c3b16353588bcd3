//! A disk that takes no more: a real limit on the size of files.

use std::process::Command;

use artifacts::{CaptureError, CaptureRoot, Durability};
use camino::Utf8Path;

use crate::capture::{meta, scratch};

/// Far more than `ulimit -f` below allows, whatever unit the shell counts in.
const TOO_MUCH: usize = 100_000;

#[test]
fn what_was_accepted_survives_a_full_disk() {
    let (_dir, root) = scratch();
    // The limit is the process's, so another process has it. Its signal is
    // ignored, which exec keeps.
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 20; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "full_disk::under_a_limit", "--nocapture"])
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
    assert_eq!((writer.accepted(), writer.lines()), (accepted, 100));
    assert_eq!(fs_err::metadata(writer.path()).unwrap().len(), accepted);
    let sealed = writer.seal().unwrap();
    assert_eq!(fs_err::read(sealed.path()).unwrap(), line.repeat(100));
    assert_eq!((sealed.bytes(), sealed.lines()), (accepted, 100));
}
