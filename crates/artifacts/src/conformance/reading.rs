//! What is published can be read, exactly.

use output_contract::{ArtifactUri, Digest};

use super::making::{
    Store, collect, is_unknown, long_content, open, publish, publish_named, read, seal, stream_uri,
};
use crate::error::{OpenError, PublishError, ReadError};
use crate::hash::digest_of;
use crate::manifest::{Manifest, ManifestStream};
use crate::page::{PageRequest, page};

/// What is stored is known by name, blobs and manifests alike, after a collection no
/// more.
pub async fn what_is_stored_is_known_by_name(store: &Store) {
    assert!(store.has(&[]).await.expect("nothing to tell").is_empty());
    let guard = publish_named(store, &[("out", b"named\n")]).await;
    let [manifest, blob] = guard.digests() else { panic!("a manifest and a blob") };
    let never = digest_of(b"never stored");
    let known = store.has(&[never, *manifest, *blob, never, *blob]).await;
    assert_eq!(known.expect("it can be told"), [false, true, true, false, true]);
    let digests = [*manifest, *blob];
    drop(guard);
    collect(store).await;
    assert_eq!(store.has(&digests).await.expect("it can be told"), [false, false]);
}

/// Every range of what was published reads back; ranges outside are refused.
pub async fn published_bytes_read_back(store: &Store) {
    let long = long_content();
    for content in [b"".as_slice(), b"a", b"a\nb\n", &long[..65_536], &long[..65_537], &long] {
        let guard = publish(store, &[content]).await;
        let digest = digest_of(content);
        assert_eq!(guard.digests(), [digest]);
        let reader = open(store, &ArtifactUri::bare(digest)).await;
        let bytes = content.len() as u64;
        assert_eq!((reader.digest(), reader.bytes()), (digest, bytes));
        for range in
            [0..bytes, 0..0, bytes..bytes, bytes / 3..bytes / 2, bytes.saturating_sub(1)..bytes]
        {
            let expected = &content[range.start as usize..range.end as usize];
            assert_eq!(reader.read(range).await.expect("it is within"), expected);
        }
        for range in [0..bytes + 1, bytes + 1..bytes + 1, u64::MAX - 1..u64::MAX] {
            let refused = reader.read(range).await;
            assert!(matches!(refused, Err(ReadError::OutOfRange { .. })), "{refused:?}");
        }
    }
}

/// Publishing the same bytes again gives the same artifact.
pub async fn the_same_bytes_are_one_artifact(store: &Store) {
    let first = publish(store, &[b"same\n", b"same\n"]).await;
    let second = publish(store, &[b"same\n"]).await;
    assert_eq!(first.digests(), [digest_of(b"same\n"); 2]);
    drop(first);
    assert_eq!(read(store, &ArtifactUri::bare(second.digests()[0])).await, b"same\n");
}

/// A manifest's bare address gives its canonical bytes, a stream's the stream.
pub async fn a_bare_uri_gives_the_manifest_itself(store: &Store) {
    let guard = publish_named(store, &[("stdout", b"out\n"), ("stderr", b"err")]).await;
    let digests = guard.digests().to_vec();
    assert_eq!(digests[1..], [digest_of(b"out\n"), digest_of(b"err")]);
    let bytes = read(store, &ArtifactUri::bare(digests[0])).await;
    assert_eq!(digest_of(&bytes), digests[0]);
    let manifest = Manifest::decode(&bytes).expect("it is a manifest");
    assert_eq!(manifest.streams()[1].sha256, digests[2]);
    assert_eq!(read(store, &stream_uri(digests[0], "stdout")).await, b"out\n");
    assert_eq!(read(store, &stream_uri(digests[0], "stderr")).await, b"err");
}

/// A manifest that names something else than the blobs is refused.
pub async fn manifests_must_name_published_blobs(store: &Store) {
    let (capture, mut publication) = seal(store, &[b"content\n"]);
    let blob = &publication.blobs[0];
    let right = ManifestStream {
        name: "out".parse().expect("a stream name"),
        sha256: blob.digest(),
        bytes: blob.bytes(),
        lines: blob.lines(),
    };
    for wrong in [
        ManifestStream { sha256: Digest::EMPTY, ..right.clone() },
        ManifestStream { bytes: 7, ..right.clone() },
        ManifestStream { lines: 2, ..right.clone() },
    ] {
        let manifest = Manifest::new(vec![wrong]).expect("a manifest");
        let digest = manifest.digest();
        publication.manifest = Some(manifest);
        let blobs = publication.blobs.clone();
        let refused = store.publish(std::mem::take(&mut publication)).await;
        assert!(matches!(refused, Err(PublishError::StreamNotPublished { .. })), "{refused:?}");
        assert!(is_unknown(store, digest).await);
        publication.blobs = blobs;
    }
    capture.remove().expect("the capture is not needed any more");
}

/// Unknown, not named, and unknown stream are told apart.
pub async fn errors_are_distinct(store: &Store) {
    let guard = publish_named(store, &[("stdout", b"out\n")]).await;
    let [manifest, blob] = *guard.digests() else { panic!("{guard:?}") };
    let absent = Digest::from_bytes([7; 32]);
    let error = |uri: ArtifactUri| async move {
        store.open(&uri).await.err().unwrap_or_else(|| panic!("{uri} was opened"))
    };
    assert!(is_unknown(store, absent).await);
    let unknown = error(stream_uri(absent, "stdout")).await;
    assert!(matches!(unknown, OpenError::Unknown { digest } if digest == absent), "{unknown:?}");
    let not_named = error(stream_uri(blob, "stdout")).await;
    assert!(matches!(not_named, OpenError::NotNamed { digest } if digest == blob), "{not_named:?}");
    match error(stream_uri(manifest, "stdin")).await {
        OpenError::UnknownStream { stream, declared } => {
            assert_eq!(stream.as_str(), "stdin");
            assert_eq!(declared, ["stdout".parse().expect("a stream name")]);
        }
        other => panic!("{other:?}"),
    }
    let borrowed = store.borrow(absent).await;
    assert!(matches!(borrowed, Err(OpenError::Unknown { .. })), "{borrowed:?}");
}

/// An empty stream is stored, opened and cut like any other.
pub async fn empty_streams_are_artifacts(store: &Store) {
    let guard = publish_named(store, &[("stdout", b""), ("stderr", b"")]).await;
    let reader = open(store, &stream_uri(guard.digests()[0], "stderr")).await;
    assert_eq!((reader.digest(), reader.bytes(), reader.lines()), (Digest::EMPTY, 0, 0));
    assert_eq!(reader.line_start(0).await.expect("a position"), 0);
    let request = PageRequest { offset: 0, limit: None, byte_offset: 0, page_bytes: 100 };
    let page = page(&*reader, &request).await.expect("a page");
    assert_eq!((page.bytes.len(), page.lines, page.total_lines, page.next), (0, 0, 0, None));
}

/// Lines are counted, and begin, where the bytes say.
pub async fn line_starts_are_those_of_the_bytes(store: &Store) {
    let long = long_content();
    for content in [b"".as_slice(), b"a", b"a\n", b"\n", b"\n\n\nx", &long] {
        let _guard = publish(store, &[content]).await;
        let reader = open(store, &ArtifactUri::bare(digest_of(content))).await;
        let newlines = content.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let mut starts: Vec<u64> =
            [0].into_iter().chain(newlines.map(|(at, _)| at as u64 + 1)).collect();
        if starts.last() == Some(&reader.bytes()) {
            starts.pop();
        }
        assert_eq!(reader.lines(), starts.len() as u64);
        let every = starts.len() / 200 + 1;
        for (line, start) in starts.iter().enumerate().step_by(every) {
            assert_eq!(reader.line_start(line as u64).await.expect("a position"), *start);
        }
        for past in [reader.lines(), reader.lines() + 1, u64::MAX] {
            assert_eq!(reader.line_start(past).await.expect("a position"), reader.bytes());
        }
    }
}

/// Pages of any size follow one another without gap or overlap.
pub async fn pages_chain_over_block_borders(store: &Store) {
    let content = long_content();
    let _guard = publish(store, &[&content]).await;
    let reader = open(store, &ArtifactUri::bare(digest_of(&content))).await;
    for (page_bytes, limit) in [(65_536, None), (4_001, None), (300_000, None), (1, Some(1_500))] {
        let mut request = PageRequest { offset: 0, limit, byte_offset: 0, page_bytes };
        let mut chain = Vec::new();
        loop {
            let page = page(&*reader, &request).await.expect("a page");
            chain.extend_from_slice(&page.bytes);
            let Some(next) = page.next else { break };
            (request.offset, request.byte_offset) = (next.offset, next.byte_offset);
        }
        assert!(chain == content, "pages of {page_bytes} bytes are not the artifact");
    }
}
