//! The clauses of the seam.

use std::sync::Arc;

use artifact_store::AsyncStore;
use artifacts::{ArtifactStore, BlockingWork, Durability, conformance};

use crate::scratch::Scratch;

macro_rules! clauses {
    ($($clause:ident),* $(,)?) => {$(
        #[tokio::test]
        async fn $clause() {
            for (durability, work) in [
                (Durability::Durable, BlockingWork::OnThreads),
                (Durability::Fast, BlockingWork::OnThreads),
                (Durability::Fast, BlockingWork::InPlace),
            ] {
                let scratch = Scratch::new();
                let store = AsyncStore::new(scratch.open_with(durability));
                let store = store.with_blocking_work(work);
                let store: Arc<dyn ArtifactStore> = Arc::new(store);
                conformance::$clause(&store).await;
            }
        }
    )*};
}

clauses! {
    a_bare_uri_gives_the_manifest_itself,
    a_guard_protects_while_it_lives,
    borrowing_protects_the_closure,
    empty_streams_are_artifacts,
    errors_are_distinct,
    line_starts_are_those_of_the_bytes,
    manifests_must_name_published_blobs,
    pages_chain_over_block_borders,
    published_bytes_read_back,
    releasing_an_owner_releases_all_its_calls,
    releasing_what_is_not_there_succeeds,
    retained_artifacts_outlive_their_guard,
    retaining_twice_is_one_root,
    the_same_bytes_are_one_artifact,
    what_was_collected_has_expired,
}
