//! One call, one result, or anything else of a provider's file, as an
//! [`Item`] of compaction.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use crate::arguments::Arguments;
use crate::item::{CallView, Item, ItemView, NewOutput, OutputView, ResultView};

use super::json::Span;
use super::message::{Part, Said};
use super::output::Edit;

/// A part of a provider's message. It shares the bytes of the file; only what
/// replaces an output is its own.
#[derive(Debug, Clone)]
pub struct FileItem {
    part: Arc<FilePart>,
    replaced: Option<Arc<Replaced>>,
}

#[derive(Debug)]
struct FilePart {
    source: Bytes,
    entry: usize,
    part: Part,
    /// How much of its message beside its parts counts with it, in bytes.
    around: usize,
    continues: bool,
    /// The only text of an output, decoded, where it has escapes and is short.
    line: OnceLock<Box<str>>,
}

#[derive(Debug)]
struct Replaced {
    text: Box<str>,
    edits: Vec<Edit>,
    bytes: usize,
}

impl FileItem {
    pub(super) fn new(
        source: Bytes,
        entry: usize,
        part: Part,
        around: usize,
        continues: bool,
    ) -> Self {
        let line = OnceLock::new();
        let part = FilePart { source, entry, part, around, continues, line };
        Self { part: Arc::new(part), replaced: None }
    }

    /// Which message of the file it is of.
    pub(super) fn entry(&self) -> usize {
        self.part.entry
    }

    /// What has to be changed in the file for it.
    pub(super) fn edits(&self) -> &[Edit] {
        self.replaced.as_ref().map_or(&[], |replaced| &replaced.edits)
    }
}

impl FilePart {
    fn span(&self) -> Span {
        self.part.span
    }

    fn view(&self) -> ItemView<'_> {
        match &self.part.said {
            Said::Instructions => ItemView::Instructions,
            Said::User => ItemView::User,
            Said::Summary => ItemView::Summary,
            Said::Other => ItemView::Other,
            Said::Call(call) => ItemView::Call(CallView {
                id: call.id.as_deref(),
                tool: &call.tool,
                arguments: Arguments::Text(
                    call.arguments.map_or(Cow::Borrowed(""), |span| self.arguments(span)),
                ),
            }),
            Said::Answer(answer) => ItemView::Result(ResultView {
                call: answer.call.as_deref(),
                ended: answer.ended,
                output: answer.output.view(&self.source, self.line()),
            }),
        }
    }

    /// The text of the arguments' object, which may be in a string.
    fn arguments(&self, span: Span) -> Cow<'_, str> {
        let json = span.json(&self.source);
        json.string().unwrap_or(Cow::Borrowed(json.text()))
    }

    fn line(&self) -> Option<&str> {
        let Said::Answer(answer) = &self.part.said else { return None };
        if let Some(decoded) = self.line.get() {
            return Some(decoded);
        }
        match answer.output.line(&self.source)? {
            Cow::Borrowed(plain) => Some(plain),
            Cow::Owned(decoded) => Some(self.line.get_or_init(|| decoded.into())),
        }
    }

    /// Base64 is no text, and does not count.
    fn bytes(&self) -> usize {
        (self.span().len() + self.around).saturating_sub(self.part.payload)
    }

    fn replace(&self, output: NewOutput<'_>) -> Option<Replaced> {
        let Said::Answer(answer) = &self.part.said else { return None };
        let edits = answer.output.replace(&self.source, output);
        if edits.is_empty() {
            return None;
        }
        let payload = match output {
            NewOutput::Reference(_) => self.part.payload,
            NewOutput::Omitted(_) => 0,
        };
        let mut bytes = self.span().len() + self.around - payload;
        for edit in edits.iter().filter(|edit| self.span().contains(edit.span)) {
            bytes = bytes + edit.text.len() - edit.span.len();
        }
        Some(Replaced { text: output.text().into(), edits, bytes })
    }
}

impl Item for FileItem {
    fn view(&self) -> ItemView<'_> {
        match (&self.replaced, self.part.view()) {
            (Some(replaced), ItemView::Result(view)) => {
                ItemView::Result(ResultView { output: OutputView::of_text(&replaced.text), ..view })
            }
            (_, view) => view,
        }
    }

    fn bytes(&self) -> usize {
        self.replaced.as_ref().map_or_else(|| self.part.bytes(), |replaced| replaced.bytes)
    }

    fn with_output(&self, output: NewOutput<'_>) -> Self {
        match self.part.replace(output) {
            Some(replaced) => {
                Self { part: Arc::clone(&self.part), replaced: Some(Arc::new(replaced)) }
            }
            None => self.clone(),
        }
    }

    fn continues(&self) -> bool {
        self.part.continues
    }
}
