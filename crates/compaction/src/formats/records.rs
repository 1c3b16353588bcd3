//! A file taken apart into records: one JSON value, an array, or JSON Lines.
//!
//! Responsible for finding every whole record and for reporting, by position,
//! what is none. Damage hides no record after it: within a line the search goes
//! on at the next `{"` from which a record can be read to its end, and a line
//! end always ends the damage. An object within a torn record must not pass for
//! a record; it is told by what follows it, which is a comma or a bracket.

use artifacts::hash::count_newlines;
use memchr::{memchr, memmem};

use super::damage::{Damage, DamageReason};
use super::json::{Json, Span};

/// How many times the length of a line is read in search of whole records
/// before the rest of it is given up.
const MAX_PASSES: usize = 16;

/// The records of a file.
#[derive(Debug)]
pub(super) struct Records {
    pub(super) container: Container,
    /// Every whole value, in order: lines, elements, or the only one.
    pub(super) spans: Vec<Span>,
    pub(super) damage: Vec<Damage>,
}

/// What the records stand in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Container {
    /// The file is one object.
    Object,
    /// The file is an array, which has this span.
    List(Span),
    /// A record a line.
    Lines,
}

/// Takes a file apart.
pub(super) fn records(source: &[u8]) -> Records {
    let start = skip_blank(source, if source.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 });
    match source.get(start) {
        Some(b'[') => return list(source, start),
        Some(b'{') => {
            if let Ok((_, span)) = Json::read(source, start)
                && skip_blank(source, span.end) == source.len()
            {
                return Records {
                    container: Container::Object,
                    spans: vec![span],
                    damage: Vec::new(),
                };
            }
        }
        _ => {}
    }
    let by_line = lines(source, start);
    if !by_line.spans.is_empty() {
        return by_line;
    }
    // Records that are spread over lines.
    let mut spread = Records::in_lines();
    spread.stretch(source, Span::new(start, source.len()), 1);
    if spread.spans.is_empty() { by_line } else { spread }
}

fn lines(source: &[u8], start: usize) -> Records {
    let mut found = Records::in_lines();
    let (mut at, mut number) = (start, 1);
    number += count_newlines(&source[..start]);
    while at < source.len() {
        let end = memchr(b'\n', &source[at..]).map_or(source.len(), |offset| at + offset);
        found.stretch(source, Span::new(at, end), number);
        at = end + 1;
        number += 1;
    }
    found
}

/// The elements of an array. One that is torn ends it.
fn list(source: &[u8], start: usize) -> Records {
    let mut found =
        Records { container: Container::List(Span::new(start, start)), ..Records::in_lines() };
    let mut at = skip_blank(source, start + 1);
    let mut comma = true;
    let end = loop {
        match source.get(at) {
            Some(b']') => break at + 1,
            Some(b',') => {
                comma = true;
                at = skip_blank(source, at + 1);
                continue;
            }
            _ => {}
        }
        match Json::read(source, at) {
            Ok((_, span)) => {
                if !comma {
                    found.report(source, span, DamageReason::Glued);
                }
                comma = false;
                found.spans.push(span);
                at = skip_blank(source, span.end);
            }
            Err(error) => {
                let rest = Span::new(at, source.len());
                let reason = DamageReason::of(rest.of(source), Some(&error));
                found.report(source, rest, reason);
                break source.len();
            }
        }
    };
    found.container = Container::List(Span::new(start, end));
    let rest = Span::new(skip_blank(source, end), source.len());
    if rest.len() > 0 {
        found.report(source, rest, DamageReason::of(rest.of(source), None));
    }
    found
}

impl Records {
    const fn in_lines() -> Self {
        Self { container: Container::Lines, spans: Vec::new(), damage: Vec::new() }
    }

    /// Takes a stretch apart that has a record, or several glued ones. Its
    /// first line has this number.
    fn stretch(&mut self, source: &[u8], stretch: Span, number: u64) {
        let source = &source[..stretch.end];
        let mut at = skip_blank(source, stretch.start);
        let mut first = true;
        while at < source.len() {
            let (span, reason) = match object_at(source, at) {
                Ok(span) => {
                    self.spans.push(span);
                    let same_line = memchr(b'\n', &source[stretch.start..span.start]).is_none();
                    (span, (!first && same_line).then_some(DamageReason::Glued))
                }
                Err(error) => {
                    let next = next_record(source, at + 1).unwrap_or(source.len());
                    let span = Span::new(at, next);
                    (span, Some(DamageReason::of(span.of(source), error.as_ref())))
                }
            };
            if let Some(reason) = reason {
                let before = count_newlines(&source[stretch.start..span.start]);
                self.damage.push(damage(span, number + before, reason));
            }
            first = false;
            at = skip_blank(source, span.end);
        }
    }

    fn report(&mut self, source: &[u8], span: Span, reason: DamageReason) {
        self.damage.push(damage(span, 1 + count_newlines(&source[..span.start]), reason));
    }
}

fn damage(span: Span, line: u64, reason: DamageReason) -> Damage {
    Damage { position: span.start as u64, bytes: span.len() as u64, line, reason }
}

/// The object that begins at `at`. No error: something else begins there.
fn object_at(source: &[u8], at: usize) -> Result<Span, Option<serde_json::Error>> {
    if source[at] != b'{' {
        return Err(None);
    }
    Json::read(source, at).map(|(_, span)| span).map_err(Some)
}

/// Where the next whole record begins that is not nested in another value.
fn next_record(source: &[u8], from: usize) -> Option<usize> {
    let finder = memmem::Finder::new(b"{\"");
    let mut budget = (source.len() - from).saturating_mul(MAX_PASSES);
    let mut from = from;
    while let Some(offset) = finder.find(source.get(from..)?) {
        let start = from + offset;
        from = start + 1;
        match Json::read(source, start) {
            Ok((json, span)) => {
                budget = budget.checked_sub(span.len())?;
                let nested =
                    matches!(source.get(skip_blank(source, span.end)), Some(b',' | b'}' | b']'));
                if !nested && looks_like_a_record(json) {
                    return Some(start);
                }
                from = span.end;
            }
            // It failed within the rest of the line at the latest.
            Err(error) => {
                let read = if error.line() == 1 { error.column() } else { source.len() - start };
                budget = budget.checked_sub(read)?;
            }
        }
    }
    None
}

/// Whether an object could be a line of a log: it says what it is.
fn looks_like_a_record(json: Json<'_>) -> bool {
    json.fields().is_some_and(|fields| {
        ["type", "role", "payload", "message"].iter().any(|name| fields.get(name).is_some())
    })
}

fn skip_blank(source: &[u8], at: usize) -> usize {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    at + source[at..].iter().take_while(|byte| blank(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"a\n{\"type\""}]}}"#;

    /// The records, a line each, and after it the damage.
    fn check(source: impl AsRef<[u8]>) -> String {
        let source = source.as_ref();
        let found = records(source);
        let text = |span: &Span| String::from_utf8_lossy(span.of(source)).into_owned();
        let records = found.spans.iter().map(text);
        let damage = found.damage.iter().map(ToString::to_string);
        records.chain(damage).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn containers_are_told_apart() {
        let container = |source: &str| records(source.as_bytes()).container;
        assert_eq!(container(" {\"a\":\n1}\n\n"), Container::Object);
        assert_eq!(container("\u{feff}[1]\n"), Container::List(Span::new(3, 6)));
        assert_eq!(container("{\"a\":1}\n{\"a\":2}"), Container::Lines);
        assert_eq!(container("{\"a\":1} {\"a\":2}"), Container::Lines);
        assert_eq!(container("hello"), Container::Lines);
        assert_eq!(container(""), Container::Lines);
    }

    #[test]
    fn lines_of_every_kind() {
        assert_eq!(
            check("{\"a\":1}\r\n\r\n {\"b\":\"\u{2028}\"} \n"),
            "{\"a\":1}\n{\"b\":\"\u{2028}\"}"
        );
        let spread = "{\n \"type\": 1\n}\n{\n \"type\": 2\n}\n";
        assert_eq!(check(spread), "{\n \"type\": 1\n}\n{\n \"type\": 2\n}");
    }

    #[test]
    fn glued_records_are_read_and_reported() {
        let glued = format!("{RECORD}\n{RECORD}{RECORD}\n{RECORD}\n");
        let at = 2 * RECORD.len() + 1;
        let expect = format!(
            "{}\nline 2, {} bytes from byte {at}: a record glued to the one before it, which was read",
            [RECORD; 4].join("\n"),
            RECORD.len()
        );
        assert_eq!(check(glued), expect);
    }

    #[test]
    fn a_record_after_a_torn_one_is_found_wherever_it_was_torn() {
        for cut in 1..RECORD.len() {
            let torn = &RECORD[..cut];
            // Cut behind a nested object, the two are the same bytes.
            if torn.ends_with('}') {
                continue;
            }
            let found = check(format!("{torn}{RECORD}\n{torn}\n{RECORD}"));
            let records = found.lines().filter(|line| *line == RECORD).count();
            assert_eq!(records, 2, "{torn}");
            assert_eq!(found.lines().count(), 5, "{found}");
            assert!(found.contains(&format!("line 1, {cut} bytes from byte 0: a torn record")));
            assert!(found.contains("line 2,"), "{found}");
        }
    }

    #[test]
    fn what_cannot_be_read_has_a_position() {
        assert_eq!(check("\0\0\0"), "line 1, 3 bytes from byte 0: not JSON");
        let bad = [b"{\"type\":\"\xff\"}\n", RECORD.as_bytes()].concat();
        assert_eq!(check(bad), format!("{RECORD}\nline 1, 12 bytes from byte 0: not UTF-8"));
        assert_eq!(
            check("[{\"a\":1},\n{\"b\":"),
            "{\"a\":1}\nline 2, 5 bytes from byte 10: a torn record"
        );
        assert_eq!(check("[1]\nx"), "1\nline 2, 1 bytes from byte 4: not JSON");
        assert!(check("[{\"a\":1} {\"b\":1}]").contains("from byte 9: a record glued"));
    }

    #[test]
    fn the_search_ends_soon_whatever_the_line() {
        for end in ["", "!", "}", "\n"] {
            let line = r#"{"type":"user","message":"#.repeat(2_000) + end;
            assert!(records(line.as_bytes()).spans.is_empty());
        }
    }
}
