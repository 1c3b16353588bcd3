//! The store in memory.

use std::time::Duration;

use artifacts::{
    ArtifactStore, CollectOptions, CollectReport, OpenError, PageRequest, Publication,
    PublishError, ReadError, RootError, hash, page,
};
use output_contract::{ArtifactUri, CallId, Digest, SessionId};
use proptest::prelude::*;
use testkit::MemoryStore;

use crate::publish::{capture, manifest, publish};

fn owner() -> SessionId {
    "s".parse().unwrap()
}

fn call(name: &str) -> CallId {
    name.parse().unwrap()
}

fn stream(digest: Digest, name: &str) -> ArtifactUri {
    ArtifactUri::stream(digest, name.parse().unwrap())
}

async fn collect(store: &MemoryStore) -> CollectReport {
    store
        .collect(CollectOptions { grace: Duration::ZERO, dry_run: false, force: false })
        .await
        .unwrap()
}

#[tokio::test]
async fn what_is_published_can_be_opened_and_is_exact() {
    let store = MemoryStore::new().unwrap();
    let guard = publish(&store, &[("out", b"a\xff\nb"), ("err", b"")]).await.unwrap();
    let [manifest, out, err] = *guard.digests() else { panic!("{:?}", guard.digests()) };
    assert_eq!((out, err), (hash::digest_of(b"a\xff\nb"), Digest::EMPTY));

    let reader = store.open(&stream(manifest, "out")).await.unwrap();
    assert_eq!((reader.digest(), reader.bytes(), reader.lines()), (out, 4, 2));
    assert_eq!(reader.read(1..4).await.unwrap(), &b"\xff\nb"[..]);
    assert!(matches!(reader.read(1..5).await, Err(ReadError::OutOfRange { bytes: 4, .. })));
    assert_eq!(reader.line_start(1).await.unwrap(), 3);
    assert_eq!(reader.line_start(2).await.unwrap(), 4);
    assert_eq!(reader.line_start(u64::MAX).await.unwrap(), 4);
    let empty = store.open(&stream(manifest, "err")).await.unwrap();
    assert_eq!((empty.bytes(), empty.lines()), (0, 0));

    let json = store.open(&ArtifactUri::bare(manifest)).await.unwrap();
    let json = json.read(0..json.bytes()).await.unwrap();
    assert_eq!(hash::digest_of(&json), manifest);
}

#[tokio::test]
async fn addresses_that_lead_nowhere_are_told_apart() {
    let store = MemoryStore::new().unwrap();
    let guard = publish(&store, &[("out", b"x")]).await.unwrap();
    let [manifest, out] = *guard.digests() else { panic!("{:?}", guard.digests()) };
    let nowhere = Digest::from_bytes([9; 32]);
    let open = async |uri: ArtifactUri| store.open(&uri).await.unwrap_err();
    assert!(matches!(open(ArtifactUri::bare(nowhere)).await, OpenError::Unknown { .. }));
    assert!(matches!(open(stream(nowhere, "out")).await, OpenError::Unknown { .. }));
    assert!(matches!(open(stream(out, "out")).await, OpenError::NotNamed { .. }));
    let OpenError::UnknownStream { declared, .. } = open(stream(manifest, "err")).await else {
        panic!("another error")
    };
    assert_eq!(declared, ["out".parse().unwrap()]);

    assert!(store.corrupt(out));
    assert!(matches!(open(stream(manifest, "out")).await, OpenError::Corrupt { .. }));
    assert!(matches!(store.borrow(manifest).await, Err(OpenError::Corrupt { .. })));
    drop(publish(&store, &[("out", b"x")]).await.unwrap());
    store.open(&stream(manifest, "out")).await.unwrap();
}

#[tokio::test]
async fn output_that_looks_like_a_manifest_is_none() {
    let store = MemoryStore::new().unwrap();
    let (_capture, sealed) = capture(&store, &[b"x"]);
    let json = manifest(&["out"], &sealed).encode();
    let guard = publish(&store, &[("printed", &json)]).await.unwrap();
    let printed = guard.digests()[1];
    assert!(matches!(store.open(&stream(printed, "out")).await, Err(OpenError::NotNamed { .. })));
}

#[tokio::test]
async fn guards_and_roots_keep_and_nothing_else_does() {
    let store = MemoryStore::new().unwrap();
    let guard = publish(&store, &[("out", b"kept"), ("err", b"")]).await.unwrap();
    let manifest = guard.digests()[0];
    drop(publish(&store, &[("out", b"forgotten")]).await.unwrap());

    let report = collect(&store).await;
    assert_eq!((report.live, report.removed), (3, 2));
    guard.retain(&owner(), &call("1")).await.unwrap();
    guard.retain(&owner(), &call("1")).await.unwrap();
    guard.release().await;
    assert_eq!((collect(&store).await.live, store.guards()), (3, 0));
    assert_eq!(store.roots(&owner())[&call("1")].len(), 3);

    let borrowed = store.borrow(manifest).await.unwrap();
    assert_eq!(borrowed.digests().len(), 3);
    store.release(&owner(), Some(&call("1"))).await.unwrap();
    store.release(&owner(), Some(&call("1"))).await.unwrap();
    store.release(&"nobody".parse().unwrap(), None).await.unwrap();
    assert_eq!(collect(&store).await.live, 3);
    borrowed.retain(&owner(), &call("2")).await.unwrap();
    drop(borrowed);
    assert_eq!(collect(&store).await.live, 3);

    store.release(&owner(), None).await.unwrap();
    let dry = CollectOptions { grace: Duration::ZERO, dry_run: true, force: false };
    let young = CollectOptions { grace: Duration::from_secs(3600), dry_run: false, force: false };
    assert_eq!(store.collect(dry).await.unwrap().removed, 3);
    assert_eq!(store.collect(young).await.unwrap().young, 3);
    assert_eq!(collect(&store).await.removed, 3);
    assert!(store.is_empty());
}

#[tokio::test]
async fn a_lost_lease_retains_nothing() {
    let store = MemoryStore::new().unwrap();
    let guard = publish(&store, &[("out", b"x")]).await.unwrap();
    store.lose_leases();
    assert!(matches!(guard.retain(&owner(), &call("1")).await, Err(RootError::LeaseLost)));
    assert!(store.roots(&owner()).is_empty());
    assert_eq!(collect(&store).await.removed, 2);
}

#[tokio::test]
async fn only_whole_publications_are_taken() {
    let store = MemoryStore::new().unwrap();
    let other = MemoryStore::new().unwrap();
    let (_foreign, blobs) = capture(&other, &[b"x"]);
    let publication = Publication { blobs, manifest: None };
    assert!(matches!(store.publish(publication).await, Err(PublishError::ForeignCapture { .. })));

    let (_capture, mut blobs) = capture(&store, &[b"x", b"y"]);
    let manifest = Some(manifest(&["out", "err"], &blobs));
    blobs.pop();
    assert!(matches!(
        store.publish(Publication { blobs: blobs.clone(), manifest }).await,
        Err(PublishError::StreamNotPublished { .. })
    ));

    let path = blobs[0].path().to_owned();
    fs_err::rename(&path, path.with_extension("old")).unwrap();
    fs_err::write(&path, "x").unwrap();
    assert!(matches!(
        store.publish(Publication { blobs: blobs.clone(), manifest: None }).await,
        Err(PublishError::CaptureChanged { .. })
    ));
    fs_err::remove_file(&path).unwrap();
    let gone = store.publish(Publication { blobs, manifest: None }).await.unwrap_err();
    assert!(
        matches!(&gone, PublishError::File(error) if error.kind() == std::io::ErrorKind::NotFound),
        "{gone}"
    );
    assert!(store.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..<_>::default() })]

    #[test]
    fn pages_add_up_to_the_artifact(
        content in prop::collection::vec(prop::sample::select(b"ab\n\r\xff".as_slice()), 0..200),
        page_bytes in 4..40_u64,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let store = MemoryStore::new().unwrap();
            let guard = publish(&store, &[("out", &content)]).await.unwrap();
            let reader = store.open(&stream(guard.digests()[0], "out")).await.unwrap();
            let (mut read, mut offset, mut byte_offset) = (Vec::new(), 0, 0);
            loop {
                let request = PageRequest { offset, limit: None, byte_offset, page_bytes };
                let page = page(&*reader, &request).await.unwrap();
                read.extend_from_slice(&page.bytes);
                let Some(next) = page.next else { break };
                (offset, byte_offset) = (next.offset, next.byte_offset);
            }
            prop_assert_eq!(read, content);
            Ok(())
        })?;
    }
}
