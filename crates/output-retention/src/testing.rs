//! What the tests of several modules draw from: streams full of the bytes that
//! cuts get wrong, and ways to push them.

use std::fmt;
use std::ops::Deref;

use proptest::prelude::*;

/// Bytes that a failing test can print.
#[derive(Clone)]
pub(crate) struct Stream(pub(crate) Vec<u8>);

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

impl Deref for Stream {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// Up to `pieces` pieces of the kinds of bytes that matter to a cut.
pub(crate) fn stream_bytes(pieces: usize) -> impl Strategy<Value = Stream> {
    let piece = prop_oneof![
        6 => "[a-c\"\\\\ ]{1,6}".prop_map(String::into_bytes),
        4 => Just(b"\n".to_vec()),
        1 => Just(b"\r\n".to_vec()),
        3 => prop::sample::select(vec!["é", "€", "😀", "👩‍👩‍👧", "\u{2028}", "\u{85}", "e\u{301}"])
            .prop_map(|s| s.as_bytes().to_vec()),
        2 => prop::sample::select(vec![
            "\x1b[31m", "\x1b[0m", "\x1b]0;title\x07", "\x1b]8;;http://a\x1b\\", "\x1b(B", "\x1b7",
            "\x1b[", "\x1b", "\x1b]open", "\x1bPdata",
        ]).prop_map(|s| s.as_bytes().to_vec()),
        1 => "([ -Z]|é){40,90}".prop_map(|s| format!("\x1b]{s}\x07").into_bytes()),
        1 => prop::sample::select(vec![0u8, 1, 8, 9, 12, 13, 0x1f, 0x7f]).prop_map(|b| vec![b]),
        2 => prop::sample::select(vec![
            &b"\xff"[..], b"\x80", b"\xe2\x82", b"\xf0\x9f\x98", b"\xf0\x9f", b"\xc3", b"\xed\xa0\x80",
        ]).prop_map(<[u8]>::to_vec),
    ];
    prop::collection::vec(piece, 0..=pieces).prop_map(|pieces| Stream(pieces.concat()))
}

/// `bytes` in chunks of the given sizes, over and over.
pub(crate) fn chunked<'a>(bytes: &'a [u8], sizes: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
    let mut sizes = sizes.iter().cycle();
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let size = sizes.next().map_or(1, |&size| size.clamp(1, rest.len()));
        let (chunk, after) = rest.split_at(size);
        rest = after;
        Some(chunk)
    })
}
