//! One line of a log, taken apart: the JSON objects in it that stand for
//! themselves, and the stretches between them that are damaged.
//!
//! A line is one object, unless a writer that does not close torn tails glued
//! two. Damage hides no object after it: the search goes on at the next text
//! that a saved event begins with. Such a text inside an unread object is
//! *nested*, an argument or a tool's structured value that looks like an event,
//! and must not pass for one. It is told by what follows: within an object or
//! array comes `,`, `}` or `]`, after an event of our own comes none of them.
//! Only where damage cuts a line exactly behind a nested look-alike are the
//! two the same bytes; then it counts as an event, because losing a real one
//! there is the likelier mistake.

use std::ops::Range;

use memchr::memmem;
use output_contract::{EVENT_KINDS, decode_event};
use serde::de::IgnoredAny;

/// How every event of ours begins, up to its kind.
const START: &[u8] = b"{\"type\":\"";
/// How many times the length of a line is read in search of whole events before
/// the rest of it is given up.
const MAX_PASSES: usize = 32;

/// A part of a line, by its range in bytes.
#[derive(Debug)]
pub(crate) enum Piece {
    /// A whole JSON object.
    Object(Range<usize>),
    /// Bytes that belong to no whole object.
    Damaged {
        /// Which bytes.
        range: Range<usize>,
        /// What the parser said of the first of them.
        error: Option<serde_json::Error>,
    },
}

/// Takes a line apart. Every byte that is no white space between objects is in
/// exactly one piece, in order.
pub(crate) fn pieces(line: &[u8]) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut at = skip_blank(line, 0);
    while at < line.len() {
        let error = match object_end(line, at) {
            Ok(end) => {
                found.push(Piece::Object(at..end));
                at = skip_blank(line, end);
                continue;
            }
            Err(error) => error,
        };
        let next = next_event(line, at + 1).unwrap_or(line.len());
        found.push(Piece::Damaged { range: at..next, error });
        at = next;
    }
    found
}

/// The end of the object that begins at `at`. No error: there is no object.
fn object_end(line: &[u8], at: usize) -> Result<usize, Option<serde_json::Error>> {
    if line[at] != b'{' {
        return Err(None);
    }
    let mut values = serde_json::Deserializer::from_slice(&line[at..]).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Ok(IgnoredAny)) => Ok(at + values.byte_offset()),
        Some(Err(error)) => Err(Some(error)),
        None => Err(None),
    }
}

/// The first position from `from` on at which a whole event begins that is not
/// nested in something else.
fn next_event(line: &[u8], from: usize) -> Option<usize> {
    let finder = memmem::Finder::new(START);
    let (mut from, mut budget) = (from, line.len().saturating_mul(MAX_PASSES));
    while let Some(offset) = finder.find(line.get(from..)?) {
        let start = from + offset;
        let kind = &line[start + START.len()..];
        from = start + 1;
        let is_kind = |known: &str| {
            kind.strip_prefix(known.as_bytes()).is_some_and(|rest| rest.starts_with(b"\""))
        };
        if !EVENT_KINDS.into_iter().any(is_kind) {
            continue;
        }
        match object_end(line, start) {
            Ok(end) if is_nested(line, end) || decode_event(&line[start..end]).is_err() => {
                from = end;
            }
            Ok(_) => return Some(start),
            // A line has no line ends in it: the column is how far it came.
            Err(error) => {
                budget = budget.checked_sub(error.map_or(0, |error| error.column()))?;
            }
        }
    }
    None
}

/// Whether the object that ends at `end` is a part of another value.
fn is_nested(line: &[u8], end: usize) -> bool {
    matches!(line.get(skip_blank(line, end)), Some(b',' | b'}' | b']'))
}

fn skip_blank(line: &[u8], at: usize) -> usize {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    at + line[at..].iter().take_while(|byte| blank(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ITEM: &str = r#"{"type":"item","item":{"type":"summary","text":"{\"type\":\"item\""}}"#;

    /// Objects as they are, damaged stretches between `<` and `>`.
    fn check(line: &[u8]) -> String {
        let text =
            |range: &Range<usize>| String::from_utf8_lossy(&line[range.clone()]).into_owned();
        pieces(line)
            .iter()
            .map(|piece| match piece {
                Piece::Object(range) => text(range),
                Piece::Damaged { range, .. } => format!("<{}>", text(range)),
            })
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn whole_objects_are_told_apart() {
        assert_eq!(check(b""), "");
        assert_eq!(check(b" \t\r"), "");
        assert_eq!(check(br#"{"a":1}"#), r#"{"a":1}"#);
        assert_eq!(check(format!("{ITEM}{ITEM} {ITEM}\r").as_bytes()), [ITEM; 3].join(" "));
        assert_eq!(check(br#"{"a":1}[2] 3"#), r#"{"a":1} <[2] 3>"#);
    }

    #[test]
    fn an_object_after_a_torn_one_is_found_wherever_it_was_torn() {
        for cut in 1..ITEM.len() {
            let torn = &ITEM[..cut];
            assert_eq!(check(format!("{torn}{ITEM}").as_bytes()), format!("<{torn}> {ITEM}"));
            let between = format!("{torn}{ITEM}{torn}");
            assert_eq!(check(between.as_bytes()), format!("<{torn}> {ITEM} <{torn}>"));
        }
        assert_eq!(check(format!("\0\0{ITEM}").as_bytes()), format!("<\0\0> {ITEM}"));
        assert_eq!(check(&[b"\xff", ITEM.as_bytes()].concat()), format!("<\u{fffd}> {ITEM}"));
    }

    #[test]
    fn what_is_nested_in_a_damaged_object_is_no_event() {
        let outer =
            format!(r#"{{"type":"call_started","arguments":{{"a":[{ITEM},{ITEM}]}},"at":0}}"#);
        assert_eq!(check(outer.as_bytes()), outer);
        let unquoted = outer.replacen(r#""type""#, r#""type"#, 1);
        assert_eq!(check(unquoted.as_bytes()), format!("<{unquoted}>"));
        let ends = [outer.find(ITEM), outer.rfind(ITEM)].map(|start| start.unwrap() + ITEM.len());
        for cut in (1..outer.len()).filter(|cut| !ends.contains(cut)) {
            assert_eq!(check(&outer.as_bytes()[..cut]), format!("<{}>", &outer[..cut]));
        }
    }

    #[test]
    fn the_search_ends_soon_whatever_the_line() {
        for end in ["", "!", "}"] {
            let line = r#"{"type":"item","item":"#.repeat(5_000) + end;
            assert_eq!(check(line.as_bytes()), format!("<{line}>"));
        }
    }
}
