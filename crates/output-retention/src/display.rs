//! Display text: what a person sees on a terminal, live and in the end.
//!
//! Responsible for making it safe and small. A tool chooses its display text,
//! but must not move the cursor, hide lines or reorder what others print:
//!
//! - escape sequences are removed whole, also where deltas split them;
//! - control characters (C0, DEL, C1) but `\n` and `\t` become a space each;
//! - so do the bidirectional embeddings, overrides and isolates U+202A–U+202E
//!   and U+2066–U+2069, which can make text read as another.

use output_contract::limits::{MAX_FINAL_DISPLAY_BYTES, MAX_LIVE_DISPLAY_BYTES};

use crate::escape::{ByteClass, EscapeScanner};

const TRUNCATED_LINE: &str = "[display truncated]";

/// The display of a running call: deltas append to it, the newest 64 KiB
/// ([`MAX_LIVE_DISPLAY_BYTES`]) are kept.
///
/// ```
/// use output_retention::LiveDisplay;
///
/// let mut display = LiveDisplay::default();
/// assert_eq!(display.append("step 1\x1b[3"), "step 1");
/// assert_eq!(display.append("1m done\r\n"), " done \n");
/// assert_eq!(display.text(), "step 1 done \n");
/// assert_eq!((display.start(), display.appended()), (0, 13));
/// ```
#[derive(Debug, Clone, Default)]
pub struct LiveDisplay {
    scanner: EscapeScanner,
    text: String,
    appended: u64,
}

impl LiveDisplay {
    /// Appends a delta's display text and returns what was in fact appended:
    /// its safe form, whole, even where it is longer than what is kept.
    pub fn append(&mut self, delta: &str) -> String {
        let safe = sanitize(&mut self.scanner, delta);
        self.appended += safe.len() as u64;
        self.text.push_str(&safe);
        let excess = self.text.len().saturating_sub(MAX_LIVE_DISPLAY_BYTES);
        self.text.drain(..boundary_after(&self.text, excess));
        safe
    }

    /// The newest text, at most 64 KiB.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many bytes of safe text were appended in all.
    pub fn appended(&self) -> u64 {
        self.appended
    }

    /// How many of them are no longer kept: the offset of [`Self::text`].
    pub fn start(&self) -> u64 {
        self.appended - self.text.len() as u64
    }
}

/// The safe form of a final display, at most 64 KiB
/// ([`MAX_FINAL_DISPLAY_BYTES`]). Of a longer one the start is kept, and the
/// line `[display truncated]` ends it.
pub fn final_display(text: &str) -> String {
    let mut safe = sanitize(&mut EscapeScanner::default(), text);
    if safe.len() <= MAX_FINAL_DISPLAY_BYTES {
        return safe;
    }
    let room = MAX_FINAL_DISPLAY_BYTES - TRUNCATED_LINE.len() - 1;
    safe.truncate(boundary_before(&safe, room));
    if !safe.ends_with('\n') {
        safe.push('\n');
    }
    safe.push_str(TRUNCATED_LINE);
    safe
}

/// One line of safe text, at most `max_bytes` bytes of it, for what is quoted
/// inside a line of ours or stands in a row of a listing.
pub fn one_line(text: &str, max_bytes: usize) -> String {
    let safe = sanitize(&mut EscapeScanner::default(), text).replace(['\n', '\t'], " ");
    let safe = safe.trim();
    safe[..boundary_before(safe, max_bytes)].to_owned()
}

fn sanitize(scanner: &mut EscapeScanner, text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut bytes = [0; 4];
    for c in text.chars() {
        // A sequence begins and ends between characters: the first byte of one
        // decides for the others.
        if scanner.step(c.encode_utf8(&mut bytes).as_bytes()[0]) == ByteClass::Content {
            safe.push(if is_unsafe(c) { ' ' } else { c });
        }
    }
    safe
}

/// The last character boundary at or before `at`, or the end of `text`.
fn boundary_before(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|&index| text.is_char_boundary(index)).unwrap_or(0)
}

/// The first character boundary at or after `at`, which is inside `text`.
fn boundary_after(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&index| text.is_char_boundary(index)).unwrap_or(text.len())
}

fn is_unsafe(c: char) -> bool {
    let bidi_control = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    bidi_control || (c.is_control() && !matches!(c, '\n' | '\t'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_safe_to_print() {
        for (text, expect) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("\x1b[31mred\x1b[0m \x1b]0;title\x07!", "red !"),
            ("50%\r100%\r\n", "50% 100% \n"),
            ("a\0b\x08c\x7fd\u{85}e\u{9b}31m", "a b c d e 31m"),
            ("a\u{202e}b\u{2066}c\u{2069}d\u{202a}e", "a b c d e"),
            ("ünïcödé 😀 \u{2028}", "ünïcödé 😀 \u{2028}"),
            ("\x1b]0;never closed\nnext", "\nnext"),
            ("cut \x1b[3", "cut "),
            ("\x1b[3é \x1b]é\x07ok", "é ok"),
        ] {
            assert_eq!(final_display(text), expect, "{text:?}");
        }
    }

    #[test]
    fn the_newest_is_kept_on_a_character() {
        let mut display = LiveDisplay::default();
        display.append("é");
        display.append(&"x".repeat(MAX_LIVE_DISPLAY_BYTES - 1));
        assert_eq!(display.start(), 2);
        assert_eq!(display.text().len(), MAX_LIVE_DISPLAY_BYTES - 1);
        let huge = "y".repeat(3 * MAX_LIVE_DISPLAY_BYTES);
        assert_eq!(display.append(&huge), huge);
        assert_eq!(display.text().len(), MAX_LIVE_DISPLAY_BYTES);
        assert_eq!(display.appended(), 4 * MAX_LIVE_DISPLAY_BYTES as u64 + 1);
        assert_eq!(display.start() + display.text().len() as u64, display.appended());
    }

    #[test]
    fn a_final_display_is_bounded() {
        let exact = "x".repeat(MAX_FINAL_DISPLAY_BYTES);
        assert_eq!(final_display(&exact), exact);
        for unit in ["x", "é", "😀", "line\n"] {
            let cut = final_display(&unit.repeat(MAX_FINAL_DISPLAY_BYTES + 1));
            assert!(cut.ends_with("\n[display truncated]"), "{unit:?}");
            assert!(!cut.ends_with("\n\n[display truncated]"), "{unit:?}");
            assert!(cut.len() <= MAX_FINAL_DISPLAY_BYTES);
            assert!(cut.len() > MAX_FINAL_DISPLAY_BYTES - 8);
        }
        // What counts is what is shown.
        let escapes = "\x1b[31m".repeat(MAX_FINAL_DISPLAY_BYTES);
        assert_eq!(final_display(&escapes), "");
    }

    #[test]
    fn quoted_text_is_one_short_line() {
        assert_eq!(one_line("no space\nleft\t\x1b[1mhere\n", 100), "no space left here");
        assert_eq!(one_line("ééé", 3), "é");
    }

    proptest! {
        #[test]
        fn deltas_append_to_what_one_text_gives(
            text in "([a-c\n\r\t\0\u{9b}é😀\u{202e}]|\x1b\\[[0-9]{0,2}m?|\x1b\\]x{0,3}(\x07|\x1b\\\\)?){0,40}",
            size in 1usize..5,
        ) {
            let mut display = LiveDisplay::default();
            let chars: Vec<char> = text.chars().collect();
            let appended: String = chars
                .chunks(size)
                .map(|delta| display.append(&delta.iter().collect::<String>()))
                .collect();
            prop_assert_eq!(&appended, &final_display(&text));
            prop_assert_eq!(display.text(), &appended);
            prop_assert!(!appended.contains(is_unsafe));
        }
    }
}
