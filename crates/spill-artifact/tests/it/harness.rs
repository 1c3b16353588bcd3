//! The backend over a store that fails when told to.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use artifact_store::{AsyncStore, LocalStore, StoreOptions};
use artifacts::{ArtifactStore, CollectOptions, Durability, PublishError, RootError};
use async_trait::async_trait;
use camino::Utf8Path;
use output_contract::{ArtifactUri, CallId, Timestamp};
use output_retention::Hints;
use spill::conformance::Harness;
use spill::{SaveText, SpillLocator, SpillOwner, SpillSource, SpillStore};
use spill_artifact::ArtifactSpill;
use testkit::{FaultyStore, MemoryStore};

/// A store under the backend.
#[derive(Debug)]
pub(crate) struct World {
    _dir: Option<tempfile::TempDir>,
    pub(crate) store: Arc<FaultyStore>,
    pub(crate) spill: ArtifactSpill,
    /// What was saved, as far as a test asked for it.
    locators: Mutex<Vec<SpillLocator>>,
}

impl World {
    pub(crate) fn in_memory() -> Self {
        Self::over(None, Arc::new(MemoryStore::new().unwrap()))
    }

    pub(crate) fn on_disk() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap().join("store");
        let options = StoreOptions { durability: Durability::Fast, ..StoreOptions::default() };
        let store = AsyncStore::new(LocalStore::open(&root, options).unwrap());
        Self::over(Some(dir), Arc::new(store))
    }

    fn over(dir: Option<tempfile::TempDir>, store: Arc<dyn ArtifactStore>) -> Self {
        let store = Arc::new(FaultyStore::new(store));
        let hints = Hints::Tool { read_tool: "read".to_owned() };
        let spill = ArtifactSpill::new(store.clone(), &hints, || Timestamp(7));
        Self { _dir: dir, store, spill, locators: Mutex::default() }
    }

    /// All bytes of an artifact; `None` where there is none.
    pub(crate) async fn bytes(&self, locator: &SpillLocator) -> Option<Vec<u8>> {
        let uri: ArtifactUri = locator.as_str().parse().unwrap();
        let reader = self.store.open(&uri).await.ok()?;
        Some(reader.read(0..reader.bytes()).await.unwrap().to_vec())
    }

    /// Removes what nothing keeps.
    pub(crate) async fn collect(&self) {
        let options = CollectOptions { grace: Duration::ZERO, dry_run: false, force: true };
        self.store.collect(options).await.unwrap();
    }

    /// The entries of the directory of captures.
    pub(crate) fn captures(&self) -> usize {
        fs_err::read_dir(self.store.captures().path()).map_or(0, Iterator::count)
    }
}

pub(crate) fn text(session: &str, call: &str, content: &str) -> SaveText {
    SaveText {
        owner: SpillOwner { session: session.parse().unwrap() },
        source: SpillSource {
            tool: "fetch".parse().unwrap(),
            call: CallId::new(call).unwrap(),
            label: "result".to_owned(),
        },
        suggested_name: "fetch.txt".to_owned(),
        content: content.to_owned(),
    }
}

#[async_trait]
impl Harness for World {
    fn store(&self) -> &dyn SpillStore {
        &self.spill
    }

    async fn retrieve(&self, locator: &SpillLocator) -> Option<Vec<u8>> {
        self.locators.lock().unwrap().push(locator.clone());
        self.bytes(locator).await
    }

    async fn kept(&self) -> Vec<Vec<u8>> {
        // What is not retained goes; what is left of it is what was retrieved.
        self.collect().await;
        let mut locators = self.locators.lock().unwrap().clone();
        locators.sort_by(|a, b| a.as_str().cmp(b.as_str()));
        locators.dedup();
        let mut kept = Vec::new();
        for locator in &locators {
            kept.extend(self.bytes(locator).await);
        }
        // Captures of any kind would be something unfinished.
        kept.extend(vec![b"a capture".to_vec(); self.captures()]);
        kept
    }

    fn begin_failing(&self) {
        let (publish, retain) = (self.store.publishes() + 1, self.store.retains() + 1);
        // Four saves: two fail when they publish, and two when they retain.
        self.store.fail_publish(publish..publish + 2, || PublishError::Backend("as told".into()));
        self.store.fail_retain(retain..retain + 2, || RootError::Backend("as told".into()));
    }

    fn end_failing(&self) {}
}
