//! How a page, or the lack of one, becomes the result of a call.
//!
//! Responsible for the order of content blocks, the metadata and the display.
//! Artifacts and files end here alike.

use std::error::Error;

use artifacts::{Page, PagePosition};
use output_contract::limits::MAX_SELF_PAGINATING_BYTES;
use output_contract::{Content, Status};
use tool_api::{Completion, OutputSink};

use crate::call::ReadCall;

/// A page, ready to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShownPage {
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
    /// `page`, of which `text` is shown.
    pub(crate) fn new(page: &Page, text: String) -> Self {
        let Page { lines, next, total_lines, total_bytes, .. } = *page;
        Self { text, lines, next, total_lines, total_bytes }
    }

    /// The content of the result: the page, then, only where more remains, how
    /// `call` goes on.
    fn content(self, call: ReadCall<'_>) -> Vec<Content> {
        let mut content = vec![Content::text(self.text)];
        if let Some(position) = self.next {
            let next = ReadCall { position, limit: None, ..call };
            content.push(Content::text(format!(
                "[{} and {} in all. Read more: {next}]",
                counted(self.total_lines, "line"),
                counted(self.total_bytes, "byte"),
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
    let display = format!("{} of {total_lines}", counted(page.lines, "line"));
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

fn counted(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
