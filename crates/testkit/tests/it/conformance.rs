//! The clauses of the artifact seam, for the backend and for the wrapper.

use std::sync::Arc;

use artifacts::conformance;
use testkit::{FaultyStore, MemoryStore};

#[tokio::test]
async fn the_store_in_memory_keeps_every_clause() {
    conformance::all(|| Arc::new(MemoryStore::new().unwrap())).await;
}

#[tokio::test]
async fn a_wrapper_without_faults_keeps_every_clause() {
    conformance::all(|| Arc::new(FaultyStore::new(Arc::new(MemoryStore::new().unwrap())))).await;
}
