//! Histories to compact, and a store for what they hold.

use std::sync::Arc;

use artifacts::capture::CaptureMeta;
use artifacts::{ArtifactStore, Manifest, ManifestStream, Publication};
use compaction::{PruneOptions, Pruned, StoreRetainer, prune};
use output_contract::{
    ArtifactUri, CallId, Content, Exit, HistoryItem, Incomplete, MessageRole, OutputDeclaration,
    OutputKind, ResultOutput, SessionId, Status, StreamRecord, Timestamp, ToolName, ToolResult,
};
use serde_json::Value;
use testkit::{FaultyStore, MemoryStore};
use tokio_util::sync::CancellationToken;

pub(crate) const SESSION: &str = "s";

/// A store, which counts what is asked of it.
pub(crate) struct World {
    pub(crate) memory: MemoryStore,
    pub(crate) store: Arc<FaultyStore>,
    pub(crate) retainer: Arc<StoreRetainer>,
}

impl World {
    pub(crate) fn new() -> Self {
        let memory = MemoryStore::new().unwrap();
        let store = Arc::new(FaultyStore::new(Arc::new(memory.clone())));
        let retainer = Arc::new(StoreRetainer::new(store.clone(), session()));
        Self { memory, store, retainer }
    }

    pub(crate) async fn prune(&self, items: &[HistoryItem]) -> Pruned<HistoryItem> {
        let (options, cancel) = (PruneOptions::default(), CancellationToken::new());
        prune(items, &options, &*self.retainer, &cancel).await.unwrap()
    }

    /// A result of named streams, stored and kept as a runtime does it.
    pub(crate) async fn stored(&self, id: &str, streams: &[(&str, &str)]) -> HistoryItem {
        let meta = CaptureMeta {
            session_id: session(),
            call_id: id.parse().unwrap(),
            parent_call_id: None,
            tool: "bash".parse().unwrap(),
            title: String::new(),
            output: OutputDeclaration::named(streams.iter().map(|(name, _)| *name)).unwrap(),
            started_at: Timestamp(0),
            timeout_ms: None,
        };
        let capture = self.store.captures().create(&meta).unwrap();
        let blobs: Vec<_> = streams
            .iter()
            .enumerate()
            .map(|(index, (_, text))| {
                let mut writer = capture.stream_writer(index).unwrap();
                writer.append(text.as_bytes()).unwrap();
                Arc::new(writer.seal().unwrap())
            })
            .collect();
        let entries = streams.iter().zip(&blobs).map(|((name, _), blob)| ManifestStream {
            name: name.parse().unwrap(),
            sha256: blob.digest(),
            bytes: blob.bytes(),
            lines: blob.lines(),
        });
        let manifest = Manifest::new(entries.collect()).unwrap();
        let digest = manifest.digest();
        let records = manifest.streams().iter().map(|stream| StreamRecord {
            name: Some(stream.name.clone()),
            artifact: Some(ArtifactUri::stream(digest, stream.name.clone())),
            sha256: Some(stream.sha256),
            bytes: stream.bytes,
            lines: stream.lines,
            seen_bytes: Some(stream.bytes),
            shown_bytes: stream.bytes,
            truncated: false,
            next_offset: None,
            next_byte_offset: None,
            incomplete: None,
            binary: false,
        });
        let output = ResultOutput {
            kind: OutputKind::Named,
            manifest: Some(digest),
            streams: records.collect(),
        };
        let publication = Publication { blobs, manifest: Some(manifest) };
        let guard = self.store.publish(publication).await.unwrap();
        guard.retain(&session(), &call_id(id)).await.unwrap();
        guard.release().await;
        capture.remove().unwrap();
        let shown: Vec<String> =
            streams.iter().map(|(name, text)| format!("[{name}]\n{text}")).collect();
        edited(result(id, "bash", &shown.join("\n")), |result| result.output = output)
    }

    /// All bytes of what a reference names.
    pub(crate) async fn read(&self, uri: &ArtifactUri) -> Vec<u8> {
        let reader = self.memory.open(uri).await.unwrap();
        reader.read(0..reader.bytes()).await.unwrap().to_vec()
    }
}

pub(crate) fn session() -> SessionId {
    SESSION.parse().unwrap()
}

pub(crate) fn call_id(id: &str) -> CallId {
    id.parse().unwrap()
}

pub(crate) fn user(text: &str) -> HistoryItem {
    HistoryItem::Message { role: MessageRole::User, content: vec![Content::text(text)] }
}

pub(crate) fn assistant(text: &str) -> HistoryItem {
    HistoryItem::Message { role: MessageRole::Assistant, content: vec![Content::text(text)] }
}

pub(crate) fn summary(text: &str) -> HistoryItem {
    HistoryItem::Summary { text: text.to_owned() }
}

pub(crate) fn call(id: &str, tool: &str, arguments: Value) -> HistoryItem {
    HistoryItem::ToolCall { call_id: call_id(id), tool: tool.parse().unwrap(), arguments }
}

/// A successful result whose text is nowhere else.
pub(crate) fn result(id: &str, tool: &str, text: &str) -> HistoryItem {
    HistoryItem::ToolResult(Box::new(ToolResult {
        session_id: session(),
        call_id: call_id(id),
        parent_call_id: None,
        tool: ToolName::new(tool).unwrap(),
        status: Status::Completed,
        exit: None,
        timeout_ms: None,
        incomplete: None,
        output: ResultOutput { kind: OutputKind::Page, manifest: None, streams: Vec::new() },
        content: vec![Content::text(text)],
        structured: None,
        display: String::new(),
        title: String::new(),
        started_at: Timestamp(0),
        duration_ms: 0,
        metadata: Default::default(),
        emitted: Vec::new(),
    }))
}

/// The same result, changed.
pub(crate) fn edited(item: HistoryItem, edit: impl FnOnce(&mut ToolResult)) -> HistoryItem {
    let HistoryItem::ToolResult(mut result) = item else { panic!("no result: {item:?}") };
    edit(&mut result);
    HistoryItem::ToolResult(result)
}

pub(crate) fn failed(item: HistoryItem, code: i32) -> HistoryItem {
    edited(item, |result| {
        result.status = Status::Failed;
        result.exit = Some(Exit::Code(code));
    })
}

pub(crate) fn cut_short(item: HistoryItem, status: Status) -> HistoryItem {
    edited(item, |result| {
        result.status = status;
        result.incomplete = status.incomplete_reason().map(Incomplete::from);
    })
}

/// The text of a result.
pub(crate) fn text(item: &HistoryItem) -> String {
    match item {
        HistoryItem::ToolResult(result) => result.text(),
        other => panic!("no result: {other:?}"),
    }
}

/// A history as it is saved: what must never change.
pub(crate) fn saved(items: &[HistoryItem]) -> String {
    serde_json::to_string(items).unwrap()
}
