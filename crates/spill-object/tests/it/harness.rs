//! A store under test, and a way to make it fail and to see what it was asked.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::TryStreamExt;
use futures_util::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use spill::conformance::Harness;
use spill::{SaveText, SpillLocator, SpillOwner, SpillSource, SpillStore};
use spill_object::ObjectSpill;

pub(crate) type Shared = Arc<dyn ObjectStore>;

/// A backend over a store that is looked at from another side.
#[derive(Debug)]
pub(crate) struct Stored {
    spill: ObjectSpill,
    pub(crate) between: Arc<Between>,
    /// Another client of the same store.
    other: Shared,
    /// What its locators begin with, before the key.
    base: String,
}

impl Stored {
    /// Over `store`, whose objects have keys after `base` in locators.
    pub(crate) fn new(store: Shared, other: Shared, url: &str, base: &str) -> Self {
        let between = Arc::new(Between::new(store));
        let spill = ObjectSpill::over(between.clone(), url).unwrap();
        Self { spill, between, other, base: base.to_owned() }
    }

    pub(crate) fn key(&self, locator: &SpillLocator) -> Path {
        Path::parse(locator.as_str().strip_prefix(&self.base).unwrap()).unwrap()
    }
}

#[async_trait]
impl Harness for Stored {
    fn store(&self) -> &dyn SpillStore {
        &self.spill
    }

    async fn retrieve(&self, locator: &SpillLocator) -> Option<Vec<u8>> {
        let found = self.other.get(&self.key(locator)).await.ok()?;
        Some(found.bytes().await.unwrap().to_vec())
    }

    async fn kept(&self) -> Vec<Vec<u8>> {
        let prefix = self.key(&SpillLocator::new(format!("{}spill", self.base)).unwrap());
        let objects: Vec<ObjectMeta> = self.other.list(Some(&prefix)).try_collect().await.unwrap();
        let mut kept = Vec::new();
        for object in objects {
            let found = self.other.get(&object.location).await.unwrap();
            kept.push(found.bytes().await.unwrap().to_vec());
        }
        kept
    }

    fn begin_failing(&self) {
        self.between.failing.store(true, Ordering::SeqCst);
    }

    fn end_failing(&self) {
        self.between.failing.store(false, Ordering::SeqCst);
    }
}

pub(crate) fn text(session: &str, name: &str, content: &str) -> SaveText {
    SaveText {
        owner: SpillOwner { session: session.parse().unwrap() },
        source: SpillSource {
            tool: "fetch".parse().unwrap(),
            call: "call".parse().unwrap(),
            label: "result".to_owned(),
        },
        suggested_name: name.to_owned(),
        content: content.to_owned(),
    }
}

/// Passes everything on, remembers what was to be put, and refuses it when
/// told.
#[derive(Debug)]
pub(crate) struct Between {
    store: Shared,
    failing: AtomicBool,
    pub(crate) puts: Mutex<Vec<(Path, PutOptions)>>,
    /// How many of the next names are said to be taken.
    pub(crate) taken: Mutex<usize>,
}

impl Between {
    fn new(store: Shared) -> Self {
        Self {
            store,
            failing: AtomicBool::default(),
            puts: Mutex::default(),
            taken: Mutex::default(),
        }
    }
}

impl fmt::Display for Between {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "between and {}", self.store)
    }
}

#[async_trait]
impl ObjectStore for Between {
    async fn put_opts(
        &self,
        to: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.puts.lock().unwrap().push((to.clone(), options.clone()));
        let path = to.to_string();
        if self.failing.load(Ordering::SeqCst) {
            return Err(object_store::Error::PermissionDenied { path, source: "as told".into() });
        }
        {
            let mut taken = self.taken.lock().unwrap();
            if *taken > 0 {
                *taken -= 1;
                return Err(object_store::Error::AlreadyExists { path, source: "as told".into() });
            }
        }
        self.store.put_opts(to, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        to: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.store.put_multipart_opts(to, options).await
    }

    async fn get_opts(&self, from: &Path, options: GetOptions) -> Result<GetResult> {
        self.store.get_opts(from, options).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.store.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.store.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.store.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.store.copy_opts(from, to, options).await
    }
}
