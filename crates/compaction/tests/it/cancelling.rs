//! Cancelling while outputs are kept, and dropping instead of cancelling.

use std::sync::Arc;

use async_trait::async_trait;
use compaction::{
    CompactOptions, Compactor, PruneError, PruneOptions, RetainError, Retained, Retainer,
    Unchanged, prune,
};
use output_contract::Digest;
use testkit::{ScriptedSummarizer, SummarizerAnswer};
use tokio_util::sync::CancellationToken;

use crate::sample::{World, result, saved, user};

/// Cancels where it is asked, and never answers.
#[derive(Debug)]
enum Stuck {
    Looking(CancellationToken),
    Storing(CancellationToken),
}

#[async_trait]
impl Retainer for Stuck {
    async fn stored(&self, digests: &[Digest]) -> Result<Vec<bool>, RetainError> {
        match self {
            Self::Looking(cancel) => hang(cancel).await,
            Self::Storing(_) => Ok(vec![true; digests.len()]),
        }
    }

    async fn retain(&self, _parts: Vec<Vec<u8>>) -> Result<Vec<Retained>, RetainError> {
        match self {
            Self::Looking(cancel) | Self::Storing(cancel) => hang(cancel).await,
        }
    }
}

async fn hang<T>(cancel: &CancellationToken) -> T {
    cancel.cancel();
    std::future::pending().await
}

#[tokio::test]
async fn a_store_that_never_answers_is_not_waited_for() {
    let history = [user("go"), result("1", "bash", "output")];
    let before = saved(&history);
    for stuck in [Stuck::Looking, Stuck::Storing] {
        let cancel = CancellationToken::new();
        let retainer = stuck(cancel.clone());
        let pruned = prune(&history, &PruneOptions::default(), &retainer, &cancel).await;
        assert!(matches!(pruned, Err(PruneError::Cancelled)), "{retainer:?}");

        let cancel = CancellationToken::new();
        let summarizer = Arc::new(ScriptedSummarizer::new([SummarizerAnswer::ContextLength]));
        let retainer = Arc::new(stuck(cancel.clone()));
        let compactor = Compactor::new(summarizer, retainer, CompactOptions::default());
        let outcome = compactor.compact(&history, &cancel).await;
        assert!(matches!(outcome, Err(Unchanged::Cancelled)), "{outcome:?}");
    }
    assert_eq!(saved(&history), before);
}

#[tokio::test]
async fn a_dropped_retain_ends_in_the_background_and_leaves_no_capture() {
    let world = World::new();
    let parts = vec![b"kept\n".to_vec(), b"kept\n".to_vec(), b"too".to_vec()];
    let retain = world.retainer.retain(parts.clone());
    // The first poll begins it.
    let first = tokio::select! { biased; done = retain => Some(done), () = async {} => None };
    assert!(first.is_none());
    // The same again waits for nothing of the first, and finds the same.
    let retained = world.retainer.retain(parts).await.unwrap();
    assert_eq!(retained[0], retained[1]);
    assert_eq!((retained[0].lines, retained[2].lines), (1, 1));
    while world.store.retains() < 2 || world.memory.guards() > 0 {
        tokio::task::yield_now().await;
    }
    let roots = world.memory.roots(&crate::sample::session());
    assert_eq!(roots.len(), 1, "one call, however often: {roots:?}");
    assert!(roots.keys().all(|call| call.as_str().starts_with("compaction-")));
}
