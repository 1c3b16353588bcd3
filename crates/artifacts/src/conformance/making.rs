//! What the clauses publish, and how.

use std::sync::Arc;
use std::time::Duration;

use output_contract::{ArtifactUri, CallId, Digest, OutputDeclaration, SessionId, Timestamp};

use crate::capture::{Capture, CaptureMeta};
use crate::error::OpenError;
use crate::manifest::{Manifest, ManifestStream};
use crate::store::{
    ArtifactReader, ArtifactStore, CollectOptions, CollectReport, Guard, Publication,
};

pub(super) type Store = Arc<dyn ArtifactStore>;

pub(super) fn owner(id: &str) -> SessionId {
    id.parse().expect("a session id")
}

pub(super) fn call(id: &str) -> CallId {
    id.parse().expect("a call id")
}

/// Seals `contents` as the streams of a new capture.
pub(super) fn seal(store: &Store, contents: &[&[u8]]) -> (Capture, Publication) {
    let meta = CaptureMeta {
        session_id: owner("conformance"),
        call_id: call("call"),
        parent_call_id: None,
        tool: "tool".parse().expect("a tool name"),
        title: String::new(),
        output: OutputDeclaration::Single,
        started_at: Timestamp::default(),
        timeout_ms: None,
    };
    let capture = store.captures().create(&meta).expect("a capture can be made");
    let blobs = contents
        .iter()
        .enumerate()
        .map(|(index, content)| {
            let mut writer = capture.stream_writer(index).expect("a file can be made");
            writer.append(content).expect("it can be written");
            Arc::new(writer.seal().expect("it can be sealed"))
        })
        .collect();
    (capture, Publication { blobs, manifest: None })
}

/// Publishes `contents` as blobs.
pub(super) async fn publish(store: &Store, contents: &[&[u8]]) -> Box<dyn Guard> {
    let (capture, publication) = seal(store, contents);
    let guard = store.publish(publication).await.expect("it can be published");
    capture.remove().expect("the capture is not needed any more");
    guard
}

/// Publishes named streams, with their manifest.
pub(super) async fn publish_named(store: &Store, streams: &[(&str, &[u8])]) -> Box<dyn Guard> {
    let contents: Vec<&[u8]> = streams.iter().map(|(_, content)| *content).collect();
    let (capture, mut publication) = seal(store, &contents);
    let named = streams.iter().zip(&publication.blobs).map(|((name, _), blob)| ManifestStream {
        name: name.parse().expect("a stream name"),
        sha256: blob.digest(),
        bytes: blob.bytes(),
        lines: blob.lines(),
    });
    publication.manifest = Some(Manifest::new(named.collect()).expect("a manifest"));
    let guard = store.publish(publication).await.expect("it can be published");
    capture.remove().expect("the capture is not needed any more");
    guard
}

pub(super) fn stream_uri(manifest: Digest, stream: &str) -> ArtifactUri {
    ArtifactUri::stream(manifest, stream.parse().expect("a stream name"))
}

pub(super) async fn open(store: &Store, uri: &ArtifactUri) -> Arc<dyn ArtifactReader> {
    store.open(uri).await.expect("it can be opened")
}

/// All bytes of an artifact.
pub(super) async fn read(store: &Store, uri: &ArtifactUri) -> Vec<u8> {
    let reader = open(store, uri).await;
    reader.read(0..reader.bytes()).await.expect("it can be read").to_vec()
}

/// Whether there is nothing under this digest, never was or no more.
pub(super) async fn is_unknown(store: &Store, digest: Digest) -> bool {
    match store.open(&ArtifactUri::bare(digest)).await {
        Ok(_) => false,
        Err(OpenError::Unknown { .. } | OpenError::Expired { .. }) => true,
        Err(error) => panic!("neither there nor unknown: {error:?}"),
    }
}

/// Removes everything that may be removed at once.
pub(super) async fn collect(store: &Store) -> CollectReport {
    let options = CollectOptions { grace: Duration::ZERO, dry_run: false, force: false };
    let report = store.collect(options).await.expect("it can be collected");
    assert!(!report.busy, "nobody else collects");
    report
}

/// Lines of many lengths, over several blocks; code points and invalid bytes
/// lie across block borders.
pub(super) fn long_content() -> Vec<u8> {
    let mut content = Vec::new();
    for line in 0_usize.. {
        if content.len() > 400_000 {
            return content;
        }
        match line % 5 {
            0 => content.extend(format!("line {line}\n").bytes()),
            1 => content.extend("你好🦀\n".repeat(line % 7).bytes()),
            2 => content.extend([b"\n".as_slice(), b"\xff\xfe\0\r"].concat()),
            3 => content.extend(vec![b'x'; line * 37 % 5000]),
            _ => content.extend("ab\u{2028}cd\u{301}\n".bytes()),
        }
    }
    content
}
