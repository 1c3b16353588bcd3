//! What a text reader wants to know of bytes: longest line, UTF-8, NUL.
//!
//! Every question stops costing anything once its answer is final, and none
//! looks at single bytes outside of `memchr` and the standard validator.

use memchr::{memchr, memrchr};

#[derive(Debug, Clone)]
pub(super) struct TextFacts {
    /// The longest line so far, the open one included.
    longest: u64,
    /// Bytes of the line that has no `\n` yet.
    open: u64,
    has_nul: bool,
    invalid: bool,
    /// The start of a code point whose end was not seen yet.
    carry: [u8; 4],
    carry_len: usize,
}

impl TextFacts {
    pub(super) const fn new() -> Self {
        Self { longest: 0, open: 0, has_nul: false, invalid: false, carry: [0; 4], carry_len: 0 }
    }

    pub(super) const fn longest_line(&self) -> u64 {
        self.longest
    }

    /// Whether the bytes end inside a line.
    pub(super) const fn open_line(&self) -> bool {
        self.open > 0
    }

    pub(super) const fn has_nul(&self) -> bool {
        self.has_nul
    }

    pub(super) const fn valid_utf8(&self) -> bool {
        !self.invalid && self.carry_len == 0
    }

    pub(super) fn update(&mut self, piece: &[u8]) {
        self.has_nul = self.has_nul || memchr(0, piece).is_some();
        self.measure_lines(piece);
        if !self.invalid {
            self.validate(piece);
        }
    }

    /// Jumps as far as no line can be longer than the longest known one: any
    /// `\n` within that reach closes all lines up to it.
    fn measure_lines(&mut self, piece: &[u8]) {
        let mut start = 0;
        while start < piece.len() {
            let reach = usize::try_from(self.longest - self.open).unwrap_or(usize::MAX);
            let end = start.saturating_add(reach).saturating_add(1).min(piece.len());
            if let Some(newline) = memrchr(b'\n', &piece[start..end]) {
                start += newline + 1;
            } else if let Some(newline) = memchr(b'\n', &piece[end..]) {
                self.longest = self.open + (end + newline - start) as u64;
                start = end + newline + 1;
            } else {
                self.open += (piece.len() - start) as u64;
                self.longest = self.longest.max(self.open);
                return;
            }
            self.open = 0;
        }
    }

    fn validate(&mut self, mut piece: &[u8]) {
        while self.carry_len > 0 {
            let Some((&next, rest)) = piece.split_first() else { return };
            piece = rest;
            self.carry[self.carry_len] = next;
            self.carry_len += 1;
            match std::str::from_utf8(&self.carry[..self.carry_len]) {
                Ok(_) => self.carry_len = 0,
                Err(error) if error.error_len().is_none() => {}
                Err(_) => {
                    self.invalid = true;
                    return;
                }
            }
        }
        if let Err(error) = std::str::from_utf8(piece) {
            let rest = &piece[error.valid_up_to()..];
            if error.error_len().is_some() {
                self.invalid = true;
            } else {
                self.carry[..rest.len()].copy_from_slice(rest);
                self.carry_len = rest.len();
            }
        }
    }
}
