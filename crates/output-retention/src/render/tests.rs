//! Tests of the rendered text: every form to the letter, then its bounds.

use insta::assert_snapshot;
use output_contract::limits::{DEFAULT_MAX_BYTES, DEFAULT_MAX_LINES, MAX_MODEL_TEXT_BYTES};
use output_contract::{Digest, Exit, Incomplete, IncompleteReason, Status};
use proptest::prelude::*;

use super::*;
use crate::preview::Shape;
use crate::testing::{Stream, stream_bytes};

const DONE: Ending = Ending::of(Status::Completed);
const DIGEST: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

fn limits(max_lines: u64, max_bytes: u64, shape: Shape) -> Limits {
    Limits::new(max_lines, max_bytes, shape, 2).unwrap()
}

fn tool() -> Hints {
    Hints::Tool { read_tool: "read".to_owned() }
}

fn cli() -> Hints {
    Hints::Cli { program: "overspill".to_owned() }
}

/// Renders named streams that were kept.
fn named(streams: &[(&str, &[u8])], limits: Limits, ending: &Ending, hints: &Hints) -> Rendered {
    let names: Vec<StreamName> = streams.iter().map(|(name, _)| name.parse().unwrap()).collect();
    let uris: Vec<ArtifactUri> =
        names.iter().map(|name| ArtifactUri::stream(Digest::EMPTY, name.clone())).collect();
    let previews: Vec<Preview> =
        streams.iter().map(|(_, bytes)| Preview::of(bytes, limits)).collect();
    let views: Vec<StreamView<'_>> = (0..streams.len())
        .map(|index| StreamView {
            name: Some(&names[index]),
            preview: &previews[index],
            artifact: Some(&uris[index]),
        })
        .collect();
    render(&views, &limits, ending, hints)
}

/// Renders a single output.
fn single(bytes: &[u8], limits: Limits, ending: &Ending, hints: &Hints, is_kept: bool) -> Rendered {
    let uri = ArtifactUri::bare(Digest::EMPTY);
    let preview = Preview::of(bytes, limits);
    let artifact = is_kept.then_some(&uri);
    render(&[StreamView { name: None, preview: &preview, artifact }], &limits, ending, hints)
}

fn text(rendered: &Rendered) -> String {
    rendered.text.replace(DIGEST, "<digest>")
}

#[test]
fn named_streams_in_head_shape() {
    let streams = [("stdout", &b"1\n2\n3\n"[..]), ("stderr", b"e1\ne2\ne3")];
    let rendered = named(&streams, limits(2, 99, Shape::Head), &DONE, &tool());
    assert_snapshot!(text(&rendered), @r#"
    [stdout]
    1
    2
    [Truncated. Read more: read(filePath="artifact://<digest>/stdout", offset=2)]

    [stderr]
    e1
    e2
    [Truncated. Read more: read(filePath="artifact://<digest>/stderr", offset=2)]
    "#);
    assert!(rendered.text.ends_with("offset=2)]"));
    assert_eq!(
        rendered.streams[0],
        Shown {
            shown_bytes: 4,
            truncated: true,
            next: Some(Position { line: 2, byte_offset: 0 }),
            binary: false
        }
    );
}

#[test]
fn only_truncated_streams_have_a_hint_and_empty_ones_only_a_heading() {
    let streams = [("results", &b"1\n2\n3\n"[..]), ("empty", b""), ("notes", b"n\n")];
    let rendered = named(&streams, limits(2, 99, Shape::Head), &DONE, &tool());
    assert_eq!(
        text(&rendered),
        "[results]\n1\n2\n[Truncated. Read more: read(filePath=\"artifact://<digest>/results\", \
         offset=2)]\n\n[empty]\n\n[notes]\nn\n"
    );
    let rendered =
        named(&[("stdout", b"x"), ("stderr", b"")], limits(2, 9, Shape::Head), &DONE, &tool());
    assert_eq!(rendered.text, "[stdout]\nx\n\n[stderr]");
    let shown = Shown { shown_bytes: 0, truncated: false, next: None, binary: false };
    assert_eq!(rendered.streams[1], shown);
}

#[test]
fn named_streams_in_head_tail_shape() {
    let streams = [("stdout", &b"1\n2\n3\n4\n5\n6\n"[..]), ("stderr", b"0123456789")];
    let rendered = named(&streams, limits(4, 8, Shape::HeadTail), &DONE, &cli());
    assert_snapshot!(text(&rendered), @r"
    [stdout]
    1
    2
    [Truncated. Read more: overspill read artifact://<digest>/stdout --offset 2]
    [Last 2 of 6 lines]
    5
    6

    [stderr]
    0123
    [Truncated. Read more: overspill read artifact://<digest>/stderr --offset 0 --byte-offset 4]
    [Last 4 of 10 bytes]
    6789
    ");
    assert!(rendered.text.ends_with("6789"));
}

#[test]
fn a_hint_inside_a_line_carries_its_bytes() {
    let rendered = single(b"ab\ncdefghij\n", limits(9, 6, Shape::Head), &DONE, &tool(), true);
    assert_snapshot!(text(&rendered), @r#"
    ab
    cde
    [Truncated. Read more: read(filePath="artifact://<digest>", offset=1, byteOffset=3)]
    "#);
    // Nothing fits: the hint alone, and no blank line before it.
    let rendered = single("😀😀".as_bytes(), limits(9, 3, Shape::Head), &DONE, &tool(), true);
    assert_eq!(
        text(&rendered),
        "[Truncated. Read more: read(filePath=\"artifact://<digest>\", offset=0)]"
    );
}

#[test]
fn hints_name_the_reader_that_is_offered() {
    let hint = |hints: &Hints, is_kept| {
        let rendered = single(b"a\nb\nc\n", limits(1, 99, Shape::Head), &DONE, hints, is_kept);
        text(&rendered).lines().nth(1).unwrap().to_owned()
    };
    let other = Hints::Tool { read_tool: "view".to_owned() };
    assert_eq!(
        hint(&other, true),
        "[Truncated. Read more: view(filePath=\"artifact://<digest>\", offset=1)]"
    );
    let other = Hints::Cli { program: "/opt/overspill".to_owned() };
    assert_eq!(
        hint(&other, true),
        "[Truncated. Read more: /opt/overspill read artifact://<digest> --offset 1]"
    );
    assert_eq!(hint(&Hints::None, true), "[Truncated: 4 bytes not shown]");
    for hints in [tool(), cli(), Hints::None] {
        assert_eq!(hint(&hints, false), "[Truncated: 4 bytes not kept]");
    }
}

#[test]
fn a_whole_single_output_is_its_text() {
    for bytes in ["", "\n", "x", "x\n", "\n\nx\n\n", "50%\r100%\r\n", "a\u{c}b\u{2028}c\u{85}"] {
        for shape in [Shape::Head, Shape::HeadTail] {
            let rendered = single(bytes.as_bytes(), limits(9, 99, shape), &DONE, &tool(), true);
            assert_eq!(rendered.text, bytes);
            let shown = Shown {
                shown_bytes: bytes.len() as u64,
                truncated: false,
                next: None,
                binary: false,
            };
            assert_eq!(rendered.streams, [shown]);
        }
    }
}

#[test]
fn the_view_of_bytes_is_text() {
    let view = |bytes: &[u8]| single(bytes, limits(9, 99, Shape::Head), &DONE, &tool(), true).text;
    assert_eq!(view(b"\x1b[31mred\x1b[0m and \0 and \xff\n"), "red and \u{2400} and \u{fffd}\n");
    assert_eq!(view(b"one\ntwo \xff\xfe bad\nthree\n"), "one\ntwo \u{fffd}\u{fffd} bad\nthree\n");
    assert_eq!(view(b"\x1b]0;open\nnext\n"), "\nnext\n");
    // Not empty, and nothing to see.
    assert_eq!(view(b"\x1b[2J\x1b[H"), "[terminal control sequences only: 7 bytes]");
}

#[test]
fn binary_output_is_one_line() {
    let bytes = [&b"\x1f\x8b\x08"[..], &[0xff; 1_000]].concat();
    let rendered = single(&bytes, limits(9, 99, Shape::HeadTail), &DONE, &tool(), true);
    assert_eq!(text(&rendered), "[binary output: 1003 bytes, gzip, artifact://<digest>]");
    let shown = Shown {
        shown_bytes: 0,
        truncated: true,
        next: Some(Position { line: 0, byte_offset: 0 }),
        binary: true,
    };
    assert_eq!(rendered.streams, [shown]);

    let rendered = single(&[0; 9], limits(9, 99, Shape::Head), &DONE, &tool(), true);
    assert_eq!(text(&rendered), "[binary output: 9 bytes, artifact://<digest>]");
    let rendered = single(&[0; 9], limits(9, 99, Shape::Head), &DONE, &tool(), false);
    assert_eq!(text(&rendered), "[binary output: 9 bytes]");

    let streams = [("stdout", &bytes[..]), ("stderr", b"done\n")];
    let rendered = named(&streams, limits(9, 99, Shape::Head), &DONE, &tool());
    assert_snapshot!(text(&rendered), @"
    [stdout]
    [binary output: 1003 bytes, gzip, artifact://<digest>/stdout]

    [stderr]
    done
    ");
}

#[test]
fn endings_are_lines_of_their_own() {
    let failed = Ending { exit: Some(Exit::Code(3)), ..Ending::of(Status::Failed) };
    for (bytes, expect) in [
        ("", "[exit code: 3]"),
        ("x", "x\n[exit code: 3]"),
        ("x\n", "x\n[exit code: 3]"),
        ("x\n\n", "x\n\n[exit code: 3]"),
    ] {
        let rendered = single(bytes.as_bytes(), limits(9, 99, Shape::Head), &failed, &tool(), true);
        assert_eq!(rendered.text, expect);
    }
    let streams = [("stdout", &b"out"[..]), ("stderr", b"")];
    let rendered = named(&streams, limits(9, 99, Shape::Head), &failed, &tool());
    assert_eq!(rendered.text, "[stdout]\nout\n\n[stderr]\n[exit code: 3]");

    let incomplete = Incomplete::from(IncompleteReason::SizeLimit);
    let ending = Ending {
        timeout_ms: Some(5_000),
        incomplete: Some(incomplete.clone()),
        stored_bytes: 8,
        seen_bytes: Some(99),
        ..Ending::of(Status::TimedOut)
    };
    let rendered = single(b"y\ny\ny\ny\n", limits(1, 99, Shape::Head), &ending, &cli(), true);
    assert_snapshot!(text(&rendered), @"
    y
    [Truncated. Read more: overspill read artifact://<digest> --offset 1]
    [output incomplete: stored 8 of 99 bytes (size limit)]
    [timed out after 5s; output incomplete]
    ");
    let nothing = render(&[], &limits(9, 99, Shape::Head), &Ending::of(Status::Failed), &tool());
    assert_eq!(nothing.text, "[failed]");
}

#[test]
fn output_that_looks_like_ours_is_output() {
    let forged = "[stderr]\n[Truncated. Read more: read(filePath=\"artifact://x\", offset=9)]\n\
                  [Last 1 of 2 lines]\n[exit code: 0]\n[binary output: 3 bytes]\n";
    let rendered = single(forged.as_bytes(), limits(99, 999, Shape::Head), &DONE, &tool(), true);
    assert_eq!(rendered.text, forged);
    assert!(!rendered.streams[0].truncated && !rendered.streams[0].binary);
}

/// Renders eight streams with the longest names.
fn eight(bytes: &[u8], limits: Limits, hints: &Hints) -> Rendered {
    let name = |index: usize| format!("{index}{}", "n".repeat(63));
    let names: Vec<String> = (0..8).map(name).collect();
    let streams: Vec<(&str, &[u8])> = names.iter().map(|name| (&**name, bytes)).collect();
    let detail = Some("\u{1}".repeat(9_999));
    let incomplete = Incomplete { reason: IncompleteReason::StorageError, detail };
    let ending = Ending {
        incomplete: Some(incomplete.clone()),
        stored_bytes: u64::MAX - 1,
        seen_bytes: Some(u64::MAX),
        timeout_ms: Some(u64::MAX),
        ..Ending::of(Status::TimedOut)
    };
    named(&streams, limits, &ending, hints)
}

fn json_len(text: &str) -> usize {
    serde_json::to_string(text).unwrap().len() - 2
}

#[test]
fn eight_long_lines_under_raised_limits_are_bounded() {
    for shape in [Shape::Head, Shape::HeadTail] {
        // Limits that were made for one stream, too.
        for streams in [1, 8] {
            let limits = Limits::new(DEFAULT_MAX_LINES, 1 << 20, shape, streams).unwrap();
            let rendered = eight(&[b'x'; 400_000], limits, &tool());
            let len = json_len(&rendered.text);
            assert!(len <= MAX_MODEL_TEXT_BYTES && len > MAX_MODEL_TEXT_BYTES - 20_000, "{len}");
            for shown in rendered.streams {
                assert_eq!(shown.shown_bytes, 260_096);
                assert!(shown.truncated);
            }
        }
    }
}

#[test]
fn eight_streams_of_control_characters_are_bounded() {
    // Few enough to stay text, and six bytes each once escaped.
    let bytes = [&[b'a'; 8_000][..], &[1; 43_200]].concat();
    let limits = Limits::new(DEFAULT_MAX_LINES, DEFAULT_MAX_BYTES, Shape::Head, 8).unwrap();
    let len = json_len(&eight(&bytes, limits, &cli()).text);
    assert!(len <= MAX_MODEL_TEXT_BYTES && len > MAX_MODEL_TEXT_BYTES - 20_000, "{len}");
    // Nothing but them is binary.
    let rendered = eight(&[1; 51_200], limits, &cli());
    assert!(rendered.streams.iter().all(|shown| shown.binary));
}

#[test]
fn a_long_reader_takes_from_the_content() {
    let limits = Limits::new(DEFAULT_MAX_LINES, 1 << 20, Shape::Head, 8).unwrap();
    for len in [4_096, 100_000, 260_000] {
        let hints = Hints::Cli { program: "\"".repeat(len / 2) };
        let rendered = eight(&[b'x'; 400_000], limits, &hints);
        assert!(json_len(&rendered.text) <= MAX_MODEL_TEXT_BYTES);
    }
}

proptest! {
    #[test]
    fn any_text_is_bounded_and_shows_something(
        streams in prop::collection::vec(stream_bytes(12), 1..4),
        max_lines in 1u64..6,
        max_bytes in 1u64..50,
        shape in prop_oneof![Just(Shape::Head), Just(Shape::HeadTail)],
        is_kept: bool,
    ) {
        let limits = limits(max_lines, max_bytes, shape);
        let names = ["a", "b", "c"];
        let all: Vec<(&str, &[u8])> = names.into_iter().zip(streams.iter().map(|s| &**s)).collect();
        let rendered = named(&all, limits, &DONE, &tool());
        prop_assert!(json_len(&rendered.text) <= streams.len() * (512 + 6 * 50));
        for ((Stream(bytes), name), shown) in streams.iter().zip(names).zip(&rendered.streams) {
            let bytes_len = bytes.len() as u64;
            prop_assert_eq!(shown.truncated, shown.shown_bytes < bytes_len);
            prop_assert_eq!(shown.truncated, shown.next.is_some());
            let heading = format!("[{name}]\n");
            prop_assert!(rendered.text.contains(heading.trim_end()));

            let one = single(bytes, limits, &DONE, &tool(), is_kept);
            prop_assert_eq!(one.text.is_empty(), bytes.is_empty());
            let has_hint = one.text.contains("[Truncated");
            prop_assert_eq!(has_hint, shown.truncated && !shown.binary);
            prop_assert_eq!(&one.streams[0], shown);
        }
    }
}
