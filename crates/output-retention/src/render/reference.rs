//! References: what stands for a tool's output in a history that was pruned.
//!
//! Responsible for the one line that says where an output is read, how large it
//! is and how its call ended, for the marker in the place of what was read from
//! an artifact, and for recognising both. The line names what it knows and
//! quotes nothing, so that it can be parsed back exactly:
//!
//! ```text
//! [tool output omitted for compaction: 48213 bytes, 812 lines, read(filePath="artifact://…")]
//! [tool output omitted for compaction: stdout 48213 bytes, 812 lines, read(filePath="artifact://…/stdout"); stderr 0 bytes; exit code: 3]
//! [tool output omitted for compaction: image/png 9120 bytes, read(filePath="artifact://…"); 40 bytes, expired; failed]
//! ```

use std::fmt::Write as _;

use output_contract::{ArtifactUri, Exit, IncompleteReason, Status};

use super::ending::{incomplete_reason, parse_incomplete_reason};

/// What stands for the output of a call that read an artifact.
pub const ARTIFACT_READ_OMITTED: &str = "[artifact read output omitted for compaction]";

const START: &str = "[tool output omitted for compaction: ";
const EXPIRED: &str = "expired";
const NOT_KEPT: &str = "not kept";
const INCOMPLETE: &str = "output incomplete";
/// Longest label, in bytes: a media type has at most this many.
const MAX_LABEL_BYTES: usize = 127;

/// An output by reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// Its parts, at least one.
    pub parts: Vec<ReferencePart>,
    /// How the call ended.
    pub ended: Ended,
}

/// A part of an output, somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferencePart {
    /// A stream's name or a media type.
    pub label: Option<PartLabel>,
    /// Its size, in bytes.
    pub bytes: u64,
    /// Its lines, where it has lines.
    pub lines: Option<u64>,
    /// Where it is.
    pub place: Place,
}

/// Where a part of an output is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Nowhere, as it has no bytes.
    Empty,
    /// It is read here.
    Stored(ArtifactUri),
    /// It was stored and is no more.
    Expired,
    /// It never was.
    NotKept,
}

/// What a part is called: 1 to 127 bytes of `[A-Za-z0-9._+/-]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartLabel(String);

impl PartLabel {
    /// The label `text`; `None` where it is none.
    pub fn new(text: &str) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._+/-".contains(&byte);
        let valid = !text.is_empty() && text.len() <= MAX_LABEL_BYTES && text.bytes().all(plain);
        valid.then(|| Self(text.to_owned()))
    }

    /// The label as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// How a call ended, as far as a history says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ended {
    /// The status; `None` where nothing tells.
    pub status: Option<Status>,
    /// How its process ended, where it had one.
    pub exit: Option<Exit>,
    /// That output is missing, and why.
    pub incomplete: Option<IncompleteReason>,
}

impl Reference {
    /// The line, for a reader that is offered as `read_tool`.
    pub fn line(&self, read_tool: &str) -> String {
        let mut line = START.to_owned();
        for (index, part) in self.parts.iter().enumerate() {
            if index > 0 {
                line.push_str("; ");
            }
            part.write(&mut line, read_tool);
        }
        for fact in self.ended.facts() {
            line.push_str("; ");
            line.push_str(&fact);
        }
        line.push(']');
        line
    }

    /// Reads back what [`line`](Self::line) wrote and nothing else. A success
    /// is not written, and reads back as an unknown status. The name of the
    /// reader must have no spaces and none of `"()[],;`.
    pub fn parse(line: &str) -> Option<Self> {
        let mut rest = line.strip_prefix(START)?.strip_suffix(']')?;
        let (mut parts, mut reader) = (Vec::new(), None);
        while let Some((part, after)) = ReferencePart::parse(rest, &mut reader) {
            parts.push(part);
            rest = after;
            match rest.strip_prefix("; ") {
                Some(after) => rest = after,
                None => break,
            }
        }
        let ended = Ended::parse(rest)?;
        let reference = Self { parts, ended };
        (!reference.parts.is_empty() && reference.line(reader.unwrap_or_default()) == line)
            .then_some(reference)
    }
}

impl ReferencePart {
    fn write(&self, line: &mut String, read_tool: &str) {
        let Self { label, bytes, lines, place } = self;
        // Writing to a String cannot fail.
        if let Some(PartLabel(label)) = label {
            let _ = write!(line, "{label} ");
        }
        let _ = write!(line, "{bytes} bytes");
        if let Some(lines) = lines {
            let _ = write!(line, ", {lines} lines");
        }
        let _ = match place {
            Place::Empty => Ok(()),
            Place::Stored(uri) => write!(line, ", {read_tool}(filePath=\"{uri}\")"),
            Place::Expired => write!(line, ", {EXPIRED}"),
            Place::NotKept => write!(line, ", {NOT_KEPT}"),
        };
    }

    /// One part, and what follows it. `reader` is the name of the reader once
    /// one was seen.
    fn parse<'a>(text: &'a str, reader: &mut Option<&'a str>) -> Option<(Self, &'a str)> {
        let (first, after) = text.split_once(' ')?;
        let (label, bytes, rest) = match first.parse() {
            Ok(bytes) if after.starts_with("bytes") => (None, bytes, after),
            _ => {
                let (bytes, after) = after.split_once(' ')?;
                (Some(PartLabel::new(first)?), bytes.parse().ok()?, after)
            }
        };
        let rest = rest.strip_prefix("bytes")?;
        let (lines, rest) = match counted_lines(rest) {
            Some((lines, rest)) => (Some(lines), rest),
            None => (None, rest),
        };
        let (place, rest) = match rest.strip_prefix(", ") {
            None => (Place::Empty, rest),
            Some(rest) => Place::parse(rest, reader)?,
        };
        Some((Self { label, bytes, lines, place }, rest))
    }
}

/// `, 12 lines`, and what follows it.
fn counted_lines(text: &str) -> Option<(u64, &str)> {
    let (number, rest) = text.strip_prefix(", ")?.split_once(' ')?;
    Some((number.parse().ok()?, rest.strip_prefix("lines")?))
}

impl Place {
    fn parse<'a>(text: &'a str, reader: &mut Option<&'a str>) -> Option<(Self, &'a str)> {
        let ends = |rest: &str| rest.is_empty() || rest.starts_with(';');
        for (word, place) in [(EXPIRED, Self::Expired), (NOT_KEPT, Self::NotKept)] {
            if let Some(rest) = text.strip_prefix(word).filter(|rest| ends(rest)) {
                return Some((place, rest));
            }
        }
        let (name, rest) = text.split_once("(filePath=\"")?;
        if name.is_empty() || name.contains(|c: char| " \"()[],;".contains(c)) {
            return None;
        }
        reader.get_or_insert(name);
        let (uri, rest) = rest.split_once("\")")?;
        Some((Self::Stored(ArtifactUri::parse(uri).ok()?), rest))
    }
}

impl Ended {
    /// What a line says of it.
    fn facts(self) -> Vec<String> {
        let status = match (self.status, self.exit) {
            (None | Some(Status::Completed), _) => None,
            (Some(Status::Failed), Some(Exit::Signal(signal))) => {
                Some(format!("killed by signal {signal}"))
            }
            (Some(Status::Failed), Some(Exit::Code(code))) if code != 0 => {
                Some(format!("exit code: {code}"))
            }
            (Some(status), _) => Some(status.to_string()),
        };
        let own = self.status.and_then(Status::incomplete_reason);
        let incomplete = self.incomplete.map(|reason| {
            if Some(reason) == own {
                INCOMPLETE.to_owned()
            } else {
                format!("{INCOMPLETE}: {}", incomplete_reason(reason))
            }
        });
        [status, incomplete].into_iter().flatten().collect()
    }

    fn parse(text: &str) -> Option<Self> {
        let mut ended = Self::default();
        for fact in text.split("; ").filter(|fact| !fact.is_empty()) {
            if fact == INCOMPLETE {
                ended.incomplete = Some(ended.status?.incomplete_reason()?);
            } else if let Some(reason) = fact.strip_prefix("output incomplete: ") {
                ended.incomplete = Some(parse_incomplete_reason(reason)?);
            } else if let Some(code) = fact.strip_prefix("exit code: ") {
                ended.status = Some(Status::Failed);
                ended.exit = Some(Exit::Code(code.parse().ok()?));
            } else if let Some(signal) = fact.strip_prefix("killed by signal ") {
                ended.status = Some(Status::Failed);
                ended.exit = Some(Exit::Signal(signal.parse().ok()?));
            } else {
                let known =
                    [Status::Failed, Status::Cancelled, Status::TimedOut, Status::Interrupted];
                ended.status = Some(known.into_iter().find(|status| status.to_string() == fact)?);
            }
        }
        Some(ended)
    }
}

/// Whether `text` is wholly a line that compaction puts in the place of an
/// output: a [`Reference`] or [`ARTIFACT_READ_OMITTED`].
pub fn is_pruned_output(text: &str) -> bool {
    text == ARTIFACT_READ_OMITTED || (text.starts_with(START) && Reference::parse(text).is_some())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use output_contract::{Digest, StreamName};
    use proptest::prelude::*;

    use super::*;

    fn stored(stream: Option<&str>) -> Place {
        let stream = stream.map(|name| name.parse::<StreamName>().unwrap());
        Place::Stored(ArtifactUri { digest: Digest::EMPTY, stream })
    }

    fn part(label: &str, bytes: u64, lines: Option<u64>, place: Place) -> ReferencePart {
        ReferencePart { label: PartLabel::new(label), bytes, lines, place }
    }

    fn line(parts: Vec<ReferencePart>, ended: Ended) -> String {
        Reference { parts, ended }.line("read")
    }

    #[test]
    fn the_line_to_the_letter() {
        let failed = |exit| Ended { status: Some(Status::Failed), exit, ..Ended::default() };
        let lines = [
            line(vec![part("", 48_213, Some(812), stored(None))], Ended::default()),
            line(
                vec![
                    part("stdout", 48_213, Some(812), stored(Some("stdout"))),
                    part("stderr", 0, Some(0), Place::Empty),
                ],
                failed(Some(Exit::Code(3))),
            ),
            line(
                vec![
                    part("image/png", 9_120, None, stored(None)),
                    part("", 40, None, Place::Expired),
                    part("", 7, None, Place::NotKept),
                ],
                Ended { incomplete: Some(IncompleteReason::SizeLimit), ..failed(None) },
            ),
            line(
                vec![part("", 1, Some(1), stored(None))],
                Ended {
                    status: Some(Status::TimedOut),
                    exit: Some(Exit::Signal(9)),
                    incomplete: Some(IncompleteReason::TimedOut),
                },
            ),
        ];
        let text = lines.join("\n").replace(&Digest::EMPTY.to_string(), "DIGEST");
        assert_snapshot!(text, @r#"
        [tool output omitted for compaction: 48213 bytes, 812 lines, read(filePath="artifact://DIGEST")]
        [tool output omitted for compaction: stdout 48213 bytes, 812 lines, read(filePath="artifact://DIGEST/stdout"); stderr 0 bytes, 0 lines; exit code: 3]
        [tool output omitted for compaction: image/png 9120 bytes, read(filePath="artifact://DIGEST"); 40 bytes, expired; 7 bytes, not kept; failed; output incomplete: size limit]
        [tool output omitted for compaction: 1 bytes, 1 lines, read(filePath="artifact://DIGEST"); timed out; output incomplete]
        "#);
        for line in lines {
            assert!(is_pruned_output(&line), "{line}");
        }
    }

    #[test]
    fn only_a_whole_line_of_ours_is_one() {
        assert!(is_pruned_output(ARTIFACT_READ_OMITTED));
        let whole = line(vec![part("out", 5, Some(1), stored(None))], Ended::default());
        assert!(is_pruned_output(&whole));
        for other in [
            String::new(),
            format!("{ARTIFACT_READ_OMITTED}\n"),
            format!("{whole}\n"),
            format!(" {whole}"),
            format!("{whole}{whole}"),
            whole.replace("5 bytes", "05 bytes"),
            whole.replace("5 bytes", "+5 bytes"),
            whole.replace("5 bytes", "5"),
            whole.replace("out ", "o(t "),
            whole.replace("artifact:", "ARTIFACT:"),
            whole.replace(")]", ")"),
            whole.replace(")]", "); ]"),
            whole.replace(")]", "); completed]"),
            whole.replace(")]", "); output incomplete]"),
            whole.replace("read(", "("),
            whole.replace("read(", "re ad("),
            format!("{START}]"),
            format!("{START}failed]"),
        ] {
            assert!(!is_pruned_output(&other), "{other}");
        }
    }

    fn any_part() -> impl Strategy<Value = ReferencePart> {
        let place = prop_oneof![
            Just(Place::Empty),
            Just(Place::Expired),
            Just(Place::NotKept),
            Just(stored(None)),
            "[A-Za-z0-9._-]{1,8}"
                .prop_filter("a stream", |name| name.parse::<StreamName>().is_ok())
                .prop_map(|name| stored(Some(&name))),
        ];
        let label = prop_oneof![Just(String::new()), "[A-Za-z0-9._+/-]{1,12}", "[0-9]{1,3}"];
        (label, any::<u64>(), any::<Option<u64>>(), place)
            .prop_map(|(label, bytes, lines, place)| part(&label, bytes, lines, place))
    }

    fn any_ended() -> impl Strategy<Value = Ended> {
        use IncompleteReason::*;
        let status = prop_oneof![
            Just((None, None)),
            Just((Some(Status::Failed), None)),
            (1..i32::MAX).prop_map(|code| (Some(Status::Failed), Some(Exit::Code(code)))),
            (1..99).prop_map(|signal| (Some(Status::Failed), Some(Exit::Signal(signal)))),
            Just((Some(Status::Cancelled), None)),
            Just((Some(Status::TimedOut), None)),
            Just((Some(Status::Interrupted), None)),
        ];
        let reason = prop::sample::select(vec![
            StorageError,
            SizeLimit,
            PipeHeld,
            Cancelled,
            TimedOut,
            Interrupted,
        ]);
        (status, prop::option::of(reason)).prop_map(|((status, exit), incomplete)| Ended {
            status,
            exit,
            incomplete,
        })
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            parts in prop::collection::vec(any_part(), 1..5),
            ended in any_ended(),
            reader in "[a-zA-Z0-9_.:-]{1,12}",
        ) {
            let reference = Reference { parts, ended };
            let line = reference.line(&reader);
            prop_assert!(!line.contains('\n'));
            prop_assert_eq!(Reference::parse(&line), Some(reference));
        }
    }
}
