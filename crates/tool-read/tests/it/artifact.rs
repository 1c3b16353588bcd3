//! Artifacts: what is served, and how each refusal reads.

use output_contract::{Digest, Status};
use serde_json::json;

use crate::calling::{Reader, printed_call};
use crate::store::MemoryStore;

#[tokio::test]
async fn stored_content_and_nothing_else() {
    let mut store = MemoryStore::new();
    let out: &[u8] = b"one\r\ntwo\rtwo\n\0\x1b[1m[Truncated. Read more: read(filePath=\"x\")]\n";
    let named = store.add_named(&[("stdout", out), ("stderr", b"")]);
    let single = store.add("caf\u{e9} \u{2028}\u{c}\u{85}");
    let manifest = store.add_named(&[("stdout", out)]);
    let reader = Reader::of_artifacts(store, 102_400);
    for (uri, expect) in [
        (format!("artifact://{named}/stdout"), String::from_utf8(out.to_vec()).unwrap()),
        (format!("artifact://{named}/stderr"), String::new()),
        (single.to_string(), "caf\u{e9} \u{2028}\u{c}\u{85}".to_owned()),
    ] {
        let answer = reader.read(json!({"filePath": uri})).await;
        assert_eq!((answer.status, &*answer.blocks), (Status::Completed, &[expect][..]));
        assert_eq!(answer.next(), None);
    }
    // A bare manifest is its JSON.
    let answer = reader.read(json!({"filePath": format!("artifact://{manifest}")})).await;
    assert!(answer.page().starts_with(r#"{"type":"overspill/manifest","version":1,"streams":[{"#));
    assert_eq!(answer.totals(), (1, answer.page().len() as u64));
}

#[tokio::test]
async fn a_page_says_how_to_go_on_only_where_more_remains() {
    let mut store = MemoryStore::new();
    let uri = store.add("l1\nl2\n").to_string();
    let reader = Reader::of_artifacts(store, 102_400);
    let whole = reader.read(json!({"filePath": uri, "limit": 2})).await;
    assert_eq!(whole.blocks, ["l1\nl2\n"]);
    assert_eq!(
        serde_json::to_value(&whole.metadata).unwrap(),
        json!({"totalLines": 2, "totalBytes": 6})
    );
    assert_eq!(whole.display.as_deref(), Some("2 lines of 2"));

    let first = reader.read(json!({"filePath": uri, "limit": 1})).await;
    let note =
        format!("[2 lines and 6 bytes in all. Read more: read(filePath=\"{uri}\", offset=1)]");
    assert_eq!(first.blocks, ["l1\n", note.as_str()]);
    let expect = json!({"totalLines": 2, "totalBytes": 6, "nextOffset": 1, "nextByteOffset": 0});
    assert_eq!(serde_json::to_value(&first.metadata).unwrap(), expect);

    for offset in [2, 3, u64::MAX] {
        let past = reader.read(json!({"filePath": uri, "offset": offset})).await;
        assert_eq!((past.status, &*past.blocks), (Status::Completed, &[String::new()][..]));
        assert_eq!((past.next(), past.totals()), (None, (2, 6)));
    }
}

#[tokio::test]
async fn each_refusal_has_its_own_message() {
    let mut store = MemoryStore::new();
    let single = store.add("one\ntwo\n").to_string();
    let named = store.add_named(&[("results", b"r\n"), ("diagnostics", b"d\n")]);
    let corrupt = store.add("x".repeat(1000));
    store.damage(corrupt.digest, 256..512);
    let reader = Reader::of_artifacts(store, 100);

    let unknown = format!("artifact://{}", Digest::EMPTY);
    let text = reader.failure(json!({"filePath": unknown})).await;
    assert!(text.starts_with(&format!("unknown artifact {unknown}: nothing is stored")), "{text}");

    let text = reader.failure(json!({"filePath": format!("{single}/stdout"), "offset": 1})).await;
    assert!(text.contains("is not a named output"), "{text}");
    let works = reader.read(printed_call("read", &text)).await;
    assert_eq!((works.status, works.page()), (Status::Completed, "two\n"));

    let text = reader.failure(json!({"filePath": format!("artifact://{named}/stdout")})).await;
    assert!(text.contains("unknown stream"), "{text}");
    assert!(text.ends_with("the streams of this output are results, diagnostics"), "{text}");

    let corrupt = corrupt.to_string();
    let text = reader.failure(json!({"filePath": corrupt, "byteOffset": 400})).await;
    assert!(text.contains("corrupt: its stored bytes 256 to 512 are damaged"), "{text}");
    // What was verified is served.
    let answer = reader.read(json!({"filePath": corrupt, "byteOffset": 600})).await;
    assert_eq!(answer.page(), "x".repeat(100));

    let text = reader.failure(json!({"filePath": single, "offset": 1, "byteOffset": 4})).await;
    assert_eq!(text, "byteOffset 4 is past the end of line 1, which has 3 bytes");
}

#[tokio::test]
async fn bytes_that_are_no_text_are_decoded_at_the_edge() {
    let mut store = MemoryStore::new();
    let uri = store.add(&b"one\ntwo \xff\xfe bad\nthree\n"[..]).to_string();
    let reader = Reader::of_artifacts(store, 100);
    let answer = reader.read(json!({"filePath": uri, "offset": 1, "limit": 1})).await;
    assert_eq!(answer.page(), "two \u{fffd}\u{fffd} bad\n");
    assert_eq!((answer.next(), answer.totals()), (Some((2, 0)), (3, 21)));
}
