//! What a preview may show: limits in lines, bytes and escaped bytes.
//!
//! Responsible for refusing limits that make no sense, for bounding those that
//! would cost memory, and for dividing them between head and tail.

use output_contract::limits::{MAX_MODEL_TEXT_BYTES, MODEL_TEXT_RESERVE_BYTES};

/// Where the shown part of a truncated stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// At the start.
    Head,
    /// At the start and at the end, half of each limit each.
    HeadTail,
}

/// The limits of one stream's preview. They bound content; headings and hints
/// are not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    max_lines: u64,
    max_bytes: u64,
    shape: Shape,
    max_escaped_bytes: usize,
}

/// Why limits are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitsError {
    /// `max_lines` is 0.
    #[error("max_lines must be at least 1")]
    ZeroLines,
    /// `max_bytes` is 0.
    #[error("max_bytes must be at least 1")]
    ZeroBytes,
}

impl Limits {
    /// Limits of one of `streams` streams that are shown together: at most
    /// `max_lines` lines, `max_bytes` artifact bytes, and an equal share of the
    /// escaped model text.
    ///
    /// A `max_bytes` above 2 MiB ([`MAX_MODEL_TEXT_BYTES`]) acts as 2 MiB: no
    /// more could be shown, and memory stays bounded.
    ///
    /// # Errors
    /// [`LimitsError`] where a limit is 0.
    pub fn new(
        max_lines: u64,
        max_bytes: u64,
        shape: Shape,
        streams: usize,
    ) -> Result<Self, LimitsError> {
        if max_lines == 0 {
            return Err(LimitsError::ZeroLines);
        }
        if max_bytes == 0 {
            return Err(LimitsError::ZeroBytes);
        }
        let max_bytes = max_bytes.min(MAX_MODEL_TEXT_BYTES as u64);
        let content = MAX_MODEL_TEXT_BYTES - MODEL_TEXT_RESERVE_BYTES;
        Ok(Self { max_lines, max_bytes, shape, max_escaped_bytes: content / streams.max(1) })
    }

    /// Most lines shown; a part of a line counts as one.
    pub fn max_lines(&self) -> u64 {
        self.max_lines
    }

    /// Most artifact bytes shown, at most 2 MiB.
    pub fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// Where the shown part is.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Most bytes of rendered text, measured as they are inside a JSON string.
    pub fn max_escaped_bytes(&self) -> usize {
        self.max_escaped_bytes
    }

    /// The same limits, but at most `bytes` bytes of escaped text.
    #[must_use]
    pub fn with_max_escaped_bytes_at_most(self, bytes: usize) -> Self {
        Self { max_escaped_bytes: self.max_escaped_bytes.min(bytes), ..self }
    }

    pub(super) fn with_max_bytes_at_most(self, bytes: u64) -> Self {
        Self { max_bytes: self.max_bytes.min(bytes), ..self }
    }

    /// [`Self::max_bytes`] as a size in memory.
    pub(super) fn max_bytes_in_memory(&self) -> usize {
        usize::try_from(self.max_bytes).unwrap_or(MAX_MODEL_TEXT_BYTES)
    }

    /// What a whole stream may take.
    pub(super) fn whole(&self) -> Budget {
        let bytes = self.max_bytes_in_memory();
        Budget { lines: self.max_lines, bytes, escaped: self.max_escaped_bytes }
    }

    /// What the head of a truncated stream may take.
    pub(super) fn head(&self) -> Budget {
        let Budget { lines, bytes, escaped } = self.whole();
        match self.shape {
            Shape::Head => self.whole(),
            Shape::HeadTail => Budget {
                lines: lines.div_ceil(2),
                bytes: bytes.div_ceil(2),
                escaped: escaped.div_ceil(2),
            },
        }
    }

    /// What the tail of a truncated stream may take; `None` where it is left
    /// out.
    pub(super) fn tail(&self) -> Option<Budget> {
        let Budget { lines, bytes, escaped } = self.whole();
        let half = Budget { lines: lines / 2, bytes: bytes / 2, escaped: escaped / 2 };
        let empty = half.lines == 0 || half.bytes == 0 || half.escaped == 0;
        (self.shape == Shape::HeadTail && !empty).then_some(half)
    }
}

/// What a part of a cut may still take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Budget {
    pub(super) lines: u64,
    pub(super) bytes: usize,
    pub(super) escaped: usize,
}

impl Budget {
    /// What is left after one line of that size, if it fits.
    pub(super) fn after_line(self, bytes: usize, escaped: usize) -> Option<Self> {
        Some(Self {
            lines: self.lines.checked_sub(1)?,
            bytes: self.bytes.checked_sub(bytes)?,
            escaped: self.escaped.checked_sub(escaped)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_checked_and_bounded() {
        let limits = |lines, bytes| Limits::new(lines, bytes, Shape::Head, 1);
        assert_eq!(limits(0, 1), Err(LimitsError::ZeroLines));
        assert_eq!(limits(1, 0), Err(LimitsError::ZeroBytes));
        assert_eq!(limits(u64::MAX, u64::MAX).unwrap().max_bytes(), 2 * 1024 * 1024);
        assert_eq!(limits(u64::MAX, 5).unwrap().max_lines(), u64::MAX);
    }

    #[test]
    fn streams_share_the_escaped_bytes() {
        let share = |streams| Limits::new(1, 1, Shape::Head, streams).unwrap().max_escaped_bytes();
        assert_eq!(share(1), 2 * 1024 * 1024 - 16 * 1024);
        assert_eq!(share(8), 260_096);
        assert_eq!(share(0), share(1));
    }

    #[test]
    fn halves() {
        let parts = |lines, bytes, escaped, shape| {
            let limits = Limits::new(lines, bytes, shape, 1).unwrap();
            let limits = limits.with_max_escaped_bytes_at_most(escaped);
            let plain = |b: Budget| (b.lines, b.bytes, b.escaped);
            (plain(limits.head()), limits.tail().map(plain))
        };
        assert_eq!(parts(5, 7, 9, Shape::Head), ((5, 7, 9), None));
        assert_eq!(parts(5, 7, 9, Shape::HeadTail), ((3, 4, 5), Some((2, 3, 4))));
        assert_eq!(parts(1, 7, 9, Shape::HeadTail), ((1, 4, 5), None));
        assert_eq!(parts(5, 1, 9, Shape::HeadTail), ((3, 1, 5), None));
    }
}
