//! The asynchronous face.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use artifact_store::AsyncStore;
use artifacts::{ArtifactStore, BlockingWork, RootError};
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

/// There is no executor here, so that nothing can be handed to it.
#[test]
fn in_place_all_is_done_at_once() {
    fn done<T>(future: impl Future<Output = T>) -> T {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => done,
            Poll::Pending => panic!("it waits for someone"),
        }
    }
    let scratch = Scratch::new();
    let local = scratch.open();
    let store = AsyncStore::new(local.clone()).with_blocking_work(BlockingWork::InPlace);
    let (capture, publication) = seal(&local, &[b"one\ntwo\n"]);
    let uri = ArtifactUri::bare(publication.blobs[0].digest());
    let guard = done(store.publish(publication)).unwrap();
    done(guard.retain(&owner("s"), &call("c"))).unwrap();
    done(guard.release());
    capture.remove().unwrap();
    let reader = done(store.open(&uri)).unwrap();
    let line = done(reader.line_start(1)).unwrap();
    assert_eq!(done(reader.read(line..8)).unwrap(), "two\n");
    done(store.release(&owner("s"), None)).unwrap();
    assert_eq!(local.retained().unwrap(), []);
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
