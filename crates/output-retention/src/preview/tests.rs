//! Tests of previews: the cases one by one, then anything against the oracle.

use proptest::prelude::*;

use super::oracle::{self, Facts};
use super::*;
use crate::testing::{Stream, chunked, stream_bytes};
use crate::unit::model_text_escaped_len;

fn limits(max_lines: u64, max_bytes: u64, shape: Shape) -> Limits {
    Limits::new(max_lines, max_bytes, shape, 1).unwrap()
}

fn build(bytes: &[u8], limits: Limits, sizes: &[usize]) -> Preview {
    let mut builder = PreviewBuilder::new(limits);
    chunked(bytes, sizes).for_each(|chunk| builder.push(chunk));
    builder.finish()
}

fn facts(cut: &Cut<'_>) -> Facts {
    Facts {
        head: cut.head.to_vec(),
        tail: cut.tail.map(|tail| (tail.bytes.to_vec(), tail.lines, tail.at_line_start)),
        omitted_lines: cut.omitted_lines,
        next: cut.next,
    }
}

/// Cuts `bytes` and shows the cut: the head, the position as `@line+byte`, and
/// the tail with its lines, `~` where it begins inside one. Checked against the
/// oracle.
fn check(bytes: &[u8], limits: Limits) -> String {
    let preview = Preview::of(bytes, limits);
    let cut = preview.cut(&limits);
    assert_eq!(facts(&cut), oracle::cut(bytes, &limits), "{bytes:?}");
    assert_eq!(cut.shown_bytes + cut.omitted_bytes, bytes.len() as u64);
    let mut shown = cut.head.escape_ascii().to_string();
    if let Some(next) = cut.next {
        shown += &format!(" @{}+{}", next.line, next.byte_offset);
    }
    if let Some(tail) = cut.tail {
        let inside = if tail.at_line_start { "" } else { "~" };
        shown += &format!(" {inside}{}:{}", tail.lines, tail.bytes.escape_ascii());
    }
    shown
}

fn head(text: &str, max_lines: u64, max_bytes: u64) -> String {
    check(text.as_bytes(), limits(max_lines, max_bytes, Shape::Head))
}

fn head_tail(text: &str, max_lines: u64, max_bytes: u64) -> String {
    check(text.as_bytes(), limits(max_lines, max_bytes, Shape::HeadTail))
}

#[test]
fn only_a_newline_ends_a_line() {
    for (text, lines) in [
        ("", 0),
        ("a", 1),
        ("a\n", 1),
        ("\n", 1),
        ("a\nb", 2),
        ("\n\n", 2),
        ("a\rb\r\nc", 2),
        ("a\u{2028}b\u{c}c\u{85}d", 1),
    ] {
        let preview = Preview::of(text.as_bytes(), limits(9, 99, Shape::Head));
        assert_eq!(preview.total_lines(), lines, "{text:?}");
        assert_eq!(preview.total_bytes(), text.len() as u64);
    }
}

#[test]
fn exactly_the_limits_is_whole() {
    for cut in [head, head_tail] {
        assert_eq!(cut("a\nb\nc\n", 3, 6), "a\\nb\\nc\\n");
        assert_eq!(cut("a\nb\nc", 3, 5), "a\\nb\\nc");
        assert_eq!(cut("abcdef", 1, 6), "abcdef");
        assert_eq!(cut("", 1, 1), "");
    }
    assert_eq!(head("a\nb\nc\n", 2, 99), "a\\nb\\n @2+0");
    assert_eq!(head("a\nb\nc\n", 9, 5), "a\\nb\\n @2+0");
    assert_eq!(head("abcdef", 1, 5), "abcde @0+5");
    let escaped =
        |max| check(b"\x01\x01", limits(9, 9, Shape::Head).with_max_escaped_bytes_at_most(max));
    assert_eq!(escaped(12), "\\x01\\x01");
    assert_eq!(escaped(11), "\\x01 @0+1");
}

#[test]
fn a_head_ends_at_a_line_end_or_inside_a_line_that_never_fits() {
    // The second line would fit alone: it is left whole.
    assert_eq!(head("abc\ndefgh\n", 9, 6), "abc\\n @1+0");
    // It would not: what is left is filled.
    assert_eq!(head("abc\ndefghij\n", 9, 6), "abc\\nde @1+2");
    assert_eq!(head("abc\ndefghij", 9, 6), "abc\\nde @1+2");
    assert_eq!(head("abc\n€defghij", 9, 6), "abc\\n @1+0");
    // A line that is as long as the budget without its newline.
    assert_eq!(head("abcd\n", 9, 4), "abcd @0+4");
    // No lines are left for it.
    assert_eq!(head("abc\ndefghij\n", 1, 6), "abc\\n @1+0");
}

#[test]
fn a_first_character_larger_than_the_budget_gives_the_hint_alone() {
    assert_eq!(head("😀😀", 9, 3), " @0+0");
    assert_eq!(head("😀😀", 9, 4), "\\xf0\\x9f\\x98\\x80 @0+4");
}

#[test]
fn bytes_that_are_no_character_are_cut_one_by_one() {
    let limits = limits(9, 2, Shape::Head);
    assert_eq!(check(b"\xf0\x9f\x98x", limits), "\\xf0\\x9f @0+2");
    assert_eq!(check(b"\xff\xfe\xfd", limits), "\\xff\\xfe @0+2");
}

#[test]
fn head_and_tail_have_half_each() {
    assert_eq!(head_tail("1\n2\n3\n4\n5\n6\n", 4, 99), "1\\n2\\n @2+0 2:5\\n6\\n");
    assert_eq!(head_tail("1\n2\n3\n4\n5\n6\n", 5, 99), "1\\n2\\n3\\n @3+0 2:5\\n6\\n");
    assert_eq!(head_tail("1\n2\n3\n4\n5\n6", 4, 99), "1\\n2\\n @2+0 2:5\\n6");
    // A zero part is left out.
    assert_eq!(head_tail("1\n2\n3\n", 1, 99), "1\\n @1+0");
    assert_eq!(head_tail("123", 9, 1), "1 @0+1");
}

#[test]
fn a_tail_begins_inside_a_line_that_never_fits() {
    assert_eq!(head_tail("abcdefghijklmnop", 9, 8), "abcd @0+4 ~1:mnop");
    assert_eq!(head_tail("abcdefghijklmno\n", 9, 8), "abcd @0+4 ~1:mno\\n");
    assert_eq!(head_tail("a\nbcdefghijkl\nm\n", 9, 10), "a\\nbcd @1+3 ~2:kl\\nm\\n");
    // The line before would fit alone: it is left whole.
    assert_eq!(head_tail("abcdefghijk\n123\n4\n", 9, 8), "abcd @0+4 1:4\\n");
    // Nothing but the end of a line is nothing of it.
    assert_eq!(head_tail("abcdefghijk\n123\n", 9, 10), "abcde @0+5 1:123\\n");
    // The tail may begin on a character only.
    assert_eq!(head_tail("abcdefgh€", 9, 4), "ab @0+2");
}

#[test]
fn a_short_line_before_and_after_a_long_one() {
    let long = "x".repeat(10_000_000);
    let limits = limits(2_000, 51_200, Shape::HeadTail);
    let preview = Preview::of(format!("first\n{long}\nlast\n").as_bytes(), limits);
    let cut = preview.cut(&limits);
    assert!(cut.head.starts_with(b"first\nxxx") && cut.head.len() == 25_600);
    assert_eq!(cut.next, Some(Position { line: 1, byte_offset: 25_594 }));
    let tail = cut.tail.unwrap();
    assert!(tail.bytes.ends_with(b"xxx\nlast\n") && tail.bytes.len() == 25_600);
    assert_eq!((tail.lines, tail.at_line_start, cut.omitted_lines), (2, false, 0));
}

#[test]
fn the_line_after_what_fits_is_known_up_to_the_budget() {
    let line = |byte: u8, len: usize| [vec![byte; len - 1], b"\n".to_vec()].concat();
    let rest = vec![b'z'; 9_000];
    // As long as the budget: left whole. Longer by one: what is left is filled.
    let head = limits(99, 1_000, Shape::Head);
    for (len, shown, line_bytes) in [(1_000, 950, 0), (1_001, 1_000, 50)] {
        let bytes = [line(b'x', 950), line(b'y', len), rest.clone()].concat();
        let preview = build(&bytes, head, &[77]);
        let cut = preview.cut(&head);
        assert_eq!(facts(&cut), oracle::cut(&bytes, &head));
        let next = Some(Position { line: 1, byte_offset: line_bytes });
        assert_eq!((cut.shown_bytes, cut.next), (shown, next));
    }
    let both = limits(99, 8_000, Shape::HeadTail);
    for (len, shown) in [(4_000, 3_900), (4_001, 4_000)] {
        let bytes = [rest.clone(), line(b'x', 9), line(b'y', len), line(b'z', 3_900)].concat();
        let preview = build(&bytes, both, &[77]);
        let cut = preview.cut(&both);
        assert_eq!(facts(&cut), oracle::cut(&bytes, &both));
        assert_eq!(cut.tail.unwrap().bytes.len(), shown);
    }
}

#[test]
fn a_cut_moves_off_a_short_sequence() {
    assert_eq!(head("ab\x1b[31mcdefgh", 9, 5), "ab @0+2");
    assert_eq!(head("ab\x1b[31mcdefgh", 9, 7), "ab\\x1b[31m @0+7");
    // Unless the line starts with it.
    assert_eq!(head("\x1b[31mcdefgh", 9, 3), "\\x1b[3 @0+3");
    assert_eq!(head_tail("abcdefghij\x1b[31mkl", 9, 10), "abcde @0+5 ~1:kl");
    assert_eq!(head_tail("abcdefghij\x1b[31mkl", 9, 14), "abcdefg @0+7 ~1:\\x1b[31mkl");

    // The longest that it moves before, and one byte more.
    let osc = |len: usize| format!("ab\x1b]{}\x07cd", "x".repeat(len - 3));
    assert_eq!(head(&osc(64), 9, 5), "ab @0+2");
    assert_eq!(head(&osc(65), 9, 5), "ab\\x1b]x @0+5");
    // Inside a longer one, still not inside a character.
    let title = format!("ab\x1b]{}\x07cd", "é".repeat(50));
    assert_eq!(head(&title, 9, 5), "ab\\x1b] @0+4");
    // An unfinished one, up to the end of the stream.
    assert_eq!(head("ab\x1b]never", 9, 5), "ab @0+2");
    // Its terminator is part of it.
    assert_eq!(head("ab\x1b]x\x1b\\cdefgh", 9, 6), "ab @0+2");
}

#[test]
fn a_tail_knows_a_sequence_that_began_within_the_context() {
    let limits = limits(9, 20, Shape::HeadTail);
    let tail = |before: usize| {
        let text = format!("{}\x1b]{}\x07end", "y".repeat(3_000), "x".repeat(before));
        let preview = build(text.as_bytes(), limits, &[7]);
        let tail = preview.cut(&limits).tail.unwrap();
        String::from_utf8_lossy(tail.bytes).into_owned()
    };
    // The tail's ten bytes are six of the sequence, its end, and `end`.
    assert_eq!(tail(6 + CONTEXT - 2), "end");
    assert_eq!(tail(6 + CONTEXT - 1), "xxxxxx\x07end");
    const CONTEXT: usize = tail::CONTEXT_BYTES;
}

#[test]
fn control_characters_fill_the_escaped_limit_first() {
    let limits = limits(9, 51_200, Shape::Head).with_max_escaped_bytes_at_most(60);
    assert_eq!(Preview::of(&[1; 100], limits).cut(&limits).shown_bytes, 10);
    assert_eq!(Preview::of(&[b'"'; 100], limits).cut(&limits).shown_bytes, 30);
    assert_eq!(Preview::of(&[b'x'; 100], limits).cut(&limits).shown_bytes, 60);
}

#[test]
fn memory_is_bounded_for_any_chunking() {
    let limits = limits(2_000, 51_200, Shape::HeadTail);
    for size in [1, 4_095, 1 << 20] {
        let mut builder = PreviewBuilder::new(limits);
        let chunk = vec![b'x'; size];
        (0..(3 << 20) / size).for_each(|_| builder.push(&chunk));
        let preview = builder.finish();
        let kept = preview.kept_start().len() + preview.kept_end().len();
        assert!(kept < 4 * 51_200, "{kept}");
        assert_eq!(preview.cut(&limits).shown_bytes, 51_200);
    }
}

fn any_limits() -> impl Strategy<Value = Limits> {
    let bytes = prop_oneof![3 => 1u64..60, 1 => 60u64..300];
    let shape = prop_oneof![Just(Shape::Head), Just(Shape::HeadTail)];
    (1u64..9, bytes, shape, prop_oneof![1usize..90, Just(1_000)]).prop_map(
        |(lines, bytes, shape, escaped)| {
            limits(lines, bytes, shape).with_max_escaped_bytes_at_most(escaped)
        },
    )
}

/// Streams longer than what a builder with such limits keeps, as often as not.
fn any_stream() -> impl Strategy<Value = Stream> {
    let filler = prop_oneof![
        4 => Just(Vec::new()),
        1 => Just(b"f".repeat(2_000)),
        1 => Just("ü\n".repeat(1_000).into_bytes()),
        1 => Just(b"\xf0\x9f\x98".repeat(700)),
    ];
    (stream_bytes(25), filler, stream_bytes(25))
        .prop_map(|(a, b, c)| Stream([&*a, &*b, &*c].concat()))
}

proptest! {
    #[test]
    fn a_cut_is_what_the_rules_say(
        bytes in any_stream(),
        limits in any_limits(),
        sizes in prop::collection::vec(prop_oneof![1usize..20, 1usize..2_000], 1..6),
    ) {
        let preview = build(&bytes, limits, &sizes);
        prop_assert_eq!(&preview, &Preview::of(&bytes, limits));
        prop_assert_eq!(preview.total_bytes(), bytes.len() as u64);
        let cut = preview.cut(&limits);
        prop_assert_eq!(facts(&cut), oracle::cut(&bytes, &limits));

        // What must hold whatever the rules are.
        let tail = cut.tail.map_or(&b""[..], |tail| tail.bytes);
        prop_assert!(bytes.starts_with(cut.head) && bytes.ends_with(tail));
        prop_assert_eq!(cut.shown_bytes, (cut.head.len() + tail.len()) as u64);
        prop_assert_eq!(cut.shown_bytes + cut.omitted_bytes, bytes.len() as u64);
        prop_assert!(cut.shown_bytes <= limits.max_bytes());
        let escaped = model_text_escaped_len(cut.head) + model_text_escaped_len(tail);
        prop_assert!(escaped <= limits.max_escaped_bytes());
        let within = preview.total_lines() <= limits.max_lines()
            && bytes.len() as u64 <= limits.max_bytes()
            && model_text_escaped_len(&bytes) <= limits.max_escaped_bytes();
        prop_assert_eq!(cut.is_truncated(), !within);
        prop_assert_eq!(cut.is_truncated(), cut.omitted_bytes > 0);
        if let Some(next) = cut.next {
            let lines = bytes.split_inclusive(|&byte| byte == b'\n');
            let rest = lines.skip(usize::try_from(next.line).unwrap()).flatten().copied();
            let rest: Vec<u8> = rest.skip(usize::try_from(next.byte_offset).unwrap()).collect();
            prop_assert_eq!(rest, &bytes[cut.head.len()..]);
        }
    }

    #[test]
    fn a_smaller_cut_is_that_of_a_new_preview(
        bytes in any_stream(),
        limits in any_limits(),
        other in any_limits(),
    ) {
        let preview = Preview::of(&bytes, limits);
        let bounded = other.with_max_bytes_at_most(limits.max_bytes());
        let fresh = Preview::of(&bytes, bounded);
        prop_assert_eq!(preview.cut(&other), fresh.cut(&bounded));
    }

    #[test]
    fn text_is_cut_at_most_three_bytes_short(
        text in "([a-z]|é|€|😀|\u{301}|\u{200d}|🇩🇪){10,60}", max_bytes in 4u64..40,
    ) {
        let limits = limits(9, max_bytes, Shape::Head);
        let preview = Preview::of(text.as_bytes(), limits);
        let cut = preview.cut(&limits);
        prop_assert!(std::str::from_utf8(cut.head).is_ok());
        prop_assert!(cut.shown_bytes <= max_bytes);
        prop_assert!(!cut.is_truncated() || cut.shown_bytes + 3 >= max_bytes);
    }
}
