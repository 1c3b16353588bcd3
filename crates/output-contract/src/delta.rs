//! Output while it is being produced: chunks of bytes, and display text.

use bytes::Bytes;

use crate::declaration::OutputDeclaration;
use crate::limits::{MAX_CHUNK_BYTES, MAX_CHUNKS_PER_DELTA, MAX_DELTA_DISPLAY_BYTES};
use crate::stream::StreamName;

/// Bytes appended to one channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// The stream; `None` is the single output.
    pub stream: Option<StreamName>,
    /// At most [`MAX_CHUNK_BYTES`] bytes, of any kind: text is a view of them.
    pub bytes: Bytes,
}

impl Chunk {
    /// A chunk of the single output.
    pub fn single(bytes: impl Into<Bytes>) -> Self {
        Self { stream: None, bytes: bytes.into() }
    }

    /// A chunk of a named stream.
    pub fn named(stream: StreamName, bytes: impl Into<Bytes>) -> Self {
        Self { stream: Some(stream), bytes: bytes.into() }
    }
}

/// Chunks for any of the declared channels, and text for the live display.
///
/// Display is not output: it is never inserted into a stream, and a stream is
/// never shown on the display by itself. A delta is accepted or refused whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Delta {
    /// At most [`MAX_CHUNKS_PER_DELTA`] chunks; those of one channel keep their order.
    pub chunks: Vec<Chunk>,
    /// Text appended to the live display, at most [`MAX_DELTA_DISPLAY_BYTES`] bytes.
    pub display: Option<String>,
}

impl Delta {
    /// A delta that only appends to the live display.
    pub fn display(text: impl Into<String>) -> Self {
        Self { chunks: Vec::new(), display: Some(text.into()) }
    }

    /// Adds text for the live display.
    #[must_use]
    pub fn with_display(mut self, text: impl Into<String>) -> Self {
        self.display = Some(text.into());
        self
    }
}

impl From<Chunk> for Delta {
    fn from(chunk: Chunk) -> Self {
        Self { chunks: vec![chunk], display: None }
    }
}

impl OutputDeclaration {
    /// Checks a whole delta, before a byte of it is written.
    ///
    /// # Errors
    /// [`DeltaError`] says which rule is broken; then nothing of the delta is
    /// to be accepted.
    pub fn check_delta(&self, delta: &Delta) -> Result<(), DeltaError> {
        if delta.chunks.len() > MAX_CHUNKS_PER_DELTA {
            return Err(DeltaError::TooManyChunks { count: delta.chunks.len() });
        }
        if let Some(display) = &delta.display
            && display.len() > MAX_DELTA_DISPLAY_BYTES
        {
            return Err(DeltaError::DisplayTooLarge { bytes: display.len() });
        }
        for chunk in &delta.chunks {
            if self.index_of(chunk.stream.as_ref()).is_none() {
                return Err(match &chunk.stream {
                    Some(stream) => DeltaError::UndeclaredStream {
                        stream: stream.clone(),
                        declared: self.names().to_vec(),
                    },
                    None => DeltaError::UnnamedChunk { declared: self.names().to_vec() },
                });
            }
            if chunk.bytes.len() > MAX_CHUNK_BYTES {
                return Err(DeltaError::ChunkTooLarge { bytes: chunk.bytes.len() });
            }
        }
        Ok(())
    }
}

/// Cuts text into pieces of at most `max_bytes` bytes on char boundaries.
///
/// A piece is longer only where a single character is larger than `max_bytes`.
pub fn split_text(text: &str, max_bytes: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = floor_char_boundary(rest, max_bytes).max(first.len_utf8());
        let (piece, tail) = rest.split_at(end);
        rest = tail;
        Some(piece)
    })
}

/// The last char boundary at or before `index`; the method of `str` is newer
/// than our `rust-version`.
fn floor_char_boundary(text: &str, index: usize) -> usize {
    let index = index.min(text.len());
    (0..=index).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0)
}

/// Why a delta is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeltaError {
    /// A chunk names a stream that was not declared.
    #[error("stream {stream} is not declared (declared: {})", list(declared))]
    UndeclaredStream {
        /// The name in the chunk.
        stream: StreamName,
        /// The declared names; none for a single output.
        declared: Vec<StreamName>,
    },
    /// A chunk without a name was sent to named streams.
    #[error("a chunk must name one of the declared streams: {}", list(declared))]
    UnnamedChunk {
        /// The declared names.
        declared: Vec<StreamName>,
    },
    /// More than [`MAX_CHUNKS_PER_DELTA`] chunks.
    #[error("a delta has at most {MAX_CHUNKS_PER_DELTA} chunks, not {count}")]
    TooManyChunks {
        /// How many there were.
        count: usize,
    },
    /// A chunk larger than [`MAX_CHUNK_BYTES`].
    #[error("a chunk has at most {MAX_CHUNK_BYTES} bytes, not {bytes}")]
    ChunkTooLarge {
        /// Its size, in bytes.
        bytes: usize,
    },
    /// Display text longer than [`MAX_DELTA_DISPLAY_BYTES`].
    #[error("the display text of a delta has at most {MAX_DELTA_DISPLAY_BYTES} bytes, not {bytes}")]
    DisplayTooLarge {
        /// Its size, in bytes.
        bytes: usize,
    },
}

fn list(names: &[StreamName]) -> String {
    if names.is_empty() {
        return "one unnamed output".to_owned();
    }
    names.iter().map(StreamName::as_str).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name(s: &str) -> StreamName {
        s.parse().unwrap()
    }

    #[test]
    fn a_delta_is_checked_whole() {
        let single = OutputDeclaration::Single;
        let named = OutputDeclaration::named(["out", "err"]).unwrap();
        let big = vec![0; MAX_CHUNK_BYTES];

        assert_eq!(single.check_delta(&Chunk::single(big.clone()).into()), Ok(()));
        assert_eq!(named.check_delta(&Chunk::named(name("err"), "x").into()), Ok(()));
        assert_eq!(named.check_delta(&Delta::default()), Ok(()));

        let mut over = big;
        over.push(0);
        assert!(matches!(
            single.check_delta(&Chunk::single(over).into()),
            Err(DeltaError::ChunkTooLarge { .. })
        ));
        let mixed = Delta {
            chunks: vec![Chunk::named(name("out"), "x"), Chunk::named(name("log"), "y")],
            display: None,
        };
        assert!(matches!(named.check_delta(&mixed), Err(DeltaError::UndeclaredStream { .. })));
        assert!(matches!(
            named.check_delta(&Chunk::single("x").into()),
            Err(DeltaError::UnnamedChunk { .. })
        ));
        assert!(matches!(
            single.check_delta(&Chunk::named(name("out"), "x").into()),
            Err(DeltaError::UndeclaredStream { .. })
        ));
        let many = Delta { chunks: vec![Chunk::single("x"); 9], display: None };
        assert_eq!(single.check_delta(&many), Err(DeltaError::TooManyChunks { count: 9 }));
        let loud = Delta::display("x".repeat(MAX_DELTA_DISPLAY_BYTES + 1));
        assert!(matches!(single.check_delta(&loud), Err(DeltaError::DisplayTooLarge { .. })));
    }

    proptest! {
        #[test]
        fn split_text_loses_nothing(text in "\\PC*", max in 0_usize..9) {
            let pieces: Vec<&str> = split_text(&text, max).collect();
            prop_assert_eq!(pieces.concat(), text.as_str());
            for piece in pieces {
                prop_assert!(piece.len() <= max || piece.chars().count() == 1);
            }
        }
    }
}
