//! A cut: what is shown of a stream, and exact counts of the rest.
//!
//! Responsible for putting head and tail together and for the counts: shown and
//! omitted bytes are the stream's bytes, always.

use super::Preview;
use super::head::head_end;
use super::limits::Limits;
use super::tail::tail_start;
use crate::unit::escaped_len_within;

/// What is shown of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut<'a> {
    /// The first bytes; the whole stream where it is not truncated.
    pub head: &'a [u8],
    /// The last bytes, where the shape shows any.
    pub tail: Option<TailCut<'a>>,
    /// Bytes in head and tail.
    pub shown_bytes: u64,
    /// Bytes in neither.
    pub omitted_bytes: u64,
    /// Lines of which nothing is shown.
    pub omitted_lines: u64,
    /// Where a reader goes on after the head; `None` where the stream is whole.
    pub next: Option<Position>,
}

/// The last bytes of a truncated stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TailCut<'a> {
    /// The bytes, at least one.
    pub bytes: &'a [u8],
    /// How many lines they are, a partial one included.
    pub lines: u64,
    /// Whether they begin where a line does.
    pub at_line_start: bool,
}

/// A place in a stream: a line, and a byte inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The zero-based first line that is not wholly shown.
    pub line: u64,
    /// How many bytes of that line are shown.
    pub byte_offset: u64,
}

impl Cut<'_> {
    /// Whether something is left out.
    pub fn is_truncated(&self) -> bool {
        self.next.is_some()
    }
}

pub(super) fn cut<'a>(preview: &'a Preview, limits: &Limits) -> Cut<'a> {
    let total = preview.total_bytes();
    let prefix = preview.ends.prefix();
    if is_within(preview, limits) {
        return Cut {
            head: prefix,
            tail: None,
            shown_bytes: total,
            omitted_bytes: 0,
            omitted_lines: 0,
            next: None,
        };
    }

    let head = &prefix[..head_end(prefix, limits.head())];
    let next = position_after(head);
    let tail = tail(preview, limits, head.len());

    let shown_bytes = (head.len() + tail.map_or(0, |tail| tail.bytes.len())) as u64;
    let tail_lines = tail.map_or(0, |tail| tail.lines);
    // The line that the head ends in may be the one that the tail begins in.
    let shared = next.byte_offset > 0 && preview.total_lines() - tail_lines == next.line;
    let shown_lines = count_lines(head) + tail_lines - u64::from(shared);
    Cut {
        head,
        tail,
        shown_bytes,
        omitted_bytes: total - shown_bytes,
        omitted_lines: preview.total_lines() - shown_lines,
        next: Some(next),
    }
}

fn is_within(preview: &Preview, limits: &Limits) -> bool {
    let whole = limits.whole();
    preview.total_lines() <= whole.lines
        && preview.total_bytes() <= whole.bytes as u64
        && escaped_len_within(preview.ends.prefix(), whole.escaped).is_some()
}

fn tail<'a>(preview: &'a Preview, limits: &Limits, head_end: usize) -> Option<TailCut<'a>> {
    let budget = limits.tail()?;
    let (window, window_start) = preview.ends.suffix();
    let head_end = (head_end as u64).saturating_sub(window_start);
    let floor = usize::try_from(head_end).unwrap_or(window.len());
    let start = tail_start(window, floor, budget);
    let bytes = &window[start..];
    (!bytes.is_empty()).then(|| TailCut {
        bytes,
        lines: count_lines(bytes),
        at_line_start: start == 0 || window[start - 1] == b'\n',
    })
}

fn position_after(head: &[u8]) -> Position {
    let line_start = memchr::memrchr(b'\n', head).map_or(0, |newline| newline + 1);
    Position {
        line: count_lines(&head[..line_start]),
        byte_offset: (head.len() - line_start) as u64,
    }
}

fn count_lines(bytes: &[u8]) -> u64 {
    let unterminated = bytes.last().is_some_and(|&last| last != b'\n');
    memchr::memchr_iter(b'\n', bytes).count() as u64 + u64::from(unterminated)
}
