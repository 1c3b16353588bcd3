//! What a page holds, and that pages chain.

use proptest::prelude::*;

use super::*;

/// An artifact in memory.
struct Memory(Vec<u8>);

impl BlockingReader for Memory {
    fn bytes(&self) -> u64 {
        self.0.len() as u64
    }

    fn lines(&self) -> u64 {
        let newlines = crate::hash::count_newlines(&self.0);
        newlines + u64::from(!self.0.is_empty() && !self.0.ends_with(b"\n"))
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes, ReadError> {
        Ok(Bytes::copy_from_slice(&self.0[range.start as usize..range.end as usize]))
    }

    fn line_start(&self, line: u64) -> Result<u64, ReadError> {
        let starts = memchr::memchr_iter(b'\n', &self.0).map(|at| at as u64 + 1);
        Ok([0].into_iter().chain(starts).nth(line as usize).unwrap_or(self.bytes()))
    }
}

const DEFAULT: PageRequest =
    PageRequest { offset: 0, limit: None, byte_offset: 0, page_bytes: 102_400 };

fn cut(content: impl AsRef<[u8]>, request: PageRequest) -> Result<Page, PageError> {
    page_blocking(&Memory(content.as_ref().to_vec()), &request)
}

/// Bytes, lines and continuation of a page.
fn shape(content: impl AsRef<[u8]>, request: PageRequest) -> (String, u64, Option<(u64, u64)>) {
    let page = cut(content, request).unwrap();
    let next = page.next.map(|next| (next.offset, next.byte_offset));
    (String::from_utf8(page.bytes.to_vec()).unwrap(), page.lines, next)
}

#[test]
fn a_limit_that_ends_with_the_artifact_has_no_continuation() {
    let limit = |limit| PageRequest { limit: Some(limit), ..DEFAULT };
    assert_eq!(shape("l1\nl2\n", limit(2)), ("l1\nl2\n".into(), 2, None));
    assert_eq!(shape("l1\nl2", limit(2)), ("l1\nl2".into(), 2, None));
    assert_eq!(shape("l1\nl2\n", limit(1)), ("l1\n".into(), 1, Some((1, 0))));
    assert_eq!(shape("l1\nl2\n", limit(u64::MAX)), ("l1\nl2\n".into(), 2, None));
    assert!(matches!(cut("l1\n", limit(0)), Err(PageError::LimitZero)));
}

#[test]
fn past_the_end_there_are_the_totals() {
    for (content, offset) in [("", 0), ("", 9), ("a\nb", 2), ("a\nb\n", 2), ("a", u64::MAX)] {
        let page = cut(content, PageRequest { offset, ..DEFAULT }).unwrap();
        assert_eq!((page.bytes.len(), page.lines, page.next), (0, 0, None), "{content:?}");
        assert_eq!(page.total_bytes, content.len() as u64);
    }
}

#[test]
fn at_most_2000_lines() {
    let content = "x\n".repeat(2001);
    for limit in [None, Some(2001), Some(9999)] {
        let page = cut(&content, PageRequest { limit, ..DEFAULT }).unwrap();
        assert_eq!((page.lines, page.bytes.len()), (2000, 4000));
        assert_eq!(page.next, Some(PagePosition { offset: 2000, byte_offset: 0 }));
    }
}

#[test]
fn a_page_without_a_limit_ends_at_the_last_whole_line_that_fits() {
    let bytes = |page_bytes| PageRequest { page_bytes, ..DEFAULT };
    assert_eq!(shape("aaa\nbbb\nccc\n", bytes(8)), ("aaa\nbbb\n".into(), 2, Some((2, 0))));
    assert_eq!(shape("aaa\nbbb\nccc\n", bytes(7)), ("aaa\n".into(), 1, Some((1, 0))));
    assert_eq!(shape("aaa\nbbb", bytes(7)), ("aaa\nbbb".into(), 2, None));
    assert_eq!(shape("aaaaaaaa\nb", bytes(5)), ("aaaaa".into(), 1, Some((0, 5))));
    assert_eq!(shape("aaaaa\nb", bytes(5)), ("aaaaa".into(), 1, Some((0, 5))));
    let rest = PageRequest { byte_offset: 5, ..bytes(5) };
    assert_eq!(shape("aaaaa\nb", rest), ("\nb".into(), 2, None));
}

#[test]
fn code_points_stay_whole_and_invalid_bytes_count_singly() {
    let at = |content: &[u8], page_bytes| {
        cut(content, PageRequest { page_bytes, ..DEFAULT }).unwrap().bytes.len()
    };
    assert_eq!(at("你好吗".as_bytes(), 4), 3);
    assert_eq!(at("你好吗".as_bytes(), 6), 6);
    assert_eq!(at("你好吗".as_bytes(), 8), 6);
    assert_eq!(at("你好吗".as_bytes(), 1), 3);
    assert_eq!(at("🦀🦀".as_bytes(), 7), 4);
    assert_eq!(at("🦀🦀".as_bytes(), 0), 4);
    assert_eq!(at(b"\xff\xff\xff\xff\xff\xff", 4), 4);
    // A sequence that is cut short by another byte is no code point.
    assert_eq!(at(b"aaa\xe4\xbda", 5), 5);
    assert_eq!(at(b"aaa\xe4\xbd", 4), 4);
    // Overlong, surrogate.
    assert_eq!(at(b"aaa\xc0\x80a", 4), 4);
    assert_eq!(at(b"aa\xed\xa0\x80a", 4), 4);
}

#[test]
fn a_byte_offset_lies_within_its_line() {
    let at = |offset, byte_offset| PageRequest { offset, byte_offset, ..DEFAULT };
    assert_eq!(shape("abc\nd\n", at(0, 1)), ("bc\nd\n".into(), 2, None));
    assert_eq!(shape("abc\nd\n", at(0, 3)), ("\nd\n".into(), 2, None));
    assert_eq!(shape("abc\nd", at(1, 1)), (String::new(), 0, None));
    for (content, offset, byte_offset, length) in
        [("abc\nd\n", 0, 4, 3), ("abc\nd\n", 1, 2, 1), ("abc\nd", 1, 2, 1), ("\n\n", 1, 1, 0)]
    {
        match cut(content, at(offset, byte_offset)) {
            Err(PageError::ByteOffsetPastLine { line_bytes, .. }) => assert_eq!(line_bytes, length),
            other => panic!("{other:?}"),
        }
    }
    assert!(cut("a", at(0, u64::MAX)).is_err());
}

#[test]
fn an_explicit_limit_holds_2_mib_and_no_more() {
    const MIB: usize = 1024 * 1024;
    let line = |len: usize| "x".repeat(len - 1) + "\n";
    let limit = |limit| PageRequest { limit: Some(limit), ..DEFAULT };
    let exact = line(MIB) + &line(MIB) + "rest";
    let page = cut(&exact, limit(2)).unwrap();
    assert_eq!((page.bytes.len(), page.lines), (2 * MIB, 2));
    assert_eq!(cut("x".repeat(2 * MIB), limit(1)).unwrap().next, None);

    for (content, works) in [
        (exact, Some(2)),
        (line(MIB) + &line(MIB + 1), Some(1)),
        (line(2 * MIB + 1), None),
        ("x".repeat(2 * MIB + 1), None),
    ] {
        let Err(PageError::TooLarge { suggestion, .. }) = cut(&content, limit(9)) else {
            panic!("{works:?} is not too large")
        };
        assert_eq!(suggestion, PageSuggestion { offset: 0, limit: works, byte_offset: 0 });
        let page = cut(&content, PageRequest { limit: suggestion.limit, ..DEFAULT }).unwrap();
        assert!(page.next.is_some() && !page.bytes.is_empty());
    }
}

#[test]
fn a_suggestion_reads_as_a_call() {
    let text = |limit, byte_offset| PageSuggestion { offset: 7, limit, byte_offset }.to_string();
    assert_eq!(text(Some(3), 0), "offset=7, limit=3");
    assert_eq!(text(Some(3), 2), "offset=7, limit=3, byteOffset=2");
    assert_eq!(text(None, 0), "offset=7, byteOffset=0 and no limit");
}

/// Content with a page size that it has a sensible number of pages of.
fn content_and_page_bytes() -> impl Strategy<Value = (Vec<u8>, u64)> {
    let pieces = |long: Range<usize>, most: usize| {
        let piece = prop_oneof![
            4 => Just(b"\n".to_vec()),
            4 => Just(b"abc".to_vec()),
            2 => Just("你🦀é".as_bytes().to_vec()),
            2 => proptest::collection::vec(any::<u8>(), 1..4),
            1 => long.prop_map(|n| vec![b'x'; n]),
        ];
        proptest::collection::vec(piece, 0..most).prop_map(|pieces| pieces.concat())
    };
    prop_oneof![(pieces(1..50, 30), 0u64..40), (pieces(30_000..70_000, 20), 40_000u64..200_000),]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]
    #[test]
    fn pages_chain_to_the_artifact(
        (content, page_bytes) in content_and_page_bytes(),
        limits in proptest::collection::vec(proptest::option::of(1u64..5), 1..4),
    ) {
        let artifact = Memory(content);
        let (mut position, mut chain) = (PagePosition { offset: 0, byte_offset: 0 }, Vec::new());
        for limit in limits.iter().cycle() {
            let PagePosition { offset, byte_offset } = position;
            let request = PageRequest { offset, limit: *limit, byte_offset, page_bytes };
            let page = page_blocking(&artifact, &request).unwrap();
            prop_assert!(page.lines <= 2000 && limit.is_none_or(|limit| page.lines <= limit));
            prop_assert!(limit.is_some() || page.bytes.len() as u64 <= page_bytes.max(4));
            let lossy = String::from_utf8_lossy(&page.bytes);
            if std::str::from_utf8(&artifact.0).is_ok() {
                prop_assert!(!lossy.contains(char::REPLACEMENT_CHARACTER));
            }
            chain.extend_from_slice(&page.bytes);
            let Some(next) = page.next else { break };
            prop_assert!(!page.bytes.is_empty());
            position = next;
        }
        prop_assert_eq!(chain, artifact.0);
    }
}
