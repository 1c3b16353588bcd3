//! Previews: the bounded part of a stream that the model sees.
//!
//! Responsible for collecting what any cut may need while a stream passes by,
//! in memory of at most about three times `max_bytes`, and for cutting it.
//! Once the start is full, a push costs a newline count and a copy of what may
//! be the end.
//!
//! The rules of a cut, all in artifact bytes:
//!
//! - A stream within all limits is whole. Limits are lines, bytes, and bytes of
//!   JSON-escaped rendered text.
//! - The head takes lines while they fit what is left of its budget. A line
//!   that does not fit, but would fit the whole budget, is left to a reader. A
//!   line that exceeds the whole budget fills what is left: so something of it
//!   is shown, and a reader continues inside it.
//! - [`Shape::HeadTail`] halves every limit: the head gets the greater half. The
//!   tail takes lines backwards by the same rules and never repeats the head.
//! - No cut parts a character. A cut moves before or past an escape sequence
//!   that it would part, where the sequence is short enough to be known.

mod cut;
mod head;
mod limits;
#[cfg(test)]
mod oracle;
mod tail;
#[cfg(test)]
mod tests;

pub use cut::{Cut, Position, TailCut};
pub use limits::{Limits, LimitsError, Shape};

use crate::binary::{Classification, SNIFF_BYTES};
use crate::ends::{Ends, EndsBuilder};

/// Collects the [`Preview`] of one stream.
///
/// ```
/// use output_retention::{Limits, PreviewBuilder, Shape};
///
/// let limits = Limits::new(4, 51_200, Shape::HeadTail, 1)?;
/// let mut builder = PreviewBuilder::new(limits);
/// (1..=9).for_each(|n| builder.push(format!("line {n}\n").as_bytes()));
/// let preview = builder.finish();
/// assert_eq!((preview.total_bytes(), preview.total_lines()), (63, 9));
///
/// let cut = preview.cut(&limits);
/// assert_eq!(cut.head, b"line 1\nline 2\n");
/// assert_eq!(cut.tail.unwrap().bytes, b"line 8\nline 9\n");
/// assert_eq!((cut.omitted_lines, cut.omitted_bytes), (5, 35));
/// assert_eq!(cut.next.unwrap().line, 2);
/// # Ok::<(), output_retention::LimitsError>(())
/// ```
#[derive(Debug, Clone)]
pub struct PreviewBuilder {
    limits: Limits,
    /// The start again, for the classification, however small the limits are.
    sniffed: Vec<u8>,
    ends: EndsBuilder,
    newlines: u64,
    ends_in_newline: bool,
}

impl PreviewBuilder {
    /// Collects what cuts by `limits`, or by smaller ones, may need.
    pub fn new(limits: Limits) -> Self {
        // Twice a part's budget: the line after what fits may be as long as the
        // budget, and whether it is longer decides how the part ends.
        let bytes = 2 * limits.max_bytes_in_memory();
        let ends = EndsBuilder::new(bytes + head::LOOKAHEAD_BYTES, bytes / 2 + tail::CONTEXT_BYTES);
        Self { limits, sniffed: Vec::new(), ends, newlines: 0, ends_in_newline: false }
    }

    /// Takes the next bytes of the stream.
    pub fn push(&mut self, chunk: &[u8]) {
        let Some(&last) = chunk.last() else { return };
        let room = SNIFF_BYTES - self.sniffed.len();
        self.sniffed.extend_from_slice(&chunk[..room.min(chunk.len())]);
        self.ends.push(chunk);
        self.newlines += memchr::memchr_iter(b'\n', chunk).count() as u64;
        self.ends_in_newline = last == b'\n';
    }

    /// Ends the stream.
    pub fn finish(self) -> Preview {
        let ends = self.ends.finish();
        let unterminated = ends.total() > 0 && !self.ends_in_newline;
        Preview {
            limits: self.limits,
            classification: Classification::of(&self.sniffed),
            total_lines: self.newlines + u64::from(unterminated),
            ends,
        }
    }
}

/// What is known of a stream that has ended: its size, its kind, and its ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    limits: Limits,
    classification: Classification,
    total_lines: u64,
    ends: Ends,
}

impl Preview {
    /// The preview of a stream that is at hand as a whole.
    pub fn of(bytes: &[u8], limits: Limits) -> Self {
        let mut builder = PreviewBuilder::new(limits);
        builder.push(bytes);
        builder.finish()
    }

    /// The limits it was collected for.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Length of the stream, in bytes.
    pub fn total_bytes(&self) -> u64 {
        self.ends.total()
    }

    /// Lines of the stream. Only `\n` ends one; an unterminated rest is one
    /// more.
    pub fn total_lines(&self) -> u64 {
        self.total_lines
    }

    /// Whether it is text, judged by its first 8,000 bytes.
    pub fn classification(&self) -> Classification {
        self.classification
    }

    /// The kept start of the stream: all of it, or at least as many bytes as
    /// the limits allow to be shown.
    pub fn kept_start(&self) -> &[u8] {
        self.ends.prefix()
    }

    /// The kept end of the stream: all of it, or at least as many bytes as the
    /// limits allow to be shown.
    pub fn kept_end(&self) -> &[u8] {
        self.ends.suffix().0
    }

    /// Cuts the stream by `limits`: those it was collected for or others of
    /// either shape. A greater `max_bytes` than was collected for acts as that;
    /// otherwise the cut is the same that a new collection would give.
    pub fn cut(&self, limits: &Limits) -> Cut<'_> {
        cut::cut(self, &limits.with_max_bytes_at_most(self.limits.max_bytes()))
    }
}
