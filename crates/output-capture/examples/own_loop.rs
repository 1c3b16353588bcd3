//! Output capture in an agent that has a loop, tools and a history of its own:
//! `cargo run -p output-capture --example own_loop`.
//!
//! It adds two things to what the agent has: a capture around each tool (`output-capture`), and a
//! place where outputs are kept (`artifact-store`). No runtime, no journal: the agent decides when
//! its own history is safe, and retains what that refers to before it says so.

use std::error::Error;
use std::sync::Arc;

use artifact_store::{AsyncStore, LocalStore, StoreOptions};
use artifacts::{ArtifactStore, CaptureMeta, PageRequest, Publication, page};
use output_capture::{CallCapture, CaptureLimits, IgnoreDisplay};
use output_contract::limits::DEFAULT_PAGE_BYTES;
use output_contract::{ArtifactUri, Chunk, OutputDeclaration, Status, Timestamp};
use output_retention::{Ending, Hints, Limits, Shape, StreamView, render};
use tool_api::SinkBackend;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let scratch = tempfile::tempdir()?;
    let root = camino::Utf8Path::from_path(scratch.path()).expect("a UTF-8 path").join("store");
    let store = AsyncStore::new(LocalStore::open(&root, StoreOptions::default())?);

    // Capture: a locked directory that says what it is of, so that a crash loses nothing.
    let meta = CaptureMeta {
        session_id: "my-session".parse()?,
        call_id: "call-1".parse()?,
        parent_call_id: None,
        tool: "count".parse()?,
        title: "count to 50000".to_owned(),
        output: OutputDeclaration::Single,
        // The agent's clock.
        started_at: Timestamp(1_767_225_600_000),
        timeout_ms: None,
    };
    let limits = Limits::new(8, 4096, Shape::HeadTail, 1)?;
    let capture = CallCapture::start(
        store.captures().create(&meta),
        &meta.output,
        CaptureLimits::default(),
        limits,
        Arc::new(IgnoreDisplay),
    );
    count(&*capture.sink()).await?;

    // Seal: from here on the bytes have a digest.
    let mut call = capture.finish().await;
    let stream = call.streams.remove(0);
    let sealed = stream.sealed.ok_or("the output could not be stored")?;
    let (bytes, uri) = (sealed.bytes(), ArtifactUri::bare(sealed.digest()));

    // Publish: while the guard lives, no collection takes the output away.
    let publication = Publication { blobs: vec![Arc::new(sealed)], manifest: None };
    let guard = store.publish(publication).await?;

    // What the model sees, with a hint that is a call of the agent's own reader.
    let view = StreamView { name: None, preview: &stream.preview, artifact: Some(&uri) };
    let hints = Hints::Tool { read_tool: "open".to_owned() };
    let shown = render(&[view], &limits, &Ending::of(Status::Completed), &hints);
    println!("{}", shown.text);

    // Retain, then save: a history that was saved never refers to what may vanish.
    guard.retain(&meta.session_id, &meta.call_id).await?;
    let history = [shown.text];
    guard.release().await;
    if let Some(capture) = call.capture {
        capture.remove()?;
    }

    // Page back: each page says where the next begins, down to the last byte.
    let reader = store.open(&uri).await?;
    let mut request =
        PageRequest { offset: 0, limit: None, byte_offset: 0, page_bytes: DEFAULT_PAGE_BYTES };
    let (mut pages, mut read) = (0, 0);
    loop {
        let page = page(&*reader, &request).await?;
        (pages, read) = (pages + 1, read + page.bytes.len() as u64);
        let Some(next) = page.next else { break };
        (request.offset, request.byte_offset) = (next.offset, next.byte_offset);
    }
    assert_eq!(read, bytes);
    println!("{read} bytes read back in {pages} pages, {} in the history", history[0].len());

    // When the agent forgets the call, a collection may take the output.
    store.release(&meta.session_id, Some(&meta.call_id)).await?;
    Ok(())
}

/// A tool of the agent: it sends, and waits where the disk is slower than it is.
async fn count(sink: &dyn SinkBackend) -> Result<(), Box<dyn Error>> {
    for number in 1..=50_000 {
        sink.send(Chunk::single(format!("{number}\n")).into()).await?;
    }
    Ok(())
}
