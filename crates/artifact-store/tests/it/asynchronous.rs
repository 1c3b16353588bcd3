//! The asynchronous face.

use std::sync::Arc;
use std::task::{Context, Waker};

use artifact_store::AsyncStore;
use artifacts::{ArtifactStore, RootError};
use output_contract::ArtifactUri;

use crate::scratch::{Scratch, call, collect, owner, seal};

#[tokio::test]
async fn a_dropped_publish_finishes_and_releases() {
    let scratch = Scratch::new();
    let local = scratch.open();
    let store = AsyncStore::new(local.clone());
    let (capture, publication) = seal(&local, &[b"dropped\n"]);
    let digest = publication.blobs[0].digest();
    {
        let mut publishing = store.publish(publication);
        let begun = publishing.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        drop(begun);
    }
    while local.open_artifact(&ArtifactUri::bare(digest)).is_err() {
        tokio::task::yield_now().await;
    }
    capture.remove().unwrap();
    // Once it is released, a collection removes it.
    while local.open_artifact(&ArtifactUri::bare(digest)).is_ok() {
        collect(&local);
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_lost_lease_retains_nothing() {
    let scratch = Scratch::new();
    let local = scratch.open();
    let store: Arc<dyn ArtifactStore> = Arc::new(AsyncStore::new(local.clone()));
    let (_capture, publication) = seal(&local, &[b"x"]);
    let guard = store.publish(publication).await.unwrap();
    for name in scratch.names_in("leases") {
        fs_err::remove_file(scratch.root().join("leases").join(name)).unwrap();
    }
    let refused = guard.retain(&owner("s"), &call("c")).await;
    assert!(matches!(refused, Err(RootError::LeaseLost)), "{refused:?}");
    assert_eq!(local.retained().unwrap(), []);
    // The next guard has a lease again.
    let (_capture, publication) = seal(&local, &[b"x"]);
    let guard = store.publish(publication).await.unwrap();
    guard.retain(&owner("s"), &call("c")).await.unwrap();
}
