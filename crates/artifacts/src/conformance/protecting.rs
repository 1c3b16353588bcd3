//! What is protected stays; what is not can be collected.

use output_contract::ArtifactUri;

use super::making::{
    Store, call, collect, is_unknown, owner, publish, publish_named, read, stream_uri,
};
use crate::error::OpenError;
use crate::hash::digest_of;

/// A live guard keeps its artifacts through a collection; a dropped or
/// released one does not.
pub async fn a_guard_protects_while_it_lives(store: &Store) {
    let guard = publish_named(store, &[("out", b"guarded\n")]).await;
    let digests = guard.digests().to_vec();
    collect(store).await;
    assert_eq!(read(store, &stream_uri(digests[0], "out")).await, b"guarded\n");
    drop(guard);
    let report = collect(store).await;
    assert_eq!(report.removed, 2, "{report:?}");
    for digest in digests {
        assert!(is_unknown(store, digest).await);
    }

    let guard = publish(store, &[b"released\n"]).await;
    let digest = guard.digests()[0];
    guard.release().await;
    collect(store).await;
    assert!(is_unknown(store, digest).await);
}

/// What was retained stays until its call is released.
pub async fn retained_artifacts_outlive_their_guard(store: &Store) {
    let guard = publish_named(store, &[("out", b"kept\n"), ("err", b"")]).await;
    let digests = guard.digests().to_vec();
    guard.retain(&owner("s"), &call("c")).await.expect("it can be retained");
    guard.release().await;
    for _ in 0..2 {
        let report = collect(store).await;
        assert_eq!((report.live, report.removed), (3, 0), "{report:?}");
    }
    assert_eq!(read(store, &stream_uri(digests[0], "out")).await, b"kept\n");
    store.release(&owner("s"), Some(&call("c"))).await.expect("it can be released");
    let report = collect(store).await;
    assert_eq!((report.live, report.removed), (0, 3), "{report:?}");
    for digest in digests {
        assert!(is_unknown(store, digest).await);
    }
}

/// Retaining a call again changes nothing: one release suffices. Another
/// owner's root of the same artifact is its own.
pub async fn retaining_twice_is_one_root(store: &Store) {
    let guard = publish(store, &[b"twice\n"]).await;
    let digest = guard.digests()[0];
    for (session, id) in [("s", "c"), ("s", "c"), ("t", "c")] {
        guard.retain(&owner(session), &call(id)).await.expect("it can be retained");
    }
    guard.release().await;
    store.release(&owner("s"), Some(&call("c"))).await.expect("it can be released");
    collect(store).await;
    assert!(!is_unknown(store, digest).await);
    store.release(&owner("t"), Some(&call("c"))).await.expect("it can be released");
    collect(store).await;
    assert!(is_unknown(store, digest).await);
}

/// Releasing an owner releases its calls and no one else's.
pub async fn releasing_an_owner_releases_all_its_calls(store: &Store) {
    for (session, id, content) in [("s", "1", b"one\n"), ("s", "2", b"two\n"), ("t", "1", b"3rd\n")]
    {
        let guard = publish(store, &[content]).await;
        guard.retain(&owner(session), &call(id)).await.expect("it can be retained");
        guard.release().await;
    }
    store.release(&owner("s"), None).await.expect("it can be released");
    let report = collect(store).await;
    assert_eq!((report.live, report.removed), (1, 2), "{report:?}");
    assert!(!is_unknown(store, digest_of(b"3rd\n")).await);
}

/// Releasing an unknown owner or call succeeds.
pub async fn releasing_what_is_not_there_succeeds(store: &Store) {
    store.release(&owner("nobody"), None).await.expect("nothing to do");
    store.release(&owner("nobody"), Some(&call("c"))).await.expect("nothing to do");
    let guard = publish(store, &[b"x"]).await;
    guard.retain(&owner("s"), &call("c")).await.expect("it can be retained");
    store.release(&owner("s"), Some(&call("other"))).await.expect("nothing to do");
    guard.release().await;
    collect(store).await;
    assert!(!is_unknown(store, digest_of(b"x")).await);
}

/// What a collection removed is expired, where the store remembers it, and
/// unknown where it does not; the same bytes published again are there again.
pub async fn what_was_collected_has_expired(store: &Store) {
    let publish = || publish_named(store, &[("out", b"expires\n")]);
    let guard = publish().await;
    let digests = guard.digests().to_vec();
    guard.retain(&owner("s"), &call("c")).await.expect("it can be retained");
    guard.release().await;
    store.release(&owner("s"), None).await.expect("it can be released");
    collect(store).await;
    let expired = |error: OpenError, digest| match error {
        OpenError::Unknown { digest: found } => {
            assert_eq!((found, store.capabilities().tombstones), (digest, false));
        }
        OpenError::Expired { digest: found, bytes, what, .. } => {
            assert_eq!((found, store.capabilities().tombstones), (digest, true));
            assert!(bytes > 0 && !what.is_empty(), "{bytes} {what}");
        }
        other => panic!("neither unknown nor expired: {other:?}"),
    };
    for digest in digests.clone() {
        let opened = store.open(&ArtifactUri::bare(digest)).await;
        expired(opened.expect_err("it was collected"), digest);
        expired(store.borrow(digest).await.expect_err("it was collected"), digest);
    }
    let opened = store.open(&stream_uri(digests[0], "out")).await;
    expired(opened.expect_err("it was collected"), digests[0]);
    let _guard = publish().await;
    assert_eq!(read(store, &stream_uri(digests[0], "out")).await, b"expires\n");
}

/// Borrowing a manifest protects its streams, and can be retained.
pub async fn borrowing_protects_the_closure(store: &Store) {
    let guard = publish_named(store, &[("out", b"borrowed\n")]).await;
    let digests = guard.digests().to_vec();
    let borrowed = store.borrow(digests[0]).await.expect("it can be borrowed");
    assert_eq!(borrowed.digests(), digests);
    guard.release().await;
    collect(store).await;
    assert_eq!(read(store, &stream_uri(digests[0], "out")).await, b"borrowed\n");
    borrowed.retain(&owner("fork"), &call("c")).await.expect("it can be retained");
    drop(borrowed);
    collect(store).await;
    assert_eq!(read(store, &stream_uri(digests[0], "out")).await, b"borrowed\n");

    let blob = store.borrow(digests[1]).await.expect("it can be borrowed");
    assert_eq!(blob.digests(), [digests[1]]);
    store.release(&owner("fork"), None).await.expect("it can be released");
    collect(store).await;
    assert!(is_unknown(store, digests[0]).await);
    assert!(!is_unknown(store, digests[1]).await);
}
