//! Keeping an output, and reading it back: `cargo run -p artifact-store --example keep_and_page`.
//!
//! All a program needs to keep output on disk, without a runtime: capture, publish, retain, page,
//! release, collect. What is retained is there until it is released; what is released goes with a
//! collection, and whoever still asks for it is told what it was.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use artifact_store::{LocalStore, StoreOptions};
use artifacts::{CaptureMeta, CollectOptions, PageRequest, Publication};
use output_contract::limits::DEFAULT_PAGE_BYTES;
use output_contract::{ArtifactUri, OutputDeclaration, Timestamp};

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = tempfile::tempdir()?;
    let root = camino::Utf8Path::from_path(scratch.path()).expect("a UTF-8 path").join("store");
    let store = LocalStore::open(&root, StoreOptions::default())?;

    // Capture: a locked directory that says what it is of. Should this process die, another one
    // finds it (`CaptureRoot::dead`) and loses nothing.
    let meta = CaptureMeta {
        session_id: "session".parse()?,
        call_id: "call-1".parse()?,
        parent_call_id: None,
        tool: "count".parse()?,
        title: "count to 50000".to_owned(),
        output: OutputDeclaration::Single,
        started_at: Timestamp(1_767_225_600_000),
        timeout_ms: None,
    };
    let capture = store.captures().create(&meta)?;
    let mut writer = capture.stream_writer(0)?;
    for number in 1..=50_000 {
        writer.append(format!("{number}\n").as_bytes())?;
    }
    let sealed = Arc::new(writer.seal()?);
    let uri = ArtifactUri::bare(sealed.digest());

    // Publish: while the guard lives, no collection of any process takes it away. Retain: from
    // here on it stays, whatever happens to this process or to the power.
    let guard = store.publish(&Publication { blobs: vec![sealed], manifest: None })?;
    guard.retain(&meta.session_id, &meta.call_id)?;
    guard.release();
    capture.remove()?;

    // Page: only what a page needs is read, and all of that is verified.
    let artifact = store.open_artifact(&uri)?;
    println!("{} bytes, {} lines", artifact.bytes(), artifact.lines());
    let request = PageRequest {
        offset: 41_000,
        limit: Some(3),
        byte_offset: 0,
        page_bytes: DEFAULT_PAGE_BYTES,
    };
    let page = artifact.page(&request)?;
    print!("{}", String::from_utf8_lossy(&page.bytes));

    // Release, and collect. A program waits for the grace and collects now and then; here, at once.
    let now = CollectOptions { grace: Duration::ZERO, dry_run: false, force: false };
    println!("kept: {}", store.collect(&now)?.live);
    store.release(&meta.session_id, Some(&meta.call_id))?;
    println!("removed: {}", store.collect(&now)?.removed);
    match store.open_artifact(&uri) {
        Ok(_) => Err("it is still there".into()),
        Err(error) => {
            println!("{error}");
            Ok(())
        }
    }
}
