//! The histories of this house: [`HistoryItem`] as an item.

use std::borrow::Cow;
use std::io;

use output_contract::{
    Attachment, Content, ContentBody, HistoryItem, MessageRole, ResultOutput, Structured,
    ToolResult,
};
use output_retention::Ended;
use serde::Serialize;

use crate::arguments::Arguments;
use crate::item::{
    Body, CallView, InlinePart, Item, ItemView, NewOutput, OutputView, ResultView, StoredPart,
};

const JSON: &str = "application/json";

impl Item for HistoryItem {
    fn view(&self) -> ItemView<'_> {
        match self {
            Self::Message { role: MessageRole::User, .. } => ItemView::User,
            Self::Message { .. } => ItemView::Other,
            Self::Summary { .. } => ItemView::Summary,
            Self::ToolCall { call_id, tool, arguments } => ItemView::Call(CallView {
                id: Some(call_id.as_str()),
                tool: tool.as_str(),
                arguments: Arguments::Value(arguments),
            }),
            Self::ToolResult(result) => ItemView::Result(ResultView {
                call: Some(result.call_id.as_str()),
                ended: Ended {
                    status: Some(result.status),
                    exit: result.exit,
                    incomplete: result.incomplete.as_ref().map(|incomplete| incomplete.reason),
                },
                output: output(result),
            }),
        }
    }

    fn bytes(&self) -> usize {
        let mut count = Count(0);
        serde_json::to_writer(&mut count, self)
            .expect("an item has string keys, counting succeeds");
        count.0
    }

    fn with_output(&self, output: NewOutput<'_>) -> Self {
        let Self::ToolResult(result) = self else { return self.clone() };
        let emitted = match output {
            NewOutput::Reference(_) => result.emitted.clone(),
            NewOutput::Omitted(_) => Vec::new(),
        };
        Self::ToolResult(Box::new(ToolResult {
            session_id: result.session_id.clone(),
            call_id: result.call_id.clone(),
            parent_call_id: result.parent_call_id.clone(),
            tool: result.tool.clone(),
            status: result.status,
            exit: result.exit,
            timeout_ms: result.timeout_ms,
            incomplete: result.incomplete.clone(),
            output: ResultOutput { kind: result.output.kind, manifest: None, streams: Vec::new() },
            content: vec![Content::text(output.text())],
            structured: None,
            display: String::new(),
            title: result.title.clone(),
            started_at: result.started_at,
            duration_ms: result.duration_ms,
            metadata: Default::default(),
            emitted,
        }))
    }
}

/// What a result holds. Its streams are stored; the text of its content is a
/// view of them, and counts only where a stream could not be kept.
fn output(result: &ToolResult) -> OutputView<'_> {
    let text = match result.content.as_slice() {
        [] if result.structured.is_none() => Some(""),
        [only] if result.structured.is_none() => only.as_text(),
        _ => None,
    };
    let mut view = OutputView { text, ..OutputView::default() };
    let streams = &result.output.streams;
    for stream in streams {
        let kept = stream.artifact.is_some();
        view.stored.push(StoredPart {
            label: stream.name.as_ref().map(output_contract::StreamName::as_str),
            uri: stream.artifact.clone(),
            bytes: if kept { stream.bytes } else { stream.seen_bytes.unwrap_or(stream.bytes) },
            lines: kept.then_some(stream.lines),
        });
    }
    let text_is_stored = !streams.is_empty() && streams.iter().all(|s| s.artifact.is_some());
    for content in &result.content {
        match &content.body {
            ContentBody::Text { .. } if text_is_stored => {}
            ContentBody::Text { text } => {
                let body = Body::Text(Cow::Borrowed(text));
                view.inline.push(InlinePart { label: None, body });
            }
            ContentBody::Attachment(attachment) => view.stored.push(attached(attachment)),
            ContentBody::ResourceLink { .. } => view.inline.extend(json(content)),
        }
    }
    match &result.structured {
        Some(Structured::Inline(value)) => view.inline.extend(json(value)),
        Some(Structured::Stored { artifact, bytes }) => view.stored.push(StoredPart {
            label: Some(JSON),
            uri: artifact.map(output_contract::ArtifactUri::bare),
            bytes: *bytes,
            lines: None,
        }),
        None => {}
    }
    view
}

fn attached(attachment: &Attachment) -> StoredPart<'_> {
    StoredPart {
        label: Some(&attachment.media_type),
        uri: attachment.artifact.map(output_contract::ArtifactUri::bare),
        bytes: attachment.bytes,
        lines: None,
    }
}

fn json(value: &impl Serialize) -> Option<InlinePart<'static>> {
    let text = serde_json::to_string(value).ok()?;
    Some(InlinePart { label: Some(JSON.into()), body: Body::Text(text.into()) })
}

/// Counts what is written.
struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
