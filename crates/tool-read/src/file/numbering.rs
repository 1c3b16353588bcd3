//! Lines with their numbers, as `cat -n` shows them.

/// The text of `bytes`, which begin in the line with the zero-based index
/// `first`: every line, also one that is not whole, after its number, counted
/// from 1, and a tab.
pub(crate) fn numbered(bytes: &[u8], first: u64) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.split_inclusive('\n');
    let mut shown = String::with_capacity(text.len() + text.len() / 4);
    for (index, line) in (1u64..).zip(lines) {
        let number = format!("{:>6}\t", first.saturating_add(index));
        shown.push_str(&number);
        shown.push_str(line);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_newlines_end_lines() {
        for (bytes, first, expect) in [
            (&b""[..], 0, ""),
            (b"a", 0, "     1\ta"),
            (b"a\n", 0, "     1\ta\n"),
            (b"\n", 41, "    42\t\n"),
            (b"a\r\nb\rc\n", 0, "     1\ta\r\n     2\tb\rc\n"),
            ("a\u{2028}\u{c}\u{85}b\nc".as_bytes(), 9, "    10\ta\u{2028}\u{c}\u{85}b\n    11\tc"),
            (b"\xff\n", 999_999, "1000000\t\u{fffd}\n"),
        ] {
            assert_eq!(numbered(bytes, first), expect, "{bytes:?}");
        }
    }
}
