//! The facts of a call that has ended, and the one result made of them.

use std::time::Duration;

use bytes::Bytes;
use output_contract::limits::{MAX_MODEL_TEXT_BYTES, MAX_TITLE_BYTES};
use output_contract::{
    Attachment, Content, ContentBody, EmittedMessage, Exit, Fields, Incomplete, OutputKind,
    ResultOutput, Status, StreamRecord, Structured, Timestamp, ToolResult,
};
use output_retention::{Ending, Shown, final_display, missing_display, one_line};
use tool_api::{CallInfo, Completion, NewAttachment, OutputMode, Replacement, StreamNote};

use crate::execute::Ended;

/// What is known of a call that has ended, apart from its stored output.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) info: CallInfo,
    pub(crate) title: String,
    pub(crate) status: Status,
    pub(crate) exit: Option<Exit>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) display: Option<String>,
    pub(crate) notes: Vec<StreamNote>,
    pub(crate) structured: Option<serde_json::Value>,
    pub(crate) attachments: Vec<NewAttachment>,
    pub(crate) links: Vec<Content>,
    pub(crate) emitted: Vec<EmittedMessage>,
    pub(crate) metadata: Fields,
    pub(crate) started_at: Timestamp,
    pub(crate) ended_at: Timestamp,
    /// The tool ended without saying so, although its status is `failed`.
    pub(crate) interrupted: bool,
}

impl Facts {
    /// The facts of a call that ends with this status and nothing else.
    pub(crate) fn new(info: CallInfo, title: String, status: Status, at: Timestamp) -> Self {
        Self {
            info,
            title,
            status,
            exit: None,
            timeout: None,
            display: None,
            notes: Vec::new(),
            structured: None,
            attachments: Vec::new(),
            links: Vec::new(),
            emitted: Vec::new(),
            metadata: Fields::new(),
            started_at: at,
            ended_at: at,
            interrupted: false,
        }
    }

    /// Splits how a call ended into its facts and its output; without a
    /// completion, what was sent is the output.
    pub(crate) fn of(
        ended: Ended,
        info: CallInfo,
        title: String,
        started_at: Timestamp,
        ended_at: Timestamp,
    ) -> (Self, OutputMode) {
        let completion = match ended {
            Ended::Completed(completion) => *completion,
            Ended::Without { status, reason } => {
                let mut facts = Self::new(info, title, status, started_at);
                facts.ended_at = ended_at;
                facts.interrupted = status == Status::Failed;
                if let Some(reason) = reason {
                    facts.metadata.insert("error".to_owned(), reason.into());
                }
                return (facts, OutputMode::Streamed);
            }
        };
        let facts = Self {
            info,
            title: completion.title.clone().unwrap_or(title),
            status: completion.status,
            exit: completion.exit,
            timeout: completion.timeout,
            display: completion.display.clone(),
            notes: completion.notes.clone(),
            structured: completion.structured.clone(),
            attachments: completion.attachments().to_vec(),
            links: completion.links().to_vec(),
            emitted: completion.emitted().to_vec(),
            metadata: completion.metadata().clone(),
            started_at,
            ended_at,
            interrupted: false,
        };
        let Completion { output, .. } = completion;
        (facts, output.into_mode())
    }

    /// The reason that the whole call is incomplete, given its streams'.
    pub(crate) fn incomplete<'a>(
        &self,
        streams: impl Iterator<Item = &'a Incomplete>,
    ) -> Option<Incomplete> {
        Incomplete::of_call(
            streams,
            if self.interrupted { Status::Interrupted } else { self.status },
        )
    }

    /// What the renderer must know of the end.
    pub(crate) fn ending(&self, streams: &[StreamRecord]) -> Ending {
        Ending {
            status: self.status,
            exit: self.exit,
            timeout_ms: self.timeout_ms(),
            incomplete: self.incomplete(streams.iter().filter_map(|s| s.incomplete.as_ref())),
            stored_bytes: streams.iter().map(|stream| stream.bytes).sum(),
            seen_bytes: streams.iter().map(|stream| stream.seen_bytes).sum(),
        }
    }

    fn timeout_ms(&self) -> Option<u64> {
        self.timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX))
    }

    /// The result of the call.
    pub(crate) fn into_result(
        self,
        output: ResultOutput,
        content: Vec<Content>,
        structured: Option<Structured>,
    ) -> ToolResult {
        let incomplete =
            self.incomplete(output.streams.iter().filter_map(|s| s.incomplete.as_ref()));
        let title = match one_line(&self.title, MAX_TITLE_BYTES) {
            empty if empty.is_empty() => self.info.tool.as_str().to_owned(),
            title => title,
        };
        let display = match &self.display {
            Some(display) => final_display(display),
            None => final_display(&missing_display(&title, self.status, incomplete.is_some())),
        };
        ToolResult {
            timeout_ms: self.timeout_ms(),
            session_id: self.info.session_id,
            call_id: self.info.call_id,
            parent_call_id: self.info.parent_call_id,
            tool: self.info.tool,
            status: self.status,
            exit: self.exit,
            incomplete,
            output,
            content,
            structured,
            display,
            title,
            started_at: self.started_at,
            duration_ms: self.ended_at.0.saturating_sub(self.started_at.0),
            metadata: self.metadata,
            emitted: self.emitted,
        }
    }
}

/// A page as the output: nothing is captured, stored or counted.
pub(crate) fn page_output() -> ResultOutput {
    ResultOutput { kind: OutputKind::Page, manifest: None, streams: Vec::new() }
}

/// Puts what was shown of each stream into its record. Truncated is what shows
/// less than is stored; where less was stored than is shown, nothing is.
pub(crate) fn record_shown(streams: &mut [StreamRecord], shown: &[Shown]) {
    for (record, shown) in streams.iter_mut().zip(shown) {
        let next = shown.next.filter(|_| shown.shown_bytes < record.bytes);
        record.shown_bytes = shown.shown_bytes;
        record.truncated = next.is_some();
        record.next_offset = next.map(|next| next.line);
        record.next_byte_offset = next.map(|next| next.byte_offset);
        record.binary = shown.binary;
    }
}

/// What takes the place of a rendering, where its text is within bounds.
pub(crate) fn bounded(replacement: Replacement) -> Option<Replacement> {
    let json = serde_json::to_string(&replacement.text).expect("a string is always JSON");
    (json.len() - 2 <= MAX_MODEL_TEXT_BYTES).then_some(replacement)
}

/// A stored attachment as content; `artifact` is `None` where it was not kept.
pub(crate) fn attachment_content(
    attachment: &NewAttachment,
    artifact: Option<output_contract::Digest>,
) -> Content {
    Content::from(ContentBody::Attachment(Attachment {
        media_type: attachment.media_type().to_owned(),
        artifact,
        bytes: attachment.bytes().len() as u64,
        name: attachment.name().map(str::to_owned),
    }))
}

/// The single output as text, where it is whole and text.
pub(crate) fn whole_text(output: &[Bytes]) -> Option<String> {
    let [single] = output else { return None };
    std::str::from_utf8(single).ok().map(str::to_owned)
}
