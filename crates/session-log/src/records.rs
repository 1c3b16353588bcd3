//! Reading a log, whatever happened to it.

use std::io::{self, BufRead};
use std::ops::ControlFlow;
use std::{fmt, vec};

use output_contract::{EventDiagnostic, SavedEvent, decode_event};

use crate::check;
use crate::pieces::{Piece, pieces};

/// What a log holds: its events in order, and what could not be read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionRecords {
    /// The events that are whole, each with the position at which it begins, in
    /// bytes; in the order of the file.
    pub events: Vec<(u64, SavedEvent)>,
    /// The stretches that were skipped, in the order of the file.
    pub diagnostics: Vec<Skipped>,
}

impl SessionRecords {
    /// Reads the bytes of a log. Content is never an error: what cannot be
    /// read is in [`diagnostics`](Self::diagnostics).
    pub fn parse(bytes: &[u8]) -> Self {
        Self::from_reader(bytes).expect("memory can always be read")
    }

    /// Reads a log to its end, one line in memory at a time beside the events.
    ///
    /// # Errors
    /// What `input` gives.
    pub fn from_reader(input: impl BufRead) -> io::Result<Self> {
        let mut found = Self::default();
        scan(input, decode_event, |entry| {
            match entry {
                Entry::Record { position, value } => found.events.push((position, value)),
                Entry::Skipped(skipped) => found.diagnostics.push(skipped),
            }
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }
}

impl SessionRecords {
    /// The events alone.
    pub fn into_events(self) -> impl Iterator<Item = SavedEvent> {
        self.events.into_iter().map(|(_, event)| event)
    }
}

/// The events with their positions, as [`replay`](crate::replay()) takes them.
impl IntoIterator for SessionRecords {
    type Item = (u64, SavedEvent);
    type IntoIter = vec::IntoIter<(u64, SavedEvent)>;

    fn into_iter(self) -> Self::IntoIter {
        self.events.into_iter()
    }
}

/// A stretch of a log that was skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Where it begins in the file, in bytes.
    pub position: u64,
    /// How long it is, in bytes.
    pub bytes: u64,
    /// The line it is in; the first is 1.
    pub line: u64,
    /// Why.
    pub reason: SkipReason,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { position, bytes, line, reason } = self;
        write!(f, "{bytes} bytes in line {line}, from byte {position}: {reason}")
    }
}

/// Why a stretch of a log was skipped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkipReason {
    /// The end of the file, without a line end: an append that is under way, or
    /// one that never ended.
    #[error("the last record is unfinished")]
    Unfinished,
    /// Only NUL bytes, as file systems leave them after a power cut.
    #[error("only NUL bytes")]
    Nuls,
    /// Text that is not valid UTF-8.
    #[error("not valid UTF-8")]
    NotUtf8,
    /// JSON that is not what was written.
    #[error("its check does not match")]
    Check,
    /// JSON that is broken, or that this version does not know.
    #[error(transparent)]
    Event(#[from] EventDiagnostic),
}

/// One thing that a scan comes across.
pub(crate) enum Entry<T> {
    /// Something that was decoded.
    Record {
        /// Where it begins, in bytes.
        position: u64,
        /// What it is.
        value: T,
    },
    /// A stretch that was not.
    Skipped(Skipped),
}

/// Goes over a log, line by line, until it ends or `visit` breaks.
pub(crate) fn scan<T>(
    mut input: impl BufRead,
    decode: impl Fn(&[u8]) -> Result<T, EventDiagnostic>,
    mut visit: impl FnMut(Entry<T>) -> ControlFlow<()>,
) -> io::Result<()> {
    let (mut start, mut number) = (0, 0);
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        let read = input.read_until(b'\n', &mut buffer)? as u64;
        if read == 0 {
            return Ok(());
        }
        number += 1;
        let (line, ended) = match buffer.split_last() {
            Some((b'\n', line)) => (line, true),
            _ => (buffer.as_slice(), false),
        };
        for piece in pieces(line) {
            let (range, outcome) = match piece {
                Piece::Object(range) => (range.clone(), object(&line[range], &decode)),
                Piece::Damaged { range, .. } if !ended && range.end == line.len() => {
                    (range, Err(SkipReason::Unfinished))
                }
                Piece::Damaged { range, error } => {
                    (range.clone(), Err(damage(&line[range], error)))
                }
            };
            let position = start + range.start as u64;
            let entry = match outcome {
                Ok(value) => Entry::Record { position, value },
                Err(reason) => {
                    let bytes = range.len() as u64;
                    Entry::Skipped(Skipped { position, bytes, line: number, reason })
                }
            };
            if visit(entry).is_break() {
                return Ok(());
            }
        }
        start += read;
    }
}

fn object<T>(
    json: &[u8],
    decode: impl Fn(&[u8]) -> Result<T, EventDiagnostic>,
) -> Result<T, SkipReason> {
    if !check::holds(json) {
        return Err(SkipReason::Check);
    }
    decode(json).map_err(|why| reason(json, why))
}

fn damage(bytes: &[u8], error: Option<serde_json::Error>) -> SkipReason {
    let message = error.map_or_else(|| "not an object".to_owned(), |error| error.to_string());
    reason(bytes, EventDiagnostic::NotJson { message })
}

/// Says it more exactly than the parser, where that is possible.
fn reason(bytes: &[u8], why: EventDiagnostic) -> SkipReason {
    match why {
        EventDiagnostic::NotJson { .. } if bytes.iter().all(|&byte| byte == 0) => SkipReason::Nuls,
        EventDiagnostic::NotJson { .. } if str::from_utf8(bytes).is_err() => SkipReason::NotUtf8,
        why => SkipReason::Event(why),
    }
}
