//! Capturing, sealing, and finding what others left.

use std::os::unix::fs::{MetadataExt, symlink};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use artifacts::hash::{ContentHasher, digest_of};
use artifacts::{Capture, CaptureError, CaptureMeta, CaptureRoot, Durability};
use bytes::Bytes;
use camino::Utf8Path;
use output_contract::{OutputDeclaration, Timestamp};
use tempfile::TempDir;

const NEVER: Duration = Duration::ZERO;
const ALWAYS: Duration = Duration::from_secs(u64::MAX);

pub(crate) fn scratch() -> (TempDir, CaptureRoot) {
    let dir = tempfile::tempdir().unwrap();
    let captures = Utf8Path::from_path(dir.path()).unwrap().join("captures");
    (dir, CaptureRoot::new(captures, Durability::Fast))
}

pub(crate) fn meta() -> CaptureMeta {
    CaptureMeta {
        session_id: "session".parse().unwrap(),
        call_id: "call".parse().unwrap(),
        parent_call_id: Some("parent".parse().unwrap()),
        tool: "bash".parse().unwrap(),
        title: "list".to_owned(),
        output: OutputDeclaration::named(["out", "err"]).unwrap(),
        started_at: Timestamp(1_700_000_000_000),
        timeout_ms: Some(30_000),
    }
}

fn names(root: &CaptureRoot) -> usize {
    fs_err::read_dir(root.path()).unwrap().count()
}

fn write(capture: &Capture, index: usize, bytes: &[u8]) -> artifacts::SealedCapture {
    let mut writer = capture.stream_writer(index).unwrap();
    writer.append(bytes).unwrap();
    writer.seal().unwrap()
}

#[test]
fn accepted_bytes_are_in_the_file_and_sealed_ones_are_read_only() {
    let (_dir, root) = scratch();
    let capture = root.create(&meta()).unwrap();
    let mut writer = capture.stream_writer(0).unwrap();
    assert_eq!(writer.path(), capture.dir().join("stream-0"));
    let mode = |path: &Utf8Path| fs_err::symlink_metadata(path).unwrap().mode() & 0o7777;
    assert_eq!((mode(capture.dir()), mode(writer.path())), (0o700, 0o600));
    for piece in [b"one\n".as_slice(), b"", b"t", b"wo"] {
        writer.append(piece).unwrap();
        assert_eq!(fs_err::metadata(writer.path()).unwrap().len(), writer.accepted());
    }
    assert_eq!(writer.accepted(), 7);
    let sealed = writer.seal().unwrap();
    assert_eq!((sealed.digest(), sealed.bytes(), sealed.lines()), (digest_of(b"one\ntwo"), 7, 2));
    assert_eq!(mode(sealed.path()), 0o444);
    assert!(sealed.sidecar().is_none() && sealed.facts().valid_utf8);

    let large = write(&capture, 1, &vec![b'x'; 300_000]);
    assert_eq!(large.sidecar().unwrap().facts(), large.facts());
    capture.remove().unwrap();
    assert_eq!(names(&root), 0);
}

/// Where hashing moves to a thread, and on both sides of it.
#[test]
fn large_files_have_the_facts_of_their_bytes() {
    const MOVED_AT: usize = 2 * 1024 * 1024;
    let (_dir, root) = scratch();
    let capture = root.create(&meta()).unwrap();
    let line = b"a line of text\n\xff\0";
    let content: Bytes = line.iter().copied().cycle().take(MOVED_AT + 600_000).collect();
    let mut index = 0;
    for len in [MOVED_AT - 1, MOVED_AT, MOVED_AT + 1, content.len()] {
        for piece in [10_000, 65_536, 262_144] {
            let content = content.slice(..len);
            let mut writer = capture.stream_writer(index).unwrap();
            for (number, at) in (0..len).step_by(piece).enumerate() {
                let piece = content.slice(at..len.min(at + piece));
                match number % 5 {
                    4 => writer.append(&piece).unwrap(),
                    _ => writer.append_shared(piece).unwrap(),
                }
            }
            let sealed = writer.seal().unwrap();
            assert_eq!(fs_err::read(sealed.path()).unwrap(), content);
            let mut whole = ContentHasher::new();
            whole.update(&content);
            let whole = whole.finish();
            assert_eq!(*sealed.facts(), whole.facts, "{len} in {piece}");
            assert_eq!(sealed.sidecar().unwrap().blocks(), whole.blocks, "{len} in {piece}");
            index += 1;
        }
    }
}

#[test]
fn files_are_made_once_and_only_by_plain_names() {
    let (_dir, root) = scratch();
    let capture = root.create(&meta()).unwrap();
    symlink("/etc/passwd", capture.dir().join("stream-1")).unwrap();
    capture.stream_writer(0).unwrap();
    capture.attachment_writer(0).unwrap();
    for index in [0, 1] {
        assert!(matches!(capture.stream_writer(index), Err(CaptureError::File(_))));
    }
    for name in ["", ".", "..", ".x", "a/b", "meta.json", "a\0"] {
        assert!(matches!(capture.writer(name), Err(CaptureError::Name { .. })), "{name:?}");
    }
}

#[test]
fn a_file_that_someone_else_changed_is_not_sealed() {
    let (_dir, root) = scratch();
    let capture = root.create(&meta()).unwrap();
    let mut writer = capture.stream_writer(0).unwrap();
    writer.append(b"12345").unwrap();
    fs_err::OpenOptions::new().write(true).open(writer.path()).unwrap().set_len(3).unwrap();
    match writer.seal() {
        Err(CaptureError::Size { accepted, found, .. }) => assert_eq!((accepted, found), (5, 3)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_dead_capture_is_sealed_as_it_is_on_disk() {
    let (_dir, root) = scratch();
    assert!(root.dead().unwrap().is_empty());
    let capture = root.create(&meta()).unwrap();
    let mut writer = capture.stream_writer(0).unwrap();
    writer.append(b"left\nbehind").unwrap();
    capture.attachment_writer(0).unwrap().append(b"picture").unwrap();
    assert!(root.dead().unwrap().is_empty());
    assert_eq!(root.live().unwrap(), [meta()]);
    drop((capture, writer));

    let [dead] = &root.dead().unwrap()[..] else { panic!("one is dead") };
    assert_eq!(*dead.meta(), meta());
    // It is ours now, and no one else's.
    assert!(root.dead().unwrap().is_empty());
    let digests = |recovered: &artifacts::RecoveredCapture| {
        recovered.streams.iter().map(|sealed| sealed.as_ref().unwrap().digest()).collect::<Vec<_>>()
    };
    let expected = [digest_of(b"left\nbehind"), digest_of(b"")];
    assert_eq!(digests(&dead.seal()), expected);
    assert_eq!(digests(&dead.seal()), expected);
}

#[test]
fn removing_a_dead_capture_removes_all_of_it() {
    let (_dir, root) = scratch();
    let capture = root.create(&meta()).unwrap();
    write(&capture, 0, b"x");
    drop(capture);
    let dead = root.dead().unwrap().pop().unwrap();
    let recovered = dead.seal();
    dead.remove().unwrap();
    assert_eq!((names(&root), root.dead().unwrap().len()), (0, 0));
    drop(recovered);
}

#[test]
fn a_removed_lock_file_does_not_hide_a_capture() {
    let (_dir, root) = scratch();
    let capture = root.create(&meta()).unwrap();
    let lock = format!("{}.lock", capture.dir());
    drop(capture);
    fs_err::remove_file(lock).unwrap();
    assert_eq!(root.dead().unwrap().len(), 1);
}

#[test]
fn orphans_are_what_no_one_can_describe() {
    let (_dir, root) = scratch();
    assert_eq!(root.remove_orphans(ALWAYS, false).unwrap(), 0);
    let described = root.create(&meta()).unwrap();
    let live = root.create(&meta()).unwrap();
    let orphan = root.create(&meta()).unwrap();
    for capture in [&live, &orphan] {
        fs_err::remove_file(capture.dir().join("meta.json")).unwrap();
    }
    // One of no call never described itself.
    let of_no_call = root.scratch().unwrap();
    assert_eq!(of_no_call.meta(), None);
    of_no_call.remove().unwrap();
    drop((described, orphan));
    let id = "0190163d-8694-739b-aea5-966c26f8ad91";
    fs_err::write(root.path().join(format!("{id}.lock")), "").unwrap();
    fs_err::write(root.path().join("notes.txt"), "not ours").unwrap();
    symlink("/tmp", root.path().join(id.replace("91", "92"))).unwrap();
    assert_eq!(names(&root), 9);
    assert_eq!(root.remove_orphans(NEVER, false).unwrap(), 0);
    assert_eq!(root.remove_orphans(ALWAYS, true).unwrap(), 1);
    assert_eq!(names(&root), 9);
    assert_eq!(root.remove_orphans(ALWAYS, false).unwrap(), 1);
    // The described one, the live one, and what is not ours.
    assert_eq!(names(&root), 6);
    assert_eq!(root.dead().unwrap().len(), 1);
    drop(live);
}

#[test]
fn captures_are_made_while_others_clean_up() {
    const ROUNDS: usize = 400;
    let (_dir, root) = scratch();
    let made = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let makers = [(); 2].map(|()| {
            scope.spawn(|| {
                for round in 0..ROUNDS {
                    let capture = root.create(&meta()).unwrap();
                    let sealed = write(&capture, 0, b"x");
                    // A lock that was removed while it was taken protects nothing.
                    assert!(fs_err::exists(format!("{}.lock", capture.dir())).unwrap());
                    assert!(sealed.path().exists());
                    drop(sealed);
                    if round % 2 == 0 {
                        capture.remove().unwrap();
                    }
                }
            })
        });
        let cleaners = [(); 2].map(|()| {
            scope.spawn(|| {
                let mut found = 0;
                loop {
                    let last = made.load(Ordering::Acquire);
                    root.live().unwrap();
                    root.remove_orphans(ALWAYS, false).unwrap();
                    for dead in root.dead().unwrap() {
                        assert_eq!(
                            dead.seal().streams[0].as_ref().unwrap().digest(),
                            digest_of(b"x")
                        );
                        dead.remove().unwrap();
                        found += 1;
                    }
                    if last {
                        return found;
                    }
                }
            })
        });
        let makers = makers.map(std::thread::ScopedJoinHandle::join);
        made.store(true, Ordering::Release);
        assert!(makers.iter().all(Result::is_ok));
        let found: usize = cleaners.map(|cleaner| cleaner.join().unwrap()).iter().sum();
        assert_eq!(found, ROUNDS);
    });
    assert_eq!(names(&root), 0);
}
