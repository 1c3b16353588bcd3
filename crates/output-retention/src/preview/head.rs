//! Where the head of a truncated stream ends.
//!
//! Responsible for taking lines from the start while they fit, and for filling
//! what is left with the start of a line that could never fit.

use super::limits::Budget;
use crate::unit::{Kind, Units, character_around, escaped_len_within};

/// Longest escape sequence, in bytes, that the end of the head moves before.
const MAX_KEPT_SEQUENCE_BYTES: usize = 64;
/// How many bytes after the head's budget must be known: the rest of such a
/// sequence or of a character.
pub(super) const LOOKAHEAD_BYTES: usize = MAX_KEPT_SEQUENCE_BYTES + 4;

/// How many bytes the head of a stream takes that begins with `prefix`: the
/// whole stream, or over two budgets of it.
pub(super) fn head_end(prefix: &[u8], full: Budget) -> usize {
    let mut left = full;
    let mut position = 0;
    while left.lines > 0 && position < prefix.len() {
        let rest = &prefix[position..];
        let Some((bytes, escaped)) = line_within(rest, full) else {
            return position + filled(rest, left);
        };
        let Some(after) = left.after_line(bytes, escaped) else { break };
        left = after;
        position += bytes;
    }
    position
}

/// The size of the first line of `rest`, raw and escaped, if it alone is within
/// `full`.
fn line_within(rest: &[u8], full: Budget) -> Option<(usize, usize)> {
    let reach = full.bytes.min(rest.len());
    let bytes = match memchr::memchr(b'\n', &rest[..reach]) {
        Some(newline) => newline + 1,
        None if reach == rest.len() => reach,
        None => return None,
    };
    Some((bytes, escaped_len_within(&rest[..bytes], full.escaped)?))
}

/// How many bytes of a line that exceeds every budget fit `left`.
fn filled(line: &[u8], left: Budget) -> usize {
    let mut escaped = 0;
    for unit in Units::new(line) {
        let with_it = escaped + unit.escaped_len();
        if unit.end <= left.bytes && with_it <= left.escaped {
            escaped = with_it;
            continue;
        }
        return match unit.kind {
            Kind::Char(_) => unit.start,
            Kind::Invalid if with_it > left.escaped => unit.start,
            Kind::Invalid => left.bytes,
            // The start of the line is no place to move to: the same sequence
            // would stop every reader there.
            Kind::Sequence if unit.start > 0 && unit.len() <= MAX_KEPT_SEQUENCE_BYTES => unit.start,
            Kind::Sequence => {
                character_around(line, left.bytes).map_or(left.bytes, |(start, _)| start)
            }
        };
    }
    line.len()
}
