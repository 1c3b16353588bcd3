//! Terminal escape sequences, recognised byte by byte.
//!
//! Responsible for one question: does this byte belong to an escape sequence?
//! Strippers built on a terminal parser (`vte` and its relatives) answer
//! another one. They hand out printable text without byte positions, so that a
//! cut cannot be placed before a sequence; and a string that is never closed
//! makes them swallow everything after it. Here every byte is classified as it
//! comes, and a sequence never reaches past the line it starts on.
//!
//! What is a sequence:
//!
//! | form | bytes |
//! |---|---|
//! | CSI | `ESC [`, parameters and intermediates `0x20–0x3f`, a final `0x40–0x7e` |
//! | OSC | `ESC ]` … `BEL` or `ESC \` |
//! | DCS, SOS, PM, APC | `ESC P`, `ESC X`, `ESC ^`, `ESC _` … `ESC \` |
//! | nF | `ESC`, intermediates `0x20–0x2f`, a final `0x30–0x7e` |
//! | two bytes | `ESC` and one of `0x30–0x7e` |
//!
//! What ends one early: `\n`, which is content; `ESC`, which begins the next;
//! in all but the string forms any byte that does not fit, which is content.
//! What came before stays dropped. The 8-bit introducers `0x80–0x9f` are
//! content: in UTF-8 those bytes are parts of characters.

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;

/// Tells the bytes of escape sequences from content, one byte at a time, over
/// any chunking. It starts outside of any sequence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EscapeScanner {
    state: State,
}

/// What one byte is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteClass {
    /// Part of the text.
    Content,
    /// Part of an escape sequence, finished or not.
    Sequence,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape,
    Intermediate,
    Csi,
    Osc,
    ControlString,
}

impl EscapeScanner {
    /// Classifies the next byte.
    pub fn step(&mut self, byte: u8) -> ByteClass {
        let (state, class) = self.state.after(byte);
        self.state = state;
        class
    }

    /// Whether a sequence has begun and not yet ended.
    pub fn in_sequence(&self) -> bool {
        self.state != State::Ground
    }
}

impl State {
    fn after(self, byte: u8) -> (Self, ByteClass) {
        use ByteClass::{Content, Sequence};
        match (self, byte) {
            (_, b'\n') => (Self::Ground, Content),
            (_, ESC) => (Self::Escape, Sequence),
            (Self::Ground, _) => (Self::Ground, Content),

            (Self::Escape, b'[') => (Self::Csi, Sequence),
            (Self::Escape, b']') => (Self::Osc, Sequence),
            (Self::Escape, b'P' | b'X' | b'^' | b'_') => (Self::ControlString, Sequence),
            (Self::Escape | Self::Intermediate, 0x20..=0x2f) => (Self::Intermediate, Sequence),
            (Self::Escape | Self::Intermediate, 0x30..=0x7e) => (Self::Ground, Sequence),

            (Self::Csi, 0x20..=0x3f) => (Self::Csi, Sequence),
            (Self::Csi, 0x40..=0x7e) => (Self::Ground, Sequence),

            (Self::Osc, BEL) => (Self::Ground, Sequence),
            // `ESC \` needs no state of its own: after the `ESC` it is a
            // sequence of two bytes, and any other `ESC x` begins a new one.
            (Self::Osc | Self::ControlString, _) => (self, Sequence),

            (Self::Escape | Self::Intermediate | Self::Csi, _) => (Self::Ground, Content),
        }
    }
}

/// Length in bytes of the sequence at the start of `bytes`, which begin with
/// `ESC`: up to its last byte, the terminator of a string included, or to what
/// ends it early, or to the end of `bytes`.
pub(crate) fn sequence_len(bytes: &[u8]) -> usize {
    let mut scanner = EscapeScanner::default();
    for (index, &byte) in bytes.iter().enumerate() {
        let is_string = matches!(scanner.state, State::Osc | State::ControlString);
        if byte == ESC && index > 0 {
            let terminated = is_string && bytes.get(index + 1) == Some(&b'\\');
            return if terminated { index + 2 } else { index };
        }
        match scanner.step(byte) {
            ByteClass::Content => return index,
            ByteClass::Sequence if !scanner.in_sequence() => return index + 1,
            ByteClass::Sequence => {}
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn content(bytes: &[u8]) -> String {
        let mut scanner = EscapeScanner::default();
        let kept = bytes.iter().copied().filter(|&b| scanner.step(b) == ByteClass::Content);
        String::from_utf8_lossy(&kept.collect::<Vec<u8>>()).into_owned()
    }

    #[test]
    fn every_form_is_dropped_whole() {
        for (input, expect) in [
            ("a\x1b[31mb\x1b[0mc", "abc"),
            ("a\x1b[?25lb", "ab"),
            ("a\x1b[38:2::1:2:3mb", "ab"),
            ("a\x1b[1 qb", "ab"),
            ("a\x1b]0;title\x07b", "ab"),
            ("a\x1b]8;;https://x/é\x1b\\link\x1b]8;;\x1b\\b", "alinkb"),
            ("a\x1bPq#0;1\x07still\x1b\\b", "ab"),
            ("a\x1bXs\x1b\\b\x1b^p\x1b\\c\x1b_a\x1b\\d", "abcd"),
            ("a\x1b(Bb", "ab"),
            ("a\x1b#8b", "ab"),
            ("a\x1b  Fb", "ab"),
            ("a\x1b7b\x1b8c\x1b=d\x1bMe", "abcde"),
        ] {
            assert_eq!(content(input.as_bytes()), expect, "{input:?}");
        }
    }

    #[test]
    fn nothing_hides_the_lines_after_it() {
        for input in ["\x1b]0;never closed", "\x1bPq", "\x1b[12;", "\x1b", "\x1b(", "\x1b]x\x1b"] {
            assert_eq!(content(format!("{input}\nnext").as_bytes()), "\nnext", "{input:?}");
            assert_eq!(content(format!("a{input}").as_bytes()), "a", "{input:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_content() {
        for (input, expect) in [
            (&b"\x1b[31\x01m"[..], "\x01m"),
            (b"\x1b[31\x7fm", "\x7fm"),
            ("\x1b[3é".as_bytes(), "é"),
            ("\x1bé".as_bytes(), "é"),
            (b"\x1b\rx", "\rx"),
            (b"\x1b(\tx", "\tx"),
            (b"\x1b[3\x1b[4mx", "x"),
            (b"\x1b]0;t\x1b[4mx", "x"),
            ("\u{9b}31m".as_bytes(), "\u{9b}31m"),
        ] {
            assert_eq!(content(input), expect, "{input:?}");
        }
    }

    #[test]
    fn lengths_of_sequences() {
        for (input, expect) in [
            ("\x1b[31mx", 5),
            ("\x1b]0;t\x07x", 6),
            ("\x1b]0;t\x1b\\x", 7),
            ("\x1b]0;t\x1b[m", 5),
            ("\x1b]0;t\x1b", 5),
            ("\x1bPq\x1b\\", 5),
            ("\x1b[3\nx", 3),
            ("\x1b[3é", 3),
            ("\x1b\x1b[m", 1),
            ("\x1b(Bx", 3),
            ("\x1b7x", 2),
            ("\x1b", 1),
        ] {
            assert_eq!(sequence_len(input.as_bytes()), expect, "{input:?}");
        }
    }

    proptest! {
        #[test]
        fn a_newline_always_starts_afresh(before in any::<Vec<u8>>(), after in "[ -~]{0,20}") {
            let mut scanner = EscapeScanner::default();
            for &byte in &before {
                scanner.step(byte);
            }
            prop_assert_eq!(scanner.step(b'\n'), ByteClass::Content);
            prop_assert!(!scanner.in_sequence());
            prop_assert!(after.bytes().all(|b| scanner.step(b) == ByteClass::Content));
        }
    }
}
