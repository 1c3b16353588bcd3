//! The rules of a cut, told again by brute force on whole streams.
//!
//! The reference that the tests hold previews against. It tries every place a
//! cut could be at, and it measures by decoding, stripping and serialising, so
//! that it shares next to nothing with what it checks. Quadratic and worse.

use super::limits::Limits;
use super::{Position, Shape};
use crate::escape::{ByteClass, EscapeScanner, sequence_len};

/// A cut by its facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) head: Vec<u8>,
    pub(super) tail: Option<(Vec<u8>, u64, bool)>,
    pub(super) omitted_lines: u64,
    pub(super) next: Option<Position>,
}

type Budget = (u64, usize, usize);

pub(super) fn cut(bytes: &[u8], limits: &Limits) -> Facts {
    let lines = lines(bytes);
    let max = (
        limits.max_lines(),
        usize::try_from(limits.max_bytes()).unwrap(),
        limits.max_escaped_bytes(),
    );
    if lines.len() as u64 <= max.0 && bytes.len() <= max.1 && escaped(bytes) <= max.2 {
        return Facts { head: bytes.to_vec(), tail: None, omitted_lines: 0, next: None };
    }
    let (head_max, tail_max) = match limits.shape() {
        Shape::Head => (max, (0, 0, 0)),
        Shape::HeadTail => (
            (max.0.div_ceil(2), max.1.div_ceil(2), max.2.div_ceil(2)),
            (max.0 / 2, max.1 / 2, max.2 / 2),
        ),
    };
    let head_end = head_end(bytes, &lines, head_max);
    let tail_start = tail_start(bytes, &lines, head_end, tail_max);

    let line_of = |at: usize| lines.iter().position(|&(from, to)| from <= at && at < to).unwrap();
    let line = line_of(head_end);
    let shown = |&(from, to): &(usize, usize)| from < head_end || to > tail_start;
    Facts {
        head: bytes[..head_end].to_vec(),
        tail: (tail_start < bytes.len()).then(|| {
            let from = line_of(tail_start);
            let count = (lines.len() - from) as u64;
            (bytes[tail_start..].to_vec(), count, lines[from].0 == tail_start)
        }),
        omitted_lines: lines.iter().filter(|line| !shown(line)).count() as u64,
        next: Some(Position { line: line as u64, byte_offset: (head_end - lines[line].0) as u64 }),
    }
}

fn head_end(bytes: &[u8], lines: &[(usize, usize)], max: Budget) -> usize {
    let mut left = max;
    for &(from, to) in lines {
        if left.0 == 0 {
            return from;
        }
        let line = &bytes[from..to];
        let size = escaped(line);
        if line.len() <= left.1 && size <= left.2 {
            left = (left.0 - 1, left.1 - line.len(), left.2 - size);
            continue;
        }
        if line.len() <= max.1 && size <= max.2 {
            return from;
        }
        let fits =
            |&k: &usize| k <= left.1 && !inside_character(line, k) && escaped(&line[..k]) <= left.2;
        let end = (0..=line.len()).rev().find(fits).unwrap();
        let straddling = sequences(line).into_iter().find(|&(s, e)| s < end && end < e);
        return from
            + match straddling {
                Some((s, e)) if s > 0 && e - s <= 64 => s,
                _ => end,
            };
    }
    bytes.len()
}

fn tail_start(bytes: &[u8], lines: &[(usize, usize)], floor: usize, max: Budget) -> usize {
    if max.0 == 0 || max.1 == 0 || max.2 == 0 {
        return bytes.len();
    }
    let mut left = max;
    for &(from, to) in lines.iter().rev() {
        if left.0 == 0 || to <= floor {
            return to;
        }
        let line = &bytes[from..to];
        let size = escaped(line);
        let alone = line.len() <= max.1 && size <= max.2;
        assert!(from >= floor || !alone, "the head parts no line that fits");
        if line.len() <= left.1 && size <= left.2 {
            left = (left.0 - 1, left.1 - line.len(), left.2 - size);
            continue;
        }
        if alone {
            return to;
        }
        let lowest = floor.saturating_sub(from).max(line.len().saturating_sub(left.1));
        let sequences = sequences_known_at(line, lowest);
        let fits = |&k: &usize| {
            k >= lowest
                && !inside_character(line, k)
                && !sequences.iter().any(|&(s, e)| s < k && k < e)
                && escaped(&line[k..]) <= left.2
        };
        let start = (0..=line.len()).find(fits).unwrap();
        return if &line[start..] == b"\n" { to } else { from + start };
    }
    0
}

/// Start and end of each line, its `\n` included.
fn lines(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut lines = Vec::new();
    let mut from = 0;
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        lines.push((from, from + line.len()));
        from += line.len();
    }
    lines
}

fn escaped(bytes: &[u8]) -> usize {
    let mut scanner = EscapeScanner::default();
    let text: String = String::from_utf8_lossy(bytes)
        .chars()
        .filter(|c| scanner.step(c.encode_utf8(&mut [0; 4]).as_bytes()[0]) == ByteClass::Content)
        .map(|c| if c == '\0' { '\u{2400}' } else { c })
        .collect();
    serde_json::to_string(&text).unwrap().len() - 2
}

fn inside_character(bytes: &[u8], at: usize) -> bool {
    let mut position = 0;
    for part in bytes.utf8_chunks() {
        let inside = part.valid().char_indices().any(|(start, c)| {
            let start = position + start;
            start < at && at < start + c.len_utf8()
        });
        if inside {
            return true;
        }
        position += part.valid().len() + part.invalid().len();
    }
    false
}

/// The sequences of a line as far as a tail can know them that begins at
/// `lowest` or later: by an `ESC` among the 1,024 bytes before.
fn sequences_known_at(line: &[u8], lowest: usize) -> Vec<(usize, usize)> {
    let near = lowest.saturating_sub(1_024);
    let known = |(start, end): (usize, usize)| {
        if start >= lowest || line[near.max(start)..lowest].contains(&0x1b) {
            (start, end)
        } else if line[..end].ends_with(b"\x1b\\") {
            // Of a string that is not known, the terminator is a sequence.
            (end - 2, end)
        } else {
            (end, end)
        }
    };
    sequences(line).into_iter().map(known).collect()
}

fn sequences(line: &[u8]) -> Vec<(usize, usize)> {
    let mut sequences = Vec::new();
    let mut at = 0;
    while at < line.len() {
        if line[at] == 0x1b {
            let end = at + sequence_len(&line[at..]);
            sequences.push((at, end));
            at = end;
        } else {
            at += 1;
        }
    }
    sequences
}
