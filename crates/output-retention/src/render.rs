//! The one renderer of what the model sees.
//!
//! Responsible for every heading, notice, hint and status line, to the letter:
//! no other part of Overspill writes one. What it says is taken from typed
//! facts, never from the text shown, which may contain anything, our own lines
//! included.
//!
//! The form:
//!
//! - A named stream is its heading on a line, then its text; one blank line
//!   parts it from the next. A single output is its text.
//! - A truncated stream is its head, a hint on a line of its own, and, where
//!   the shape shows one, the tail under a line that counts it.
//! - Status lines end the text. A newline is added where a line of ours must
//!   begin, never at the very end.
//! - What would show nothing or mojibake is one line that says so.

mod ending;
mod hint;
mod reference;
mod spilled;
#[cfg(test)]
mod tests;

use output_contract::limits::{
    MAX_MODEL_TEXT_BYTES, MODEL_TEXT_RESERVE_BYTES, STREAM_RESERVE_BYTES,
};
use output_contract::{ArtifactUri, StreamName};

pub use ending::{Ending, missing_display};
pub use hint::Hints;
pub use reference::{
    ARTIFACT_READ_OMITTED, Ended, PartLabel, Place, Reference, ReferencePart, is_pruned_output,
};
pub use spilled::{RenderedSpill, SpilledView};

use crate::binary::Classification;
use crate::preview::{Limits, Position, Preview, TailCut};
use crate::unit::{json_escaped_len, model_text};

/// One stream to render.
#[derive(Debug, Clone, Copy)]
pub struct StreamView<'a> {
    /// Its name; a single output has none.
    pub name: Option<&'a StreamName>,
    /// What is known of it.
    pub preview: &'a Preview,
    /// Where all of it can be read; `None` where it could not be kept.
    pub artifact: Option<&'a ArtifactUri>,
}

/// The text for the model, and what it shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The text; inside a JSON string it has at most 2 MiB
    /// ([`MAX_MODEL_TEXT_BYTES`]).
    pub text: String,
    /// What is shown of each stream, in the order given.
    pub streams: Vec<Shown>,
}

/// What the text shows of one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    /// Artifact bytes shown; 0 of a binary stream.
    pub shown_bytes: u64,
    /// Whether that is less than the stream has.
    pub truncated: bool,
    /// Where a reader goes on after the head; `None` where nothing is left out.
    pub next: Option<Position>,
    /// Whether a summary stands for the stream because it is no text.
    pub binary: bool,
}

/// Renders the streams of a call, in declaration order, and how it ended.
///
/// Each stream is cut by `limits`, and by its equal share of what the model
/// text can hold, however many streams the limits were made for.
pub fn render(
    streams: &[StreamView<'_>],
    limits: &Limits,
    ending: &Ending,
    hints: &Hints,
) -> Rendered {
    let ending = ending.lines();
    let limits = limits.with_max_escaped_bytes_at_most(share(streams.len(), &ending, hints));
    let mut page = Page::default();
    let mut shown = Vec::with_capacity(streams.len());
    for (index, stream) in streams.iter().enumerate() {
        if index > 0 {
            page.blank_line();
        }
        shown.push(render_stream(&mut page, stream, &limits, hints));
    }
    for line in &ending {
        page.line(line);
    }
    Rendered { text: page.text, streams: shown }
}

/// How many escaped bytes one stream's content may take. The usual reserve is
/// ample, unless a reader's name is very long.
fn share(streams: usize, ending: &[String], hints: &Hints) -> usize {
    let streams = streams.max(1);
    let ending: usize = ending.iter().map(|line| json_escaped_len(line) + 2).sum();
    let around = streams * (STREAM_RESERVE_BYTES + hints.reader_len()) + ending;
    MAX_MODEL_TEXT_BYTES.saturating_sub(around.max(MODEL_TEXT_RESERVE_BYTES)) / streams
}

fn render_stream(
    page: &mut Page,
    stream: &StreamView<'_>,
    limits: &Limits,
    hints: &Hints,
) -> Shown {
    let StreamView { name, preview, artifact } = *stream;
    if let Some(name) = name {
        page.line(&format!("[{name}]"));
    }
    let total = preview.total_bytes();
    if let Classification::Binary { kind } = preview.classification() {
        page.line(&binary_line(total, kind, artifact));
        let next = Some(Position { line: 0, byte_offset: 0 });
        return Shown { shown_bytes: 0, truncated: true, next, binary: true };
    }

    let cut = preview.cut(limits);
    let head = model_text(cut.head);
    if total > 0 && head.is_empty() && !cut.is_truncated() {
        page.line(&format!("[terminal control sequences only: {total} bytes]"));
    }
    page.content(&head);
    if let Some(next) = cut.next {
        page.line(&hints.line(artifact, next, cut.omitted_bytes));
    }
    if let Some(tail) = cut.tail {
        page.line(&tail_line(&tail, preview));
        page.content(&model_text(tail.bytes));
    }
    Shown {
        shown_bytes: cut.shown_bytes,
        truncated: cut.is_truncated(),
        next: cut.next,
        binary: false,
    }
}

fn binary_line(total: u64, kind: Option<&str>, artifact: Option<&ArtifactUri>) -> String {
    let kind = kind.map(|kind| format!(", {kind}")).unwrap_or_default();
    let artifact = artifact.map(|uri| format!(", {uri}")).unwrap_or_default();
    format!("[binary output: {total} bytes{kind}{artifact}]")
}

fn tail_line(tail: &TailCut<'_>, preview: &Preview) -> String {
    if tail.at_line_start {
        format!("[Last {} of {} lines]", tail.lines, preview.total_lines())
    } else {
        format!("[Last {} of {} bytes]", tail.bytes.len(), preview.total_bytes())
    }
}

/// The text as it grows. Lines of ours are not ended until something follows.
#[derive(Debug, Default)]
struct Page {
    text: String,
}

impl Page {
    /// A line of ours.
    fn line(&mut self, line: &str) {
        self.begin_line();
        self.text.push_str(line);
    }

    /// Text of a stream, from the start of a line on, and no newline after it.
    fn content(&mut self, text: &str) {
        if !text.is_empty() {
            self.line(text);
        }
    }

    fn blank_line(&mut self) {
        self.begin_line();
        self.text.push('\n');
    }

    fn begin_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }
}
