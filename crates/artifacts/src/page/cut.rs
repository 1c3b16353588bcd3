//! Cutting without I/O: says what it needs next, and is given it.

use std::ops::Range;

use bytes::{Bytes, BytesMut};
use memchr::memchr_iter;

use super::{
    MAX_PAGE_BYTES, MAX_PAGE_LINES, Page, PageError, PagePosition, PageRequest, PageSuggestion,
};
use crate::hash::BLOCK_BYTES;

/// Longest code point, in bytes.
const MAX_CODE_POINT: usize = 4;

/// What a [`Cut`] needs next.
#[derive(Debug)]
pub(super) enum Step {
    /// The position of a line, for [`Cut::line_start`].
    LineStart(u64),
    /// Bytes, for [`Cut::window`].
    Read(Range<u64>),
    /// Nothing.
    Done(Page),
}

/// Where a [`Cut`] stands.
#[derive(Debug)]
enum Phase {
    /// The position of line `offset` is not known.
    Seek,
    /// Its end is not known, and `byte_offset` must be checked against it.
    SeekEnd { start: u64 },
    /// It is the last line, and may or may not have a newline.
    SeekNewline { start: u64 },
    /// Bytes are read from `start` on.
    Scan { start: u64 },
}

/// A page on its way.
#[derive(Debug)]
pub(super) struct Cut {
    request: PageRequest,
    total_bytes: u64,
    total_lines: u64,
    /// Most lines of this page.
    max_lines: u64,
    /// Most bytes of this page.
    budget: usize,
    phase: Phase,
    /// What was read from `start` on.
    buffer: BytesMut,
    /// Bytes of `buffer` in which newlines were looked for.
    scanned: usize,
    /// Whole lines that fit, and where the last of them ends.
    lines: u64,
    lines_end: usize,
    /// A line was found that does not fit.
    overflow: bool,
    /// A position behind the line's end was asked for; its length.
    past_line: Option<u64>,
}

impl Cut {
    pub(super) fn new(
        request: PageRequest,
        total_bytes: u64,
        total_lines: u64,
    ) -> Result<Self, PageError> {
        if request.limit == Some(0) {
            return Err(PageError::LimitZero);
        }
        let budget = match request.limit {
            Some(_) => MAX_PAGE_BYTES,
            None => request.page_bytes.min(MAX_PAGE_BYTES),
        };
        Ok(Self {
            request,
            total_bytes,
            total_lines,
            max_lines: request.limit.map_or(MAX_PAGE_LINES, |limit| limit.min(MAX_PAGE_LINES)),
            budget: budget as usize,
            phase: Phase::Seek,
            buffer: BytesMut::new(),
            scanned: 0,
            lines: 0,
            lines_end: 0,
            overflow: false,
            past_line: None,
        })
    }

    /// What is needed next, or the page.
    pub(super) fn step(&mut self) -> Result<Step, PageError> {
        let PageRequest { offset, byte_offset, .. } = self.request;
        if let Some(line_bytes) = self.past_line {
            return Err(PageError::ByteOffsetPastLine { offset, byte_offset, line_bytes });
        }
        match self.phase {
            _ if offset >= self.total_lines => Ok(Step::Done(self.page(0, 0, None))),
            Phase::Seek => Ok(Step::LineStart(offset)),
            Phase::SeekEnd { .. } => Ok(Step::LineStart(offset + 1)),
            Phase::SeekNewline { .. } => Ok(Step::Read(self.total_bytes - 1..self.total_bytes)),
            Phase::Scan { start } => self.scan_step(start),
        }
    }

    /// Takes the position asked for.
    pub(super) fn line_start(&mut self, position: u64) {
        let PageRequest { offset, byte_offset, .. } = self.request;
        self.phase = match self.phase {
            Phase::Seek if byte_offset == 0 => Phase::Scan { start: position },
            Phase::Seek => Phase::SeekEnd { start: position },
            Phase::SeekEnd { start } if offset + 1 == self.total_lines => {
                Phase::SeekNewline { start }
            }
            Phase::SeekEnd { start } => self.scan_within(start, position - 1),
            Phase::SeekNewline { start } | Phase::Scan { start } => Phase::Scan { start },
        };
    }

    /// Takes the bytes asked for.
    pub(super) fn window(&mut self, bytes: &Bytes) {
        if let Phase::SeekNewline { start } = self.phase {
            let newline = u64::from(bytes.ends_with(b"\n"));
            self.phase = self.scan_within(start, self.total_bytes - newline);
            return;
        }
        self.buffer.extend_from_slice(bytes);
        for newline in memchr_iter(b'\n', &self.buffer[self.scanned..]) {
            let end = self.scanned + newline + 1;
            if self.lines == self.max_lines {
                break;
            }
            if end > self.budget {
                self.overflow = true;
                break;
            }
            self.lines += 1;
            self.lines_end = end;
        }
        self.scanned = self.buffer.len();
    }

    /// Begins inside the line `start..end`.
    fn scan_within(&mut self, start: u64, end: u64) -> Phase {
        if self.request.byte_offset > end - start {
            self.past_line = Some(end - start);
        }
        Phase::Scan { start: start.saturating_add(self.request.byte_offset) }
    }

    fn scan_step(&mut self, start: u64) -> Result<Step, PageError> {
        let PageRequest { offset, byte_offset, limit, .. } = self.request;
        let position = start + self.buffer.len() as u64;
        let at_end = position >= self.total_bytes;
        if self.lines == self.max_lines {
            return Ok(Step::Done(self.whole_lines(start)));
        }
        if at_end && self.buffer.len() <= self.budget {
            let lines = self.lines + u64::from(self.lines_end < self.buffer.len());
            return Ok(Step::Done(self.page(self.buffer.len(), lines, None)));
        }
        // Whether a code point ends at the budget shows in the bytes behind it.
        let enough = self.buffer.len() >= self.budget + MAX_CODE_POINT;
        if !(self.overflow || enough || at_end) {
            let window_end = (position / BLOCK_BYTES + 1).saturating_mul(BLOCK_BYTES);
            return Ok(Step::Read(position..window_end.min(self.total_bytes)));
        }
        if let Some(limit) = limit {
            let suggestion = PageSuggestion {
                offset,
                limit: (self.lines > 0).then_some(self.lines),
                byte_offset,
            };
            let max_bytes = MAX_PAGE_BYTES;
            return Err(PageError::TooLarge { offset, limit, max_bytes, suggestion });
        }
        if self.lines > 0 {
            return Ok(Step::Done(self.whole_lines(start)));
        }
        let len = code_point_end(&self.buffer, self.budget);
        let more = start + (len as u64) < self.total_bytes;
        let next = if self.buffer[..len].ends_with(b"\n") {
            PagePosition { offset: offset + 1, byte_offset: 0 }
        } else {
            PagePosition { offset, byte_offset: byte_offset + len as u64 }
        };
        let next = more.then_some(next);
        Ok(Step::Done(self.page(len, 1, next)))
    }

    fn whole_lines(&mut self, start: u64) -> Page {
        let more = start + (self.lines_end as u64) < self.total_bytes;
        let next = PagePosition { offset: self.request.offset + self.lines, byte_offset: 0 };
        self.page(self.lines_end, self.lines, more.then_some(next))
    }

    fn page(&mut self, len: usize, lines: u64, next: Option<PagePosition>) -> Page {
        Page {
            bytes: self.buffer.split_to(len).freeze(),
            offset: self.request.offset,
            byte_offset: self.request.byte_offset,
            lines,
            total_lines: self.total_lines,
            total_bytes: self.total_bytes,
            next,
        }
    }
}

/// The greatest length of at most `budget`, and more than 0, that ends at no
/// place inside a code point. Bytes that belong to none stand for themselves.
fn code_point_end(bytes: &[u8], budget: usize) -> usize {
    let end = budget.min(bytes.len());
    let first = end.saturating_sub(MAX_CODE_POINT - 1);
    let inside = (first..end)
        .rev()
        .find(|&at| code_point_len(&bytes[at..]).is_some_and(|len| at + len > end));
    match inside {
        None if end > 0 => end,
        Some(at) if at > 0 => at,
        _ => code_point_len(bytes).unwrap_or(1).min(bytes.len()),
    }
}

/// The length of the code point that `bytes` begin with, where they begin with
/// a whole one.
fn code_point_len(bytes: &[u8]) -> Option<usize> {
    (1..=MAX_CODE_POINT.min(bytes.len())).find(|&len| std::str::from_utf8(&bytes[..len]).is_ok())
}
