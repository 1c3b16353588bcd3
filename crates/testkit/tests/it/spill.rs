//! The clauses of the spill seam, for the backend and for the wrapper.

use std::sync::Arc;
use std::task::Poll;

use ::spill::conformance::{self, Harness};
use ::spill::{SaveText, SpillError, SpillLocator, SpillOwner, SpillSource, SpillStore};
use async_trait::async_trait;
use testkit::{FaultySpill, MemorySpill};

/// A store in memory behind one that fails between two calls.
#[derive(Debug)]
struct Memory {
    inner: Arc<MemorySpill>,
    store: FaultySpill,
}

impl Memory {
    fn new() -> Self {
        let inner = Arc::new(MemorySpill::new());
        Self { store: FaultySpill::new(inner.clone()), inner }
    }
}

#[async_trait]
impl Harness for Memory {
    fn store(&self) -> &dyn SpillStore {
        &self.store
    }

    async fn retrieve(&self, locator: &SpillLocator) -> Option<Vec<u8>> {
        self.inner.get(locator).map(|text| text.content.into_bytes())
    }

    async fn kept(&self) -> Vec<Vec<u8>> {
        self.inner.saved().into_iter().map(|text| text.content.into_bytes()).collect()
    }

    fn begin_failing(&self) {
        // The clause makes four saves meanwhile.
        let next = self.store.saves() + 1;
        self.store.fail_saves(next..next + 4, || SpillError::Backend("as told".into()));
    }

    fn end_failing(&self) {}
}

#[tokio::test]
async fn the_store_in_memory_keeps_every_clause() {
    conformance::all(Memory::new).await;
}

#[tokio::test]
async fn held_saves_wait_until_they_are_released() {
    let memory = Memory::new();
    let held = memory.store.hold_saves(1..=1);
    let text = SaveText {
        owner: SpillOwner { session: "s".parse().unwrap() },
        source: SpillSource {
            tool: "t".parse().unwrap(),
            call: "c".parse().unwrap(),
            label: String::new(),
        },
        suggested_name: "a.txt".to_owned(),
        content: "text".to_owned(),
    };
    let mut saving = memory.store.save_text(text.clone());
    let ready = std::future::poll_fn(|cx| Poll::Ready(saving.as_mut().poll(cx).is_ready())).await;
    assert!(!ready && memory.inner.saved().is_empty());
    memory.store.save_text(text.clone()).await.unwrap();
    held.release();
    let saved = saving.await.unwrap();
    assert_eq!(saved.locator.as_str(), "memory:0000001/a.txt");
    assert_eq!(memory.inner.saved(), [text.clone(), text]);
}
