//! The sizes of pages, and that pages chain, for artifacts and files alike.

use std::sync::Arc;

use output_contract::Status;
use proptest::prelude::*;
use serde_json::json;
use tool_read::ReadConfig;

use crate::calling::{Answer, Reader, block_on, printed_call, scratch};
use crate::store::MemoryStore;

const MIB: usize = 1024 * 1024;

/// What a page of a file shows, without the numbers, which are checked.
fn unnumbered(page: &str, first: u64) -> String {
    let lines = page.split_inclusive('\n').zip(first + 1..);
    let strip = |(line, number): (&str, u64)| {
        let prefix = format!("{number:>6}\t");
        line.strip_prefix(&prefix)
            .unwrap_or_else(|| panic!("{line:?} is not line {number}"))
            .to_owned()
    };
    lines.map(strip).collect()
}

#[tokio::test]
async fn a_line_of_300_kb_is_read_in_bounded_pages() {
    let line = "0123456789".repeat(30_000);
    let (_guard, cwd) = scratch();
    fs_err::write(cwd.join("long"), &line).unwrap();
    let mut store = MemoryStore::new();
    let uri = store.add(line.clone()).to_string();
    let reader = Reader::over(Arc::new(store), ReadConfig::new(&cwd));

    let pages = reader.chain(&uri, None).await;
    let ends: Vec<_> = pages.iter().map(Answer::next).collect();
    assert_eq!(ends, [Some((0, 102_400)), Some((0, 204_800)), None]);
    assert_eq!(pages.iter().map(Answer::page).collect::<String>(), line);
    assert!(pages.iter().all(|page| page.totals() == (1, 300_000)));

    let pages = reader.chain("long", None).await;
    let ends: Vec<_> = pages.iter().map(Answer::next).collect();
    assert_eq!(ends, [Some((0, 102_400)), Some((0, 204_800)), None]);
    assert_eq!(pages.iter().map(|page| unnumbered(page.page(), 0)).collect::<String>(), line);
}

#[tokio::test]
async fn more_than_2000_lines_are_2000() {
    let text = "x\n".repeat(4_001);
    let (_guard, cwd) = scratch();
    fs_err::write(cwd.join("lines"), &text).unwrap();
    let mut store = MemoryStore::new();
    let uri = store.add(text).to_string();
    let reader = Reader::over(Arc::new(store), ReadConfig::new(&cwd));
    for file_path in [uri.as_str(), "lines"] {
        for limit in [None, Some(2_000), Some(2_001), Some(u64::MAX)] {
            let page = reader.read(json!({"filePath": file_path, "limit": limit})).await;
            assert_eq!(page.page().lines().count(), 2_000, "{file_path} {limit:?}");
            assert_eq!((page.next(), page.totals()), (Some((2_000, 0)), (4_001, 8_002)));
            assert_eq!(page.display.as_deref(), Some("2000 lines of 4001"));
        }
    }
}

#[tokio::test]
async fn a_limit_may_ask_for_2_mib_and_no_more() {
    let line = |bytes: usize| "x".repeat(bytes - 1) + "\n";
    let mut store = MemoryStore::new();
    let exact = store.add(line(MIB) + &line(MIB)).to_string();
    let over = store.add(line(MIB) + &line(MIB) + "xxxxxx").to_string();
    let long_line = store.add(line(2 * MIB + 1) + "x").to_string();
    let undecodable = store.add(vec![0xff; MIB]).to_string();
    let reader = Reader::of_artifacts(store, 102_400);

    let page = reader.read(json!({"filePath": exact, "limit": 2})).await;
    assert_eq!((page.status, page.page().len(), page.next()), (Status::Completed, 2 * MIB, None));
    // The note beside the page is not counted.
    let page = reader.read(json!({"filePath": over, "limit": 2})).await;
    assert_eq!((page.status, page.page().len()), (Status::Completed, 2 * MIB));
    assert_eq!(page.next(), Some((2, 0)));

    for (uri, limit) in [(&over, 3), (&long_line, 1), (&undecodable, 1)] {
        let text = reader.failure(json!({"filePath": uri, "limit": limit})).await;
        assert!(
            text.starts_with("the lines asked for are larger, as shown, than the 2097152 bytes"),
            "{text}"
        );
        let works = reader.read(printed_call("read", &text)).await;
        assert_eq!(works.status, Status::Completed);
        assert!(works.next().is_some());
    }
    // From inside a line, the proposed call begins inside it too.
    let text =
        reader.failure(json!({"filePath": over, "byteOffset": 5, "limit": 9, "offset": 0})).await;
    assert_eq!(
        printed_call("read", &text),
        json!({"filePath": over, "offset": 0, "byteOffset": 5}),
    );
}

#[tokio::test]
async fn a_file_has_the_same_limit_as_shown() {
    let (_guard, cwd) = scratch();
    fs_err::write(cwd.join("fits"), "x".repeat(2 * MIB - 100)).unwrap();
    fs_err::write(cwd.join("over"), "x".repeat(2 * MIB + 1)).unwrap();
    fs_err::write(cwd.join("numbers"), ("x".repeat(1_047) + "\n").repeat(2_000)).unwrap();
    let reader = Reader::of_files(&cwd);
    let page = reader.read(json!({"filePath": "fits", "limit": 1})).await;
    assert_eq!((page.status, page.next()), (Status::Completed, None));
    // The second fits by its bytes, but not with its numbers.
    for name in ["over", "numbers"] {
        let text = reader.failure(json!({"filePath": name, "limit": 2_000})).await;
        assert!(
            text.starts_with("the lines asked for are larger, as shown, than the 2097152 bytes"),
            "{text}"
        );
        let works = reader.read(printed_call("read", &text)).await;
        assert_eq!(works.status, Status::Completed);
        assert!(works.next().is_some());
    }
}

#[tokio::test]
async fn the_largest_page_without_a_limit_fits_whatever_it_decodes_to() {
    let page_bytes = output_contract::limits::MAX_DEFAULT_PAGE_BYTES;
    let (_guard, cwd) = scratch();
    // As much as may be undecodable in a text file, and as many lines.
    let line = [vec![0xff; 120], vec![b'x'; 310], b"\n".to_vec()].concat();
    fs_err::write(cwd.join("odd"), line.repeat(3_000)).unwrap();
    let mut store = MemoryStore::new();
    let uri = store.add(vec![0xff; 2 * MIB]).to_string();
    let config = ReadConfig { page_bytes, ..ReadConfig::new(&cwd) };
    let reader = Reader::over(Arc::new(store), config);
    for file_path in [uri.as_str(), "odd"] {
        let page = reader.read(json!({"filePath": file_path})).await;
        assert_eq!(page.status, Status::Completed, "{}", page.start());
        assert!(page.next().is_some());
    }
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => Just("\n".to_owned()),
        3 => "[a-z ]{1,12}",
        2 => Just("你🦀e\u{301}\u{2028}\u{85}\u{c}".to_owned()),
        1 => Just("\r\n".to_owned()),
        1 => Just("\r".to_owned()),
        1 => (1usize..200).prop_map(|n| "é".repeat(n)),
    ];
    proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pages_chain_to_the_whole(
        text in text(),
        page_bytes in prop_oneof![4u64..40, 40u64..1_000],
        limit in proptest::option::of(1u64..5),
    ) {
        let (_guard, cwd) = scratch();
        fs_err::write(cwd.join("text"), &text).unwrap();
        let mut store = MemoryStore::new();
        let uri = store.add(text.clone()).to_string();
        let config = ReadConfig { page_bytes, ..ReadConfig::new(&cwd) };
        let reader = Reader::over(Arc::new(store), config);
        let (artifact, file) = block_on(async {
            (reader.chain(&uri, limit).await, reader.chain("text", limit).await)
        });
        let whole: String = artifact.iter().map(Answer::page).collect();
        prop_assert_eq!(&whole, &text);

        let mut first = 0;
        let mut whole = String::new();
        for page in &file {
            whole += &unnumbered(page.page(), first);
            first = page.next().map_or(first, |(offset, _)| offset);
        }
        prop_assert_eq!(whole, text);
        // One rule cuts both.
        let ends = |pages: &[Answer]| -> Vec<_> {
            pages.iter().map(|page| (page.next(), page.totals())).collect()
        };
        prop_assert_eq!(ends(&artifact), ends(&file));
    }
}
