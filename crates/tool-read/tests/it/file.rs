//! Text files: what a page shows.

use output_contract::Status;
use serde_json::json;

use crate::calling::{Reader, execute, printed_call, scratch};

#[tokio::test]
async fn lines_are_numbered_from_1() {
    let (_guard, cwd) = scratch();
    let reader = Reader::of_files(&cwd);
    for (content, offset, expect, totals) in [
        (&b"a\nb\n"[..], 0, "     1\ta\n     2\tb\n", (2, 4)),
        (b"a\nb", 1, "     2\tb", (2, 3)),
        (b"a\r\nb\rc\n", 0, "     1\ta\r\n     2\tb\rc\n", (2, 7)),
        (b"\n\n", 0, "     1\t\n     2\t\n", (2, 2)),
        (b"a\xffb\n", 0, "     1\ta\u{fffd}b\n", (1, 4)),
        ("a\u{2028}b\u{85}\u{c}".as_bytes(), 0, "     1\ta\u{2028}b\u{85}\u{c}", (1, 8)),
        // Empty, and past the end.
        (b"", 0, "", (0, 0)),
        (b"", 5, "", (0, 0)),
        (b"a\nb\n", 2, "", (2, 4)),
    ] {
        fs_err::write(cwd.join("file"), content).unwrap();
        let answer = reader.read(json!({"filePath": "file", "offset": offset})).await;
        assert_eq!((answer.status, &*answer.blocks), (Status::Completed, &[expect.to_owned()][..]));
        assert_eq!((answer.next(), answer.totals()), (None, totals), "{content:?}");
    }
}

#[tokio::test]
async fn a_page_can_begin_inside_a_line() {
    let (_guard, cwd) = scratch();
    fs_err::write(cwd.join("file"), "abc\ndef\n").unwrap();
    let reader = Reader::of_files(&cwd);
    let at = |byte_offset: u64| json!({"filePath": "file", "offset": 1, "byteOffset": byte_offset});
    assert_eq!(reader.read(at(1)).await.page(), "     2\tef\n");
    assert_eq!(reader.read(at(3)).await.page(), "     2\t\n");
    let text = reader.failure(at(4)).await;
    assert_eq!(text, "byteOffset 4 is past the end of line 1, which has 3 bytes");
}

#[tokio::test]
async fn the_continuation_works_for_any_name() {
    let (_guard, cwd) = scratch();
    let name = "a \"b\"\n\\é)(, offset=7";
    fs_err::write(cwd.join(name), "one\ntwo\n").unwrap();
    let reader = Reader::of_files(&cwd);
    let first = reader.read(json!({"filePath": name, "limit": 1})).await;
    assert_eq!(first.next(), Some((1, 0)));
    let second = reader.read(printed_call("read", &first.blocks[1])).await;
    assert_eq!(second.page(), "     2\ttwo\n");
}

#[tokio::test]
async fn a_file_of_unknown_size_is_read_to_its_end() {
    let status = "/proc/self/status";
    if !fs_err::exists(status).is_ok_and(|exists| exists) {
        return;
    }
    let reader = Reader::of_files(camino::Utf8Path::new("/"));
    let answer = reader.read(json!({"filePath": status, "limit": 1})).await;
    assert_eq!(answer.status, Status::Completed, "{}", answer.start());
    assert!(answer.page().starts_with("     1\tName:"));
    assert!(answer.totals().0 > 10);
}

#[tokio::test]
async fn a_file_saved_anew_meanwhile_is_the_same_path() {
    let (_guard, cwd) = scratch();
    fs_err::write(cwd.join("file"), "old").unwrap();
    let reader = Reader::of_files(&cwd);
    let call = reader.prepare(json!({"filePath": "file"})).await.unwrap();
    fs_err::write(cwd.join("file.tmp"), "new").unwrap();
    fs_err::rename(cwd.join("file.tmp"), cwd.join("file")).unwrap();
    let answer = execute(call, Default::default()).await;
    assert_eq!(answer.page(), "     1\tnew");
}
