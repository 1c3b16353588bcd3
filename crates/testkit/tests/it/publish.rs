//! Captures made and published in one step.

use std::sync::Arc;

use artifacts::{
    ArtifactStore, Capture, CaptureMeta, Guard, Manifest, ManifestStream, Publication,
    PublishError, SealedCapture,
};
use output_contract::{OutputDeclaration, Timestamp};

/// A capture of named streams and its sealed files.
pub(crate) fn capture(
    store: &dyn ArtifactStore,
    contents: &[&[u8]],
) -> (Capture, Vec<Arc<SealedCapture>>) {
    let capture = store
        .captures()
        .create(&CaptureMeta {
            session_id: "s".parse().unwrap(),
            call_id: "c".parse().unwrap(),
            parent_call_id: None,
            tool: "t".parse().unwrap(),
            title: String::new(),
            output: OutputDeclaration::Single,
            started_at: Timestamp(0),
            timeout_ms: None,
        })
        .unwrap();
    let seal = |(index, bytes): (usize, &&[u8])| {
        let mut writer = capture.stream_writer(index).unwrap();
        writer.append(bytes).unwrap();
        Arc::new(writer.seal().unwrap())
    };
    let sealed = contents.iter().enumerate().map(seal).collect();
    (capture, sealed)
}

/// A manifest of these files under these names.
pub(crate) fn manifest(names: &[&str], sealed: &[Arc<SealedCapture>]) -> Manifest {
    let streams = names.iter().zip(sealed).map(|(name, sealed)| ManifestStream {
        name: name.parse().unwrap(),
        sha256: sealed.digest(),
        bytes: sealed.bytes(),
        lines: sealed.lines(),
    });
    Manifest::new(streams.collect()).unwrap()
}

pub(crate) async fn publish(
    store: &dyn ArtifactStore,
    streams: &[(&str, &[u8])],
) -> Result<Box<dyn Guard>, PublishError> {
    let (names, contents): (Vec<_>, Vec<_>) = streams.iter().copied().unzip();
    let (capture, blobs) = capture(store, &contents);
    let manifest = Some(manifest(&names, &blobs));
    let published = store.publish(Publication { blobs, manifest }).await;
    capture.remove().unwrap();
    published
}
