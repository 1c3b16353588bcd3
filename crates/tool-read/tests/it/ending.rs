//! How calls end early.

use std::sync::Arc;

use artifacts::{
    ArtifactReader, ArtifactStore, Capabilities, CaptureRoot, CollectError, CollectOptions,
    CollectReport, Guard, OpenError, Publication, PublishError, RootError,
};
use async_trait::async_trait;
use output_contract::{ArtifactUri, CallId, Digest, SessionId, Status};
use serde_json::json;
use tool_api::CancellationToken;
use tool_read::ReadConfig;

use crate::calling::{Answer, Reader, execute, scratch};
use crate::store::MemoryStore;

/// A store that cancels the call that opens something, and never answers it.
#[derive(Debug)]
struct Stuck {
    store: MemoryStore,
    cancel: CancellationToken,
}

#[async_trait]
impl ArtifactStore for Stuck {
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn captures(&self) -> &CaptureRoot {
        self.store.captures()
    }

    async fn publish(&self, publication: Publication) -> Result<Box<dyn Guard>, PublishError> {
        self.store.publish(publication).await
    }

    async fn borrow(&self, digest: Digest) -> Result<Box<dyn Guard>, OpenError> {
        self.store.borrow(digest).await
    }

    async fn open(&self, _uri: &ArtifactUri) -> Result<Arc<dyn ArtifactReader>, OpenError> {
        self.cancel.cancel();
        std::future::pending().await
    }

    async fn release(&self, owner: &SessionId, call: Option<&CallId>) -> Result<(), RootError> {
        self.store.release(owner, call).await
    }

    async fn collect(&self, options: CollectOptions) -> Result<CollectReport, CollectError> {
        self.store.collect(options).await
    }
}

fn assert_cancelled(answer: &Answer) {
    assert_eq!(answer.status, Status::Cancelled);
    assert_eq!(answer.blocks, [""; 0]);
    assert!(answer.metadata.is_empty());
}

#[tokio::test]
async fn a_store_that_never_answers_can_be_cancelled() {
    let cancel = CancellationToken::new();
    let stuck = Stuck { store: MemoryStore::new(), cancel: cancel.clone() };
    let reader = Reader::over(Arc::new(stuck), ReadConfig::new("/w"));
    let uri = format!("artifact://{}", Digest::EMPTY);
    let call = reader.prepare(json!({"filePath": uri})).await.unwrap();
    assert_cancelled(&execute(call, cancel).await);
}

#[tokio::test]
async fn a_cancelled_call_reads_nothing() {
    let (_guard, cwd) = scratch();
    fs_err::write(cwd.join("file"), "x").unwrap();
    let store = Arc::new(MemoryStore::new());
    let reader = Reader::over(store.clone(), ReadConfig::new(&cwd));
    let cancel = CancellationToken::new();
    cancel.cancel();
    let uri = format!("artifact://{}", Digest::EMPTY);
    for file_path in ["file", &uri] {
        let call = reader.prepare(json!({"filePath": file_path})).await.unwrap();
        assert_cancelled(&execute(call, cancel.clone()).await);
    }
    assert_eq!(store.opened(), 0);
}
