//! From the end of a call to its published output and its result.

use std::error::Error;
use std::sync::Arc;

use artifacts::capture::{Capture, SealedCapture};
use artifacts::{ArtifactStore, Guard, Manifest, ManifestStream, Publication};
use output_capture::{CapturedCall, CapturedStream};
use output_contract::limits::MAX_INLINE_STRUCTURED_BYTES;
use output_contract::{
    ArtifactUri, Content, Incomplete, IncompleteReason, OutputDeclaration, OutputKind,
    ResultOutput, StreamRecord, Structured, ToolResult,
};
use output_retention::{Hints, Limits, Preview};
use tool_api::{CallPreview, NewAttachment, PostExecute, Presentation, PreviewStream};

use crate::record::{Facts, attachment_content, bounded, page_output, record_shown};

/// One stream of a call that has ended, sealed or lost.
#[derive(Debug)]
pub(crate) struct EndedStream {
    pub(crate) sealed: Option<Arc<SealedCapture>>,
    pub(crate) preview: Preview,
    pub(crate) seen_preview: Option<Preview>,
    pub(crate) seen_bytes: Option<u64>,
    pub(crate) incomplete: Option<Incomplete>,
}

impl From<CapturedStream> for EndedStream {
    fn from(stream: CapturedStream) -> Self {
        Self {
            sealed: stream.sealed.map(Arc::new),
            preview: stream.preview,
            seen_preview: stream.seen_preview,
            seen_bytes: Some(stream.seen_bytes),
            incomplete: stream.incomplete,
        }
    }
}

/// What presenting and publishing need of the runtime.
#[derive(Debug)]
pub(crate) struct Finalizer<'a> {
    pub(crate) store: &'a dyn ArtifactStore,
    pub(crate) post_execute: &'a [Arc<dyn PostExecute>],
    pub(crate) limits: Limits,
    pub(crate) hints: Hints,
}

/// A result that still has to be saved, and what protects it until then.
#[derive(Debug)]
pub(crate) struct Finalized {
    pub(crate) result: ToolResult,
    pub(crate) guard: Option<Box<dyn Guard>>,
}

/// Values beside the output that are stored as artifacts.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    attachments: Vec<(NewAttachment, Option<Arc<SealedCapture>>)>,
    structured: Option<(Structured, Option<Arc<SealedCapture>>)>,
}

impl Extras {
    /// Stores attachments and a large structured value in the call's capture
    /// directory. What cannot be stored is kept as a fact without its bytes.
    /// It blocks for as long as that takes.
    pub(crate) fn store(
        capture: Option<&Capture>,
        attachments: Vec<NewAttachment>,
        structured: Option<serde_json::Value>,
    ) -> Self {
        let put = |number: usize, bytes: &[u8]| {
            let mut writer = capture?.attachment_writer(number).ok()?;
            writer.append(bytes).ok()?;
            writer.seal().ok().map(Arc::new)
        };
        let count = attachments.len();
        let attachments = attachments
            .into_iter()
            .enumerate()
            .map(|(number, attachment)| {
                let sealed = put(number, attachment.bytes());
                (attachment, sealed)
            })
            .collect();
        let structured = structured.map(|value| {
            let json = value.to_string();
            if json.len() <= MAX_INLINE_STRUCTURED_BYTES {
                return (Structured::Inline(value), None);
            }
            let sealed = put(count, json.as_bytes());
            (Structured::Stored { artifact: None, bytes: json.len() as u64 }, sealed)
        });
        Self { attachments, structured }
    }

    /// Whether anything here has to be stored.
    pub(crate) fn needed(
        attachments: &[NewAttachment],
        structured: Option<&serde_json::Value>,
    ) -> bool {
        !attachments.is_empty()
            || structured.is_some_and(|value| value.to_string().len() > MAX_INLINE_STRUCTURED_BYTES)
    }

    fn blobs(&self) -> impl Iterator<Item = &Arc<SealedCapture>> {
        let structured = self.structured.iter().filter_map(|(_, sealed)| sealed.as_ref());
        self.attachments.iter().filter_map(|(_, sealed)| sealed.as_ref()).chain(structured)
    }

    fn into_content(self, published: bool) -> (Vec<Content>, Option<Structured>) {
        let digest = |sealed: Option<Arc<SealedCapture>>| {
            sealed.filter(|_| published).map(|sealed| sealed.digest())
        };
        let content = self
            .attachments
            .into_iter()
            .map(|(attachment, sealed)| attachment_content(&attachment, digest(sealed)))
            .collect();
        let structured = self.structured.map(|(structured, sealed)| match structured {
            Structured::Stored { bytes, .. } => {
                Structured::Stored { artifact: digest(sealed), bytes }
            }
            inline @ Structured::Inline(_) => inline,
        });
        (content, structured)
    }
}

impl Finalizer<'_> {
    /// Publishes and presents a captured call.
    pub(crate) async fn captured(
        &self,
        mut facts: Facts,
        declaration: &OutputDeclaration,
        streams: Vec<EndedStream>,
        extras: Extras,
        full_text: Option<String>,
    ) -> Finalized {
        let manifest = manifest_of(declaration, &streams);
        let blobs = streams.iter().filter_map(|s| s.sealed.as_ref()).chain(extras.blobs());
        let publication =
            Publication { blobs: blobs.cloned().collect(), manifest: manifest.clone() };
        let manifest_digest = manifest.as_ref().map(Manifest::digest);
        let (guard, failure) = match self.store.publish(publication).await {
            Ok(guard) => (Some(guard), None),
            Err(error) => {
                tracing::error!(error = &error as &dyn Error, "could not publish the output");
                (None, Some(innermost(&error)))
            }
        };

        let mut records = Vec::with_capacity(streams.len());
        let mut previews = Vec::with_capacity(streams.len());
        for (index, stream) in streams.into_iter().enumerate() {
            let name = declaration.name(index).cloned();
            let kept = stream.sealed.as_ref().filter(|_| guard.is_some());
            let artifact = kept.map(|sealed| match (&name, manifest_digest) {
                (Some(name), Some(manifest)) => ArtifactUri::stream(manifest, name.clone()),
                _ => ArtifactUri::bare(sealed.digest()),
            });
            let kept_bytes = kept.map_or(0, |sealed| sealed.bytes());
            let note = facts.notes.iter().find(|note| note.stream == name);
            let lost = match (&failure, &kept) {
                (Some(detail), None) => Some(Incomplete {
                    reason: IncompleteReason::StorageError,
                    detail: Some(detail.clone()),
                }),
                _ => None,
            };
            let reasons = [stream.incomplete, lost, note.map(|note| Incomplete::from(note.reason))];
            records.push(StreamRecord {
                name: name.clone(),
                artifact: artifact.clone(),
                sha256: kept.map(|sealed| sealed.digest()),
                bytes: kept_bytes,
                lines: kept.map_or(0, |sealed| sealed.lines()),
                seen_bytes: stream.seen_bytes,
                shown_bytes: 0,
                truncated: false,
                next_offset: None,
                next_byte_offset: None,
                incomplete: facts.incomplete(reasons.iter().flatten()),
                binary: false,
            });
            let (preview, artifact) = match stream.seen_preview {
                Some(seen) if shows(&seen, &self.limits, kept_bytes) => (seen, None),
                _ => (stream.preview, artifact),
            };
            previews.push(PreviewStream { name, preview, artifact });
        }

        let preview = CallPreview {
            streams: previews,
            limits: self.limits,
            ending: facts.ending(&records),
            hints: self.hints.clone(),
            accompanied: !extras.attachments.is_empty() || !facts.links.is_empty(),
        };
        let text = self.present(&facts, preview, full_text, &mut records).await;
        let (attachments, structured) = extras.into_content(guard.is_some());
        let mut content = Vec::new();
        if !text.is_empty() {
            content.push(Content::text(text));
        }
        content.extend(attachments);
        content.append(&mut facts.links);
        let kind = match declaration {
            OutputDeclaration::Single => OutputKind::Single,
            OutputDeclaration::Named(_) => OutputKind::Named,
        };
        let manifest = manifest_digest.filter(|_| guard.is_some());
        let output = ResultOutput { kind, manifest, streams: records };
        Finalized { result: facts.into_result(output, content, structured), guard }
    }

    /// The text that the model sees, after the waterfall.
    async fn present(
        &self,
        facts: &Facts,
        preview: CallPreview,
        full_text: Option<String>,
        records: &mut [StreamRecord],
    ) -> String {
        let ordinary = preview.clone();
        let mut presentation = match full_text {
            Some(text) => Presentation::Full { text, otherwise: preview },
            None => Presentation::Preview(preview),
        };
        for listener in self.post_execute {
            presentation = listener.apply(&facts.info, presentation).await;
        }
        let (preview, replacement) = match presentation {
            Presentation::Full { otherwise, .. } => (otherwise, None),
            Presentation::Preview(preview) => (preview, None),
            Presentation::Replaced(replacement) => (ordinary, bounded(replacement)),
        };
        let rendered = preview.render(&preview.limits);
        record_shown(records, &rendered.streams);
        match replacement {
            Some(replacement) => {
                record_shown(records, &replacement.shown);
                replacement.text
            }
            None => rendered.text,
        }
    }

    /// Publishes what accompanies a page; the page itself is kept inline.
    pub(crate) async fn page(
        &self,
        mut facts: Facts,
        mut content: Vec<Content>,
        extras: Extras,
    ) -> Finalized {
        let blobs: Vec<_> = extras.blobs().cloned().collect();
        let guard = if blobs.is_empty() {
            None
        } else {
            self.store.publish(Publication { blobs, manifest: None }).await.ok()
        };
        let (attachments, structured) = extras.into_content(guard.is_some());
        content.extend(attachments);
        content.append(&mut facts.links);
        Finalized { result: facts.into_result(page_output(), content, structured), guard }
    }
}

/// Whether the preview of what was seen shows all that was stored, so that it
/// says more than the preview of what was stored and needs no hint.
fn shows(seen: &Preview, limits: &Limits, stored_bytes: u64) -> bool {
    let cut = seen.cut(limits);
    !cut.is_truncated() || cut.head.len() as u64 >= stored_bytes
}

/// The manifest of a named output, where every stream of it is there.
fn manifest_of(declaration: &OutputDeclaration, streams: &[EndedStream]) -> Option<Manifest> {
    if declaration.names().is_empty() {
        return None;
    }
    let entries = declaration.names().iter().zip(streams).map(|(name, stream)| {
        let sealed = stream.sealed.as_ref()?;
        Some(ManifestStream {
            name: name.clone(),
            sha256: sealed.digest(),
            bytes: sealed.bytes(),
            lines: sealed.lines(),
        })
    });
    let streams = entries.collect::<Option<Vec<_>>>()?;
    Some(Manifest::new(streams).expect("a declaration's names are valid for a manifest"))
}

/// The cause of an error, as the system says it, without its number.
pub(crate) fn innermost(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let text = cause.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

/// The captured streams in the form that finalising takes.
pub(crate) fn ended_streams(captured: &mut CapturedCall) -> Vec<EndedStream> {
    captured.streams.drain(..).map(EndedStream::from).collect()
}
