//! How a page, or the lack of one, becomes the result of a call.
//!
//! Responsible for the order of content blocks, the metadata and the display.
//! Artifacts and paths end here alike.

use std::error::Error;

use artifacts::{Page, PagePosition};
use output_contract::limits::MAX_SELF_PAGINATING_BYTES;
use output_contract::{Content, Status};
use tool_api::{Completion, NewAttachment, OutputSink};

use crate::call::ReadCall;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Byte,
    Line,
    Entry,
}

impl Unit {
    fn counted(self, number: u64) -> String {
        let (one, many) = match self {
            Self::Byte => ("byte", "bytes"),
            Self::Line => ("line", "lines"),
            Self::Entry => ("entry", "entries"),
        };
        format!("{number} {}", if number == 1 { one } else { many })
    }
}

/// A page, ready to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShownPage {
    /// What its lines are.
    pub(crate) unit: Unit,
    /// The text of the page and nothing else.
    pub(crate) text: String,
    /// Lines in it; a partial one counts.
    pub(crate) lines: u64,
    /// Where more remains.
    pub(crate) next: Option<PagePosition>,
    /// Lines of the whole.
    pub(crate) total_lines: u64,
    /// Bytes of the whole.
    pub(crate) total_bytes: u64,
}

impl ShownPage {
    /// `page` of a whole in `unit`s, of which `text` is shown.
    pub(crate) fn new(page: &Page, unit: Unit, text: String) -> Self {
        let Page { lines, next, total_lines, total_bytes, .. } = *page;
        Self { unit, text, lines, next, total_lines, total_bytes }
    }

    /// The content of the result: the page, then, only where more remains, how
    /// `call` goes on.
    fn content(self, call: ReadCall<'_>) -> Vec<Content> {
        let mut content = vec![Content::text(self.text)];
        if let Some(position) = self.next {
            let next = ReadCall { position, limit: None, ..call };
            content.push(Content::text(format!(
                "[{} and {} in all. Read more: {next}]",
                self.unit.counted(self.total_lines),
                Unit::Byte.counted(self.total_bytes),
            )));
        }
        content
    }
}

/// Finishes a call with its page.
///
/// `too_large` is the message for a text that does not fit a result, which a
/// page of many undecodable bytes can be although its bytes do.
pub(crate) fn complete(
    sink: OutputSink,
    call: ReadCall<'_>,
    page: ShownPage,
    too_large: impl FnOnce() -> String,
) -> Completion {
    let (next, total_lines, total_bytes) = (page.next, page.total_lines, page.total_bytes);
    let display = format!("{} of {total_lines}", page.unit.counted(page.lines));
    let output = match sink.page(page.content(call)) {
        Ok(output) => output,
        Err(rejected) => return fail(rejected.sink, &too_large()),
    };
    let mut completion = Completion::completed(output).with_display(display);
    let mut numbers = vec![("totalLines", total_lines), ("totalBytes", total_bytes)];
    if let Some(PagePosition { offset, byte_offset }) = next {
        numbers.extend([("nextOffset", offset), ("nextByteOffset", byte_offset)]);
    }
    for (key, number) in numbers {
        completion.set_metadata(key, number).expect("four numbers are far below the limit");
    }
    completion
}

/// Finishes a call with what is attached, and a line that says so.
pub(crate) fn attach(sink: OutputSink, attachment: NewAttachment) -> Completion {
    let bytes = attachment.bytes().len() as u64;
    let size = Unit::Byte.counted(bytes);
    let line = format!("attached: {}, {size}", attachment.media_type());
    let output = finish(sink, vec![Content::text(&line)]);
    let mut completion = Completion::completed(output).with_display(line);
    completion.set_metadata("totalBytes", bytes).expect("a number is far below the limit");
    completion.attach(attachment).expect("the first attachment is not one too many");
    completion
}

/// Finishes a call that failed, with the message as its content.
pub(crate) fn fail(sink: OutputSink, message: &str) -> Completion {
    debug_assert!(message.len() < MAX_SELF_PAGINATING_BYTES);
    Completion::failed(finish(sink, vec![Content::text(message)])).with_display(message)
}

/// Finishes a call that was cancelled before it had a page.
pub(crate) fn cancelled(sink: OutputSink) -> Completion {
    Completion::new(finish(sink, Vec::new()), Status::Cancelled)
}

fn finish(sink: OutputSink, content: Vec<Content>) -> tool_api::Output {
    // Only a sink that was made for another kind of tool refuses so little.
    sink.page(content).unwrap_or_else(|rejected| rejected.sink.empty())
}

/// An error with its sources, on one line.
pub(crate) fn explain(error: &dyn Error) -> String {
    let sources = std::iter::successors(error.source(), |source| (*source).source());
    sources.fold(error.to_string(), |text, source| format!("{text}: {source}"))
}
