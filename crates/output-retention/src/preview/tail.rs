//! Where the tail of a truncated stream begins.
//!
//! Responsible for taking lines from the end while they fit, without repeating
//! the head, and for filling what is left with the end of a line that could
//! never fit.

use super::limits::Budget;
use crate::unit::{Kind, Unit, Units, escaped_len_within, unit_start_before};

/// How far before its budget the tail looks for an escape sequence that it may
/// begin inside of, in bytes.
pub(super) const CONTEXT_BYTES: usize = 1_024;

/// Where the tail begins in `window`, the end of the stream: all of it, or over
/// two budgets of it and [`CONTEXT_BYTES`].
///
/// It begins at or after `floor`, where the head ends. The halves of the limits
/// keep them apart already; this makes it so whatever the budgets are.
pub(super) fn tail_start(window: &[u8], floor: usize, full: Budget) -> usize {
    let mut left = full;
    let mut start = window.len();
    while left.lines > 0 && start > floor {
        // A line that begins before the window is taken to begin with it: what
        // is seen of it is longer than the budget already.
        let newline = memchr::memrchr(b'\n', &window[..start - 1]);
        let line_start = newline.map_or(0, |newline| newline + 1);
        let Some((bytes, escaped)) = line_within(&window[line_start..start], full) else {
            return filled(&window[..start], line_start, floor, left);
        };
        let after = left.after_line(bytes, escaped);
        let Some(after) = after.filter(|_| line_start >= floor) else { break };
        left = after;
        start = line_start;
    }
    start
}

/// The size of a line, raw and escaped, if it alone is within `full`.
fn line_within(line: &[u8], full: Budget) -> Option<(usize, usize)> {
    if line.len() > full.bytes {
        return None;
    }
    Some((line.len(), escaped_len_within(line, full.escaped)?))
}

/// Where to begin so that the end of a line fits `left`. `bytes` end where the
/// line does; it starts at `line_start`, or before all that is known.
fn filled(bytes: &[u8], line_start: usize, floor: usize, left: Budget) -> usize {
    let end = bytes.len();
    let lowest = line_start.max(floor).max(end.saturating_sub(left.bytes));
    let from = line_start.max(lowest.saturating_sub(CONTEXT_BYTES));
    let mut units = Units::starting_at(bytes, unit_start_before(bytes, from, lowest));

    let mut after: usize = units.clone().map(Unit::escaped_len).sum();
    let start = units.find_map(|unit| {
        after -= unit.escaped_len();
        start_inside(unit, lowest, left.escaped.checked_sub(after)?)
    });
    match start {
        // The end of the line alone is nothing of it.
        Some(start) if &bytes[start..] != b"\n" => start,
        _ => end,
    }
}

/// The first place in `unit`, at or after `lowest`, from which on it can be
/// shown in `escaped` bytes.
fn start_inside(unit: Unit, lowest: usize, escaped: usize) -> Option<usize> {
    if unit.start >= lowest && unit.escaped_len() <= escaped {
        return Some(unit.start);
    }
    if unit.kind != Kind::Invalid {
        return None;
    }
    // Without its first byte, each of the others is undecodable for itself.
    let replacement = char::REPLACEMENT_CHARACTER.len_utf8();
    let first = lowest.max(unit.start + 1);
    (first..unit.end).find(|&at| (unit.end - at) * replacement <= escaped)
}
