//! The clauses of the seam, in memory and in files.

use std::sync::Arc;

use camino::Utf8Path;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use spill::conformance;

use crate::harness::{Shared, Stored};

#[tokio::test]
async fn in_memory() {
    conformance::all(|| {
        let store: Shared = Arc::new(InMemory::new());
        Stored::new(store.clone(), store, "memory:///spill", "memory:///")
    })
    .await;
}

#[tokio::test]
async fn in_files() {
    let dir = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(dir.path()).unwrap().canonicalize_utf8().unwrap();
    let made = std::cell::Cell::new(0);
    conformance::all(|| {
        made.set(made.get() + 1);
        let root = root.join(made.get().to_string());
        let url = format!("file://{root}/spill");
        Stored::new(
            Arc::new(LocalFileSystem::new()),
            Arc::new(
                LocalFileSystem::new_with_prefix(&root)
                    .or_else(|_| {
                        fs_err::create_dir_all(&root).unwrap();
                        LocalFileSystem::new_with_prefix(&root)
                    })
                    .unwrap(),
            ),
            &url,
            &format!("{root}/"),
        )
    })
    .await;
}
