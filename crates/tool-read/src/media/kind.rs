//! What the start of a file says that it is.
//!
//! Responsible for the line between text, which is paged, images and PDFs,
//! which are attached, and all else, which is refused.

use infer::MatcherType;
use output_retention::Classification;

use super::Media;

/// How much of a file is looked at, in bytes from its start.
pub(crate) const SNIFF_BYTES: usize = 8_000;

/// What a file is, by its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Media(Media),
    Binary { kind: Option<&'static str> },
}

impl Kind {
    /// Judges the first [`SNIFF_BYTES`] bytes, or all where there are fewer.
    pub(crate) fn of(start: &[u8]) -> Self {
        let start = &start[..start.len().min(SNIFF_BYTES)];
        if start.starts_with(b"%PDF-") {
            return Self::Media(Media::Pdf);
        }
        // Some marks are two letters, as any text can begin with.
        if let Some(found) = infer::get(start).filter(|_| !is_plain(start))
            && found.matcher_type() == MatcherType::Image
        {
            return Self::Media(Media::Image { media_type: found.mime_type() });
        }
        match Classification::of(start) {
            Classification::Text => Self::Text,
            Classification::Binary { kind } => Self::Binary { kind },
        }
    }
}

/// Whether there is nothing in it that no text has: a NUL, or what is no UTF-8
/// (but for a character that the end cuts off).
fn is_plain(start: &[u8]) -> bool {
    let broken = std::str::from_utf8(start).is_err_and(|error| error.error_len().is_some());
    !broken && memchr::memchr(0, start).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds() {
        let image = |media_type| Kind::Media(Media::Image { media_type });
        let noise = [0x80, 0, 1, 0xff].repeat(50);
        let with = |magic: &[u8]| [magic, &noise].concat();
        for (start, expect) in [
            (Vec::new(), Kind::Text),
            (b"plain\n".to_vec(), Kind::Text),
            (b"BM is how a bitmap begins\n".to_vec(), Kind::Text),
            (b"GIF89a is how a GIF begins\n".to_vec(), Kind::Text),
            (b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec(), Kind::Text),
            (b"log with a NUL\0 in it, as real ones have".to_vec(), Kind::Text),
            (with(b"\x89PNG\r\n\x1a\n"), image("image/png")),
            (with(b"\xff\xd8\xff\xe0"), image("image/jpeg")),
            (with(b"GIF89a"), image("image/gif")),
            // Mostly text, and an image all the same.
            (
                [&b"\xff\xd8\xff\xe1"[..], &b"<x:xmpmeta/>".repeat(600)].concat(),
                image("image/jpeg"),
            ),
            (b"%PDF-1.7\n1 0 obj\n".to_vec(), Kind::Media(Media::Pdf)),
            (with(b"\x1f\x8b\x08"), Kind::Binary { kind: Some("gzip") }),
            (noise.clone(), Kind::Binary { kind: None }),
        ] {
            assert_eq!(Kind::of(&start), expect, "{:?}", String::from_utf8_lossy(&start));
        }
    }
}
