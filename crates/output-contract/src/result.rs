//! The saved result of one call: the wire type of everything that follows it.

use serde::{Deserialize, Serialize};

use crate::content::{Content, ContentBody, EmittedMessage, Fields, Structured};
use crate::digest::Digest;
use crate::ids::{CallId, SessionId, ToolName};
use crate::lenient;
use crate::status::{Exit, Incomplete, Status};
use crate::stream::StreamName;
use crate::timestamp::Timestamp;
use crate::uri::ArtifactUri;

/// Everything that is kept of a call. Model text, final display and transcript
/// all derive from it; it refers to stored bytes and never holds them.
///
/// Required in saved data: the ids, the tool, the status and the output. Any
/// other field that is missing or does not fit is its default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS, schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The session that owns the call.
    pub session_id: SessionId,
    /// The call, unique within the session.
    pub call_id: CallId,
    /// The call that made this one, where it is nested.
    #[serde(default, deserialize_with = "lenient::field", skip_serializing_if = "Option::is_none")]
    pub parent_call_id: Option<CallId>,
    /// The tool that ran.
    pub tool: ToolName,
    /// How the call ended.
    pub status: Status,
    /// How its process ended, where it had one.
    #[serde(default, deserialize_with = "lenient::field", skip_serializing_if = "Option::is_none")]
    pub exit: Option<Exit>,
    /// The timeout that was in force, in milliseconds.
    #[serde(default, deserialize_with = "lenient::field", skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// That output is missing, and the weightiest reason.
    #[serde(default, deserialize_with = "lenient::field")]
    pub incomplete: Option<Incomplete>,
    /// What was stored, and how much of it was shown.
    pub output: ResultOutput,
    /// What the model sees: the rendered text, then attachments and links.
    #[serde(default, deserialize_with = "lenient::list")]
    pub content: Vec<Content>,
    /// The structured value beside the content.
    #[serde(default, deserialize_with = "lenient::field", skip_serializing_if = "Option::is_none")]
    pub structured: Option<Structured>,
    /// What a person sees in the end. It replaces the live display.
    #[serde(default, deserialize_with = "lenient::field")]
    pub display: String,
    /// A short title to show.
    #[serde(default, deserialize_with = "lenient::field")]
    pub title: String,
    /// When the call started.
    #[serde(default, deserialize_with = "lenient::field")]
    pub started_at: Timestamp,
    /// How long it took, in milliseconds.
    #[serde(default, deserialize_with = "lenient::field")]
    pub duration_ms: u64,
    /// What else the tool says of the call.
    #[serde(
        default,
        deserialize_with = "lenient::field",
        skip_serializing_if = "Fields::is_empty"
    )]
    pub metadata: Fields,
    /// Messages that follow the result in the history.
    #[serde(default, deserialize_with = "lenient::list", skip_serializing_if = "Vec::is_empty")]
    pub emitted: Vec<EmittedMessage>,
}

impl ToolResult {
    /// The text content, concatenated.
    pub fn text(&self) -> String {
        self.content.iter().filter_map(Content::as_text).collect()
    }

    /// What it refers to: manifest or streams, attachments, a large value.
    pub fn digests(&self) -> Vec<Digest> {
        let ResultOutput { manifest, streams, .. } = &self.output;
        let streams = streams.iter().filter_map(|stream| Some(stream.artifact.as_ref()?.digest));
        let attachments = self.content.iter().filter_map(|content| match &content.body {
            ContentBody::Attachment(attachment) => attachment.artifact,
            ContentBody::Text { .. } | ContentBody::ResourceLink { .. } => None,
        });
        let structured = match self.structured {
            Some(Structured::Stored { artifact, .. }) => artifact,
            Some(Structured::Inline(_)) | None => None,
        };
        let mut digests: Vec<Digest> =
            manifest.iter().copied().chain(streams).chain(attachments).chain(structured).collect();
        digests.sort_unstable();
        digests.dedup();
        digests
    }
}

/// What was stored of a call's output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS, schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ResultOutput {
    /// The form of the output.
    pub kind: OutputKind,
    /// The digest of the manifest of named streams; `None` for other kinds and
    /// where it could not be stored.
    #[serde(default)]
    pub manifest: Option<Digest>,
    /// One record a channel, in declaration order; none for a page.
    #[serde(default)]
    pub streams: Vec<StreamRecord>,
}

/// The form of a call's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS, schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OutputKind {
    /// One unnamed output, one artifact.
    Single,
    /// Named streams, an artifact each, and a manifest.
    Named,
    /// A bounded page that is kept inline and nowhere else.
    Page,
}

/// The facts about one stream of a finished call. All counts are of artifact
/// bytes and of lines that end in `\n` (an unterminated rest is one more).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS, schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StreamRecord {
    /// The stream's name; a single output has none.
    #[serde(default)]
    pub name: Option<StreamName>,
    /// Where to read it; `None` where nothing could be stored.
    #[serde(default)]
    pub artifact: Option<ArtifactUri>,
    /// The digest of its bytes.
    #[serde(default)]
    pub sha256: Option<Digest>,
    /// Bytes stored.
    pub bytes: u64,
    /// Lines stored.
    #[serde(default, deserialize_with = "lenient::field")]
    pub lines: u64,
    /// Bytes produced; unknown after a crash.
    #[serde(default, deserialize_with = "lenient::field")]
    pub seen_bytes: Option<u64>,
    /// Bytes shown in the preview.
    #[serde(default, deserialize_with = "lenient::field")]
    pub shown_bytes: u64,
    /// Whether the preview shows less than is stored.
    #[serde(default, deserialize_with = "lenient::field")]
    pub truncated: bool,
    /// The zero-based first line that the head does not wholly show.
    #[serde(default, deserialize_with = "lenient::field")]
    pub next_offset: Option<u64>,
    /// How many bytes of that line the head shows.
    #[serde(default, deserialize_with = "lenient::field")]
    pub next_byte_offset: Option<u64>,
    /// That this stream is not all that was produced.
    #[serde(default, deserialize_with = "lenient::field")]
    pub incomplete: Option<Incomplete>,
    /// Whether the preview is a summary because the bytes are no text.
    #[serde(default, deserialize_with = "lenient::field", skip_serializing_if = "is_false")]
    pub binary: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}
