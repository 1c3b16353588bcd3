//! The units of rendered text: characters, undecodable parts, sequences.
//!
//! Responsible for the one reading of bytes as model text that measuring,
//! cutting and rendering share. Lossy decoding and the removal of escape
//! sequences are done in one pass over bytes, so that each unit knows where it
//! stands. A `\n` leaves nothing open, so that lines can be read alone.

use crate::escape::sequence_len;

const ESC: u8 = 0x1b;
/// What a NUL is shown as.
const NUL_PICTURE: char = '\u{2400}';

/// The text that the model sees of `bytes`: escape sequences are gone, an
/// unfinished one too; what is no UTF-8 is U+FFFD; a NUL is U+2400.
///
/// ```
/// let text = output_retention::model_text(b"\x1b[1mok\x1b[0m \xff\0\r\n");
/// assert_eq!(text, "ok \u{fffd}\u{2400}\r\n");
/// ```
pub fn model_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut units = Units::new(bytes);
    loop {
        text.push_str(units.ascii_run(|byte| byte != ESC && byte != 0));
        let Some(unit) = units.next() else { return text };
        text.extend(unit.shown());
    }
}

/// Size of [`model_text`] of `bytes` inside a JSON string, in bytes, without
/// the quotes.
pub fn model_text_escaped_len(bytes: &[u8]) -> usize {
    Units::new(bytes).map(Unit::escaped_len).sum()
}

/// Size of `text` inside a JSON string, in bytes, without the quotes.
pub fn json_escaped_len(text: &str) -> usize {
    text.chars().map(char_escaped_len).sum()
}

/// [`model_text_escaped_len`] of `bytes`, if it is at most `max`.
pub(crate) fn escaped_len_within(bytes: &[u8], max: usize) -> Option<usize> {
    let mut units = Units::new(bytes);
    let mut len = 0;
    while len <= max {
        len +=
            units.ascii_run(|byte| matches!(byte, b' '..=b'~') && !b"\"\\".contains(&byte)).len();
        match units.next() {
            Some(unit) => len += unit.escaped_len(),
            None => return (len <= max).then_some(len),
        }
    }
    None
}

/// A piece of a byte slice that a cut keeps together, where it can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unit {
    /// Where it starts in the slice, in bytes.
    pub(crate) start: usize,
    /// Where it ends in the slice, in bytes.
    pub(crate) end: usize,
    /// What it is.
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One character.
    Char(char),
    /// The longest run of bytes that one U+FFFD stands for.
    Invalid,
    /// One escape sequence, finished or not.
    Sequence,
}

impl Unit {
    /// Its length, in bytes.
    pub(crate) fn len(self) -> usize {
        self.end - self.start
    }

    /// What is shown of it.
    fn shown(self) -> Option<char> {
        match self.kind {
            Kind::Char('\0') => Some(NUL_PICTURE),
            Kind::Char(c) => Some(c),
            Kind::Invalid => Some(char::REPLACEMENT_CHARACTER),
            Kind::Sequence => None,
        }
    }

    /// What it takes inside a JSON string, in bytes.
    pub(crate) fn escaped_len(self) -> usize {
        self.shown().map_or(0, char_escaped_len)
    }
}

/// The units of a slice that starts outside of any sequence and character.
#[derive(Debug, Clone)]
pub(crate) struct Units<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Units<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self::starting_at(bytes, 0)
    }

    /// The units from `position` on, which is the start of one.
    pub(crate) fn starting_at(bytes: &'a [u8], position: usize) -> Self {
        Self { bytes, position }
    }

    /// Goes past all ASCII bytes that come now and are `wanted`; most text is
    /// nothing else. `ESC` must not be wanted.
    fn ascii_run(&mut self, wanted: impl Fn(u8) -> bool) -> &'a str {
        let rest = &self.bytes[self.position..];
        let end = rest.iter().position(|&byte| !byte.is_ascii() || !wanted(byte));
        let run = &rest[..end.unwrap_or(rest.len())];
        self.position += run.len();
        std::str::from_utf8(run).expect("ASCII is UTF-8")
    }
}

impl Iterator for Units<'_> {
    type Item = Unit;

    fn next(&mut self) -> Option<Unit> {
        let rest = &self.bytes[self.position..];
        let (len, kind) = match *rest.first()? {
            ESC => (sequence_len(rest), Kind::Sequence),
            byte if byte.is_ascii() => (1, Kind::Char(char::from(byte))),
            _ => decode_first(rest),
        };
        let start = self.position;
        self.position += len;
        Some(Unit { start, end: self.position, kind })
    }
}

/// The valid character that `at` is strictly inside of, as its start and end.
pub(crate) fn character_around(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    if !bytes.get(at).copied().is_some_and(is_continuation) {
        return None;
    }
    let start = (at.saturating_sub(3)..at).rev().find(|&p| !is_continuation(bytes[p]))?;
    let (len, kind) = decode_first(&bytes[start..]);
    (matches!(kind, Kind::Char(_)) && start + len > at).then_some((start, start + len))
}

/// The start of a unit at or before `at`, none of which starts before `from`.
///
/// An `ESC` always starts a unit, unless it closes a string, and then the
/// string's own `ESC` is not between them: so the nearest one tells whether
/// `at` is inside a sequence. Where there is none, the nearest byte that can
/// start a character decides.
pub(crate) fn unit_start_before(bytes: &[u8], from: usize, at: usize) -> usize {
    if let Some(escape) = memchr::memrchr(ESC, &bytes[from..at]) {
        return from + escape;
    }
    let near = at.saturating_sub(3).max(from);
    let is_start = |&p: &usize| bytes.get(p).is_some_and(|&byte| !is_continuation(byte));
    (near..=at).rev().find(is_start).unwrap_or(at)
}

const fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// Decodes the first character of `bytes`, which are not empty, as
/// [`String::from_utf8_lossy`] does.
fn decode_first(bytes: &[u8]) -> (usize, Kind) {
    let window = &bytes[..bytes.len().min(4)];
    let (valid, error_len) = match std::str::from_utf8(window) {
        Ok(text) => (text, None),
        Err(error) => {
            let valid = std::str::from_utf8(&window[..error.valid_up_to()]).unwrap_or_default();
            (valid, error.error_len())
        }
    };
    match valid.chars().next() {
        Some(c) => (c.len_utf8(), Kind::Char(c)),
        None => (error_len.unwrap_or(window.len()), Kind::Invalid),
    }
}

const fn char_escaped_len(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::escape::{ByteClass, EscapeScanner};
    use crate::testing::stream_bytes;

    #[test]
    fn what_the_model_sees() {
        for (bytes, expect) in [
            (&b""[..], ""),
            (b"a\0b", "a\u{2400}b"),
            (b"a\xff\xfeb", "a\u{fffd}\u{fffd}b"),
            (b"50%\r100%\r\n", "50%\r100%\r\n"),
            ("\u{c}\u{2028}\u{85}".as_bytes(), "\u{c}\u{2028}\u{85}"),
            (b"\x1b[32mok\x1b[0m\x1b[3", "ok"),
            // A sequence parts the bytes around it: no character forms over it.
            (b"\xe2\x82\x1b[m\xac", "\u{fffd}\u{fffd}"),
            (b"\x1b]0;t\nnext", "\nnext"),
        ] {
            assert_eq!(model_text(bytes), expect, "{bytes:?}");
        }
    }

    #[test]
    fn where_characters_are() {
        let bytes = "a€\u{1f600}".as_bytes();
        let around: Vec<_> = (0..=9).map(|at| character_around(bytes, at)).collect();
        let (euro, smile) = (Some((1, 4)), Some((4, 8)));
        assert_eq!(around, [None, None, euro, euro, None, smile, smile, smile, None, None]);
        assert_eq!(character_around(b"\xe2\x82x", 1), None);
        assert_eq!(character_around(b"\x80\x80\x80\x80", 3), None);
    }

    proptest! {
        #[test]
        fn sizes_are_those_of_serde_json(bytes in stream_bytes(60)) {
            let text = model_text(&bytes);
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(model_text_escaped_len(&bytes), json.len() - 2);
            prop_assert_eq!(json_escaped_len(&text), json.len() - 2);
        }

        #[test]
        fn every_char_has_the_size_serde_json_gives_it(c in any::<char>()) {
            prop_assert_eq!(char_escaped_len(c), serde_json::to_string(&c).unwrap().len() - 2);
        }

        #[test]
        fn units_are_the_text_without_sequences(bytes in stream_bytes(60)) {
            // Decode first, then strip: another way to the same text.
            let mut scanner = EscapeScanner::default();
            let expect: String = String::from_utf8_lossy(&bytes)
                .chars()
                .filter(|c| scanner.step(c.to_string().as_bytes()[0]) == ByteClass::Content)
                .map(|c| if c == '\0' { NUL_PICTURE } else { c })
                .collect();
            prop_assert_eq!(model_text(&bytes), expect);
        }

        #[test]
        fn units_are_found_from_the_middle(bytes in stream_bytes(20), at in 0usize..200) {
            let at = at.min(bytes.len());
            let from = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |newline| newline + 1);
            let start = unit_start_before(&bytes, from, at);
            let expect: Vec<Unit> = Units::new(&bytes).filter(|unit| unit.end > at).collect();
            let found: Vec<Unit> =
                Units::starting_at(&bytes, start).filter(|unit| unit.end > at).collect();
            let starts = |units: &[Unit]| units.iter().map(|u| (u.end, u.kind)).collect::<Vec<_>>();
            prop_assert_eq!(starts(&found), starts(&expect));
        }
    }

    #[test]
    fn all_control_characters_have_the_size_serde_json_gives_them() {
        for c in '\0'..='\u{ff}' {
            let json = serde_json::to_string(&c).unwrap();
            assert_eq!(char_escaped_len(c), json.len() - 2, "{c:?}");
        }
    }
}
