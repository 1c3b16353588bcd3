//! Bytes to text, a chunk at a time.
//!
//! Responsible for decoding a stream that arrives in any chunking exactly as
//! [`String::from_utf8_lossy`] would decode it in one piece: a character that
//! is split over chunks is put together again, and what is no UTF-8 becomes one
//! U+FFFD for each maximal part.

/// An incremental lossy UTF-8 decoder. It holds back at most three bytes: the
/// start of a character that the next chunk may complete.
///
/// ```
/// use output_retention::Utf8Decoder;
///
/// let mut decoder = Utf8Decoder::default();
/// let mut text = String::new();
/// decoder.push(b"caf\xc3", &mut text);
/// assert_eq!(text, "caf");
/// decoder.push(b"\xa9 \xff", &mut text);
/// decoder.finish(&mut text);
/// assert_eq!(text, "café \u{fffd}");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Utf8Decoder {
    pending: Pending,
}

#[derive(Debug, Clone, Default)]
struct Pending {
    bytes: [u8; 4],
    len: usize,
}

impl Utf8Decoder {
    /// Decodes `chunk` and appends to `out` all that no later byte can change.
    pub fn push(&mut self, mut chunk: &[u8], out: &mut String) {
        while self.pending.len > 0 {
            let Some((&byte, rest)) = chunk.split_first() else { return };
            self.pending.bytes[self.pending.len] = byte;
            self.pending.len += 1;
            let held = std::mem::take(&mut self.pending);
            let held_bytes = &held.bytes[..held.len];
            match std::str::from_utf8(held_bytes) {
                Ok(text) => {
                    out.push_str(text);
                    chunk = rest;
                }
                Err(error) if error.error_len().is_some() => {
                    // The byte that broke the character may begin another one.
                    out.push(char::REPLACEMENT_CHARACTER);
                }
                Err(_) => {
                    self.pending = held;
                    chunk = rest;
                }
            }
        }
        self.pending = decode_chunk(chunk, out);
    }

    /// Ends the input: an unfinished character becomes one U+FFFD.
    pub fn finish(self, out: &mut String) {
        if self.pending.len > 0 {
            out.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

/// Decodes all of `chunk` but an unfinished character at its end.
fn decode_chunk(chunk: &[u8], out: &mut String) -> Pending {
    let mut position = 0;
    for part in chunk.utf8_chunks() {
        out.push_str(part.valid());
        let bad = part.invalid();
        position += part.valid().len() + bad.len();
        let broken = std::str::from_utf8(bad).err();
        if position == chunk.len() && broken.is_some_and(|error| error.error_len().is_none()) {
            let mut pending = Pending { len: bad.len(), ..Pending::default() };
            pending.bytes[..bad.len()].copy_from_slice(bad);
            return pending;
        }
        if !bad.is_empty() {
            out.push(char::REPLACEMENT_CHARACTER);
        }
    }
    Pending::default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Stream, chunked, stream_bytes};

    fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> String {
        let mut decoder = Utf8Decoder::default();
        let mut text = String::new();
        for chunk in chunks {
            decoder.push(chunk, &mut text);
        }
        decoder.finish(&mut text);
        text
    }

    #[test]
    fn a_character_in_any_pieces_is_whole() {
        let text = "你".repeat(5_000);
        for size in [1, 2, 3, 4095, 4096, 65536] {
            assert_eq!(decode(text.as_bytes().chunks(size)), text, "{size}");
        }
    }

    #[test]
    fn broken_characters_byte_by_byte() {
        for bytes in [
            &b"\xf0\x9f\x98"[..],
            b"\xe2\x82x",
            b"\xe2\xe2\x82\xac",
            b"\xf0\x9f\xf0\x9f\x98\x80",
            b"\xed\xa0\x80",
            b"\x80\xc0\xaf\xff",
        ] {
            assert_eq!(decode(bytes.chunks(1)), String::from_utf8_lossy(bytes), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn equals_std_for_any_chunking(
            bytes in prop_oneof![any::<Vec<u8>>().prop_map(Stream), stream_bytes(200)],
            sizes in prop::collection::vec(1usize..9, 1..9),
        ) {
            prop_assert_eq!(decode(chunked(&bytes, &sizes)), String::from_utf8_lossy(&bytes));
        }
    }
}
