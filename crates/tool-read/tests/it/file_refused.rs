//! Files that are not read: each with its own message.

use std::os::unix::net::UnixListener;

use output_contract::Status;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;
use tool_api::CancellationToken;

use crate::calling::{Reader, execute, scratch};

#[tokio::test]
async fn what_is_no_regular_file_is_named() {
    let (_guard, cwd) = scratch();
    let fifo = cwd.join("fifo");
    mknodat(CWD, fifo.as_str(), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let _socket = UnixListener::bind(cwd.join("socket")).unwrap();
    fs_err::os::unix::fs::symlink("fifo", cwd.join("to-fifo")).unwrap();
    let reader = Reader::of_files(&cwd);
    for (path, expect) in [
        ("fifo", format!("{cwd}/fifo is a FIFO")),
        ("to-fifo", format!("{cwd}/fifo is a FIFO")),
        ("socket", format!("{cwd}/socket is a socket")),
        ("/dev/null", "/dev/null is a character device".to_owned()),
    ] {
        let expect = format!("{expect}; only regular files and directories are read");
        assert_eq!(reader.failure(json!({"filePath": path})).await, expect);
    }
}

#[tokio::test]
async fn other_binary_files_are_named() {
    let (_guard, cwd) = scratch();
    let noise = [0x80, 0, 1, 0xff].repeat(64);
    let reader = Reader::of_files(&cwd);
    for (magic, expect) in [
        (&b"\x1f\x8b\x08"[..], "is a binary file (gzip, 259 bytes)"),
        (b"", "is a binary file (256 bytes)"),
    ] {
        fs_err::write(cwd.join("file"), [magic, &noise].concat()).unwrap();
        // Wherever the page would begin.
        for offset in [0, 9] {
            let text = reader.failure(json!({"filePath": "file", "offset": offset})).await;
            let instead = "text, images, PDFs and directories are read";
            assert_eq!(text, format!("{cwd}/file {expect}; {instead}"));
        }
    }
    let mut log = b"2026-01-01 worker ready\n".repeat(1_000);
    (0..log.len()).step_by(97).for_each(|at| log[at] = 0);
    fs_err::write(cwd.join("file"), log).unwrap();
    assert_eq!(reader.read(json!({"filePath": "file"})).await.status, Status::Completed);
}

#[tokio::test]
async fn a_missing_file_is_named_with_what_resembles_it() {
    let (_guard, cwd) = scratch();
    fs_err::create_dir(cwd.join("src")).unwrap();
    for name in ["main.rs", "lib.rs", "main.py"] {
        fs_err::write(cwd.join("src").join(name), "x").unwrap();
    }
    fs_err::os::unix::fs::symlink("src/gone.rs", cwd.join("dangling")).unwrap();
    let reader = Reader::of_files(&cwd);
    for (path, expect) in [
        ("src/mian.rs", format!("{cwd}/src/mian.rs; similar names in {cwd}/src: main.rs")),
        ("src/zzzzzz", format!("{cwd}/src/zzzzzz")),
        ("dangling", format!("{cwd}/src/gone.rs")),
        (
            "srx/main.rs",
            format!("{cwd}/srx/main.rs ({cwd}/srx does not exist); similar names in {cwd}: src"),
        ),
        ("src/lib.rs/x", format!("{cwd}/src/lib.rs/x: {cwd}/src/lib.rs is not a directory")),
    ] {
        let text = reader.failure(json!({"filePath": path})).await;
        assert_eq!(text, format!("no such file: {expect}"));
    }
}

#[tokio::test]
async fn a_file_that_must_not_be_read_is_not() {
    use std::os::unix::fs::PermissionsExt;

    let (_guard, cwd) = scratch();
    fs_err::write(cwd.join("secret"), "x").unwrap();
    fs_err::set_permissions(cwd.join("secret"), PermissionsExt::from_mode(0o000)).unwrap();
    let reader = Reader::of_files(&cwd);
    if rustix::process::geteuid().is_root() {
        // Root may read it; the message has a unit test.
        assert_eq!(reader.read(json!({"filePath": "secret"})).await.page(), "     1\tx");
    } else {
        let text = reader.failure(json!({"filePath": "secret"})).await;
        assert!(text.starts_with(&format!("permission denied: {cwd}/secret")), "{text}");
    }
}

#[tokio::test]
async fn a_link_put_in_the_way_after_approval_is_not_followed() {
    let (_guard, cwd) = scratch();
    let secrets = cwd.join("secrets");
    fs_err::create_dir_all(secrets.join("deep")).unwrap();
    fs_err::write(secrets.join("file"), "secret").unwrap();
    fs_err::write(secrets.join("deep/file"), "secret").unwrap();
    let reader = Reader::of_files(&cwd);

    // In place of the file, then of a directory near and far.
    for (replaced, target) in [("a/deep/file", "file"), ("a/deep", "deep"), ("a", "")] {
        fs_err::create_dir_all(cwd.join("a/deep")).unwrap();
        fs_err::write(cwd.join("a/deep/file"), "harmless").unwrap();
        let call = reader.prepare(json!({"filePath": "a/deep/file"})).await.unwrap();
        fs_err::rename(cwd.join(replaced), cwd.join("away")).unwrap();
        fs_err::os::unix::fs::symlink(secrets.join(target), cwd.join(replaced)).unwrap();

        let answer = execute(call, CancellationToken::new()).await;
        assert_eq!(answer.status, Status::Failed);
        assert!(answer.page().contains("became a symbolic link"), "{}", answer.page());
        // Approved anew, it is another file.
        let again = reader.read(json!({"filePath": "a/deep/file"})).await;
        assert_eq!(again.page(), "     1\tsecret", "{replaced}");

        fs_err::remove_file(cwd.join(replaced)).unwrap();
        fs_err::rename(cwd.join("away"), cwd.join(replaced)).unwrap();
    }
}

#[tokio::test]
async fn a_fifo_put_in_place_after_approval_does_not_hang() {
    let (_guard, cwd) = scratch();
    fs_err::write(cwd.join("file"), "x").unwrap();
    let reader = Reader::of_files(&cwd);
    let call = reader.prepare(json!({"filePath": "file"})).await.unwrap();
    fs_err::remove_file(cwd.join("file")).unwrap();
    let path = cwd.join("file");
    mknodat(CWD, path.as_str(), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let answer = execute(call, CancellationToken::new()).await;
    assert!(answer.page().contains("is a FIFO"), "{}", answer.page());
}
