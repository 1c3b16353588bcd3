//! Text or not: what a stream is, judged by its start.
//!
//! Responsible for keeping mojibake out of model text without hiding logs that
//! have a few odd bytes in them: real logs contain NULs and broken characters
//! and stay text.

/// How much of a stream is looked at, in bytes from its start.
pub(crate) const SNIFF_BYTES: usize = 8_000;
/// More odd bytes than this many in a hundred make a stream binary.
const MAX_ODD_PERCENT: usize = 30;

/// What the bytes of a stream are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Classification {
    /// Text, possibly with some odd bytes.
    Text,
    /// Not to be shown as text.
    Binary {
        /// What it seems to be, such as `gzip` or `png`.
        kind: Option<&'static str>,
    },
}

impl Classification {
    /// Classifies a stream by its first 8,000 bytes; what `start` has beyond
    /// them is ignored.
    ///
    /// It is binary if over 30 % of them are NUL, control characters other than
    /// `\t \n \r \f \b ESC`, or no UTF-8; a character that the window cuts off
    /// is none of these.
    pub fn of(start: &[u8]) -> Self {
        let window = &start[..start.len().min(SNIFF_BYTES)];
        if odd_bytes(window) * 100 > window.len() * MAX_ODD_PERCENT {
            Self::Binary { kind: kind(window) }
        } else {
            Self::Text
        }
    }

    /// Whether it is [`Self::Binary`].
    pub fn is_binary(self) -> bool {
        matches!(self, Self::Binary { .. })
    }
}

fn odd_bytes(window: &[u8]) -> usize {
    let mut odd = 0;
    let mut position = 0;
    for part in window.utf8_chunks() {
        odd += part.valid().bytes().filter(|&byte| is_odd_control(byte)).count();
        let bad = part.invalid();
        position += part.valid().len() + bad.len();
        let cut_off = position == window.len()
            && std::str::from_utf8(bad).is_err_and(|error| error.error_len().is_none());
        if !cut_off {
            odd += bad.len();
        }
    }
    odd
}

const fn is_odd_control(byte: u8) -> bool {
    byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x08 | 0x1b)
}

/// A short name for what begins with `start`: the MIME subtype without `x-`, or
/// the usual file extension where the subtype is a vendor's.
fn kind(start: &[u8]) -> Option<&'static str> {
    match start {
        // UTF-32 has the mark of UTF-16 and two NULs after it.
        [0xff, 0xfe, 0, 0, ..] => return Some("utf-32le text"),
        [0xff, 0xfe, ..] => return Some("utf-16le text"),
        [0xfe, 0xff, ..] => return Some("utf-16be text"),
        _ => {}
    }
    let found = infer::get(start)?;
    let (_, subtype) = found.mime_type().split_once('/')?;
    let subtype = subtype.strip_prefix("x-").unwrap_or(subtype);
    Some(if subtype.starts_with("vnd.") { found.extension() } else { subtype })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(bytes: &[u8]) -> Option<Option<&'static str>> {
        match Classification::of(bytes) {
            Classification::Text => None,
            Classification::Binary { kind } => Some(kind),
        }
    }

    /// `magic`, then what no text has.
    fn file(magic: &[u8]) -> Vec<u8> {
        [magic, &[0x80, 0, 1, 0xff, 2, 0xfe].repeat(50)].concat()
    }

    #[test]
    fn kinds() {
        for (magic, expect) in [
            (&b"\x1f\x8b\x08"[..], Some("gzip")),
            (b"PK\x03\x04", Some("zip")),
            (b"\x89PNG\r\n\x1a\n", Some("png")),
            (b"%PDF-1.7", Some("pdf")),
            (b"\x7fELF\x02\x01\x01", Some("executable")),
            (b"\xff\xd8\xff\xe0", Some("jpeg")),
            (b"\xff\xfea\0b\0", Some("utf-16le text")),
            (b"\xfe\xff\0a\0b", Some("utf-16be text")),
            (b"\xff\xfe\0\0a\0\0\0", Some("utf-32le text")),
            (b"", None),
        ] {
            assert_eq!(kind_of(&file(magic)), Some(expect), "{magic:?}");
        }
    }

    #[test]
    fn over_thirty_percent_is_binary() {
        for odd in [&b"\0"[..], b"\x01", b"\x7f", b"\xff", b"\x80"] {
            let bytes = |count: usize| [odd.repeat(count), b"a".repeat(100 - count)].concat();
            assert_eq!(kind_of(&bytes(30)), None, "{odd:?}");
            assert_eq!(kind_of(&bytes(31)), Some(None), "{odd:?}");
        }
        for fine in ["\t\n\r\u{c}\u{8}\u{1b}", "你好", "\u{85}\u{2028}"] {
            assert_eq!(kind_of(fine.repeat(50).as_bytes()), None, "{fine:?}");
        }
    }

    #[test]
    fn a_log_with_nuls_is_text() {
        let mut log = "2024-05-01 12:00:00 worker ready\n".repeat(2_200).into_bytes();
        assert!(log.len() > 72_000);
        let step = log.len() / 304;
        (0..304).for_each(|index| log[index * step] = 0);
        assert_eq!(Classification::of(&log), Classification::Text);
    }

    #[test]
    fn the_window_may_end_inside_a_character() {
        assert_eq!(kind_of(b"\xe2\x82"), None);
        assert_eq!(kind_of(b"\xff"), Some(None));
        let cut = [b"a".repeat(SNIFF_BYTES - 1), "€".into()].concat();
        assert_eq!(kind_of(&cut), None);
        // Beyond the window nothing counts.
        let late = [b"a".repeat(SNIFF_BYTES), b"\0".repeat(100_000)].concat();
        assert_eq!(kind_of(&late), None);
        assert_eq!(kind_of(b""), None);
    }
}
