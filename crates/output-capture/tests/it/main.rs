//! Capturing into real files.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::sync::{Arc, Mutex};

use artifacts::Durability;
use artifacts::capture::{CaptureMeta, CaptureRoot};
use camino::Utf8Path;
use output_capture::{CallCapture, CaptureLimits, CapturedCall, DisplayObserver, IgnoreDisplay};
use output_contract::limits::{MAX_CHUNK_BYTES, MAX_LIVE_DISPLAY_BYTES};
use output_contract::{
    Chunk, Delta, DeltaError, Digest, IncompleteReason, OutputDeclaration, StreamName, Timestamp,
};
use output_retention::{Limits, Shape};
use tempfile::TempDir;
use tool_api::{ChannelHandle, OutputHandling, OutputSink, SinkError, StreamingSink};

struct Fixture {
    _dir: TempDir,
    root: CaptureRoot,
    declaration: OutputDeclaration,
}

fn fixture(streams: &[&str]) -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    let path = Utf8Path::from_path(dir.path()).unwrap().join("captures");
    let declaration = match streams {
        [] => OutputDeclaration::Single,
        names => OutputDeclaration::named(names).unwrap(),
    };
    Fixture { _dir: dir, root: CaptureRoot::new(path, Durability::Fast), declaration }
}

impl Fixture {
    fn start(&self, limits: CaptureLimits, observer: Arc<dyn DisplayObserver>) -> CallCapture {
        let meta = CaptureMeta {
            session_id: "s".parse().unwrap(),
            call_id: "c".parse().unwrap(),
            parent_call_id: None,
            tool: "test".parse().unwrap(),
            title: String::new(),
            output: self.declaration.clone(),
            started_at: Timestamp(0),
            timeout_ms: None,
        };
        let preview = Limits::new(2000, 51_200, Shape::Head, self.declaration.channels()).unwrap();
        let capture = self.root.create(&meta);
        CallCapture::start(capture, &self.declaration, limits, preview, observer)
    }

    fn plain(&self) -> CallCapture {
        self.start(CaptureLimits::default(), Arc::new(IgnoreDisplay))
    }
}

fn streaming(capture: &CallCapture) -> StreamingSink {
    OutputSink::new(capture.sink(), OutputHandling::Captured).stream()
}

fn named(name: &str) -> StreamName {
    name.parse().unwrap()
}

/// What is in each stream's file, checked against its digest.
fn stored(captured: &CapturedCall) -> Vec<Vec<u8>> {
    let of = |stream: &output_capture::CapturedStream| {
        let sealed = stream.sealed.as_ref().unwrap();
        let bytes = fs_err::read(sealed.path()).unwrap();
        assert_eq!(sealed.digest(), digest(&bytes));
        assert_eq!(sealed.bytes(), bytes.len() as u64);
        bytes
    };
    captured.streams.iter().map(of).collect()
}

fn digest(bytes: &[u8]) -> Digest {
    let mut hasher = artifacts::hash::ContentHasher::new();
    hasher.update(bytes);
    hasher.finish().facts.digest
}

#[tokio::test]
async fn interleaved_deltas_keep_the_order_of_each_stream() {
    let fixture = fixture(&["results", "diagnostics", "empty"]);
    let capture = fixture.plain();
    let sink = streaming(&capture);
    let mut expected = [Vec::new(), Vec::new(), Vec::new()];
    for number in 0..500 {
        let line = format!("{number} \u{2028}\u{1F600}\r\n");
        let warning = format!("warning {number}\n");
        expected[0].extend_from_slice(line.as_bytes());
        expected[1].extend_from_slice(warning.as_bytes());
        let delta = Delta {
            chunks: vec![
                Chunk::named(named("diagnostics"), warning),
                Chunk::named(named("results"), line),
            ],
            display: Some(format!("{number}\n")),
        };
        sink.send(delta).await.unwrap();
    }
    drop(sink.finish());
    let captured = capture.finish().await;
    assert_eq!(stored(&captured), expected);
    assert!(captured.live_display.starts_with("0\n1\n"), "{}", captured.live_display);
    assert!(!captured.live_display.contains("warning"));
}

#[tokio::test]
async fn full_output_goes_the_same_way() {
    let fixture = fixture(&["a", "b"]);
    let capture = fixture.plain();
    let big = vec![7_u8; 3 * MAX_CHUNK_BYTES + 1];
    capture.feed(vec![big.clone().into(), bytes::Bytes::new()]).await;
    let captured = capture.finish().await;
    assert_eq!(stored(&captured), [big, Vec::new()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn handles_on_many_tasks_lose_nothing() {
    let fixture = fixture(&["a", "b"]);
    let capture = fixture.plain();
    let sink = streaming(&capture);
    let send = |handle: ChannelHandle, byte: u8| async move {
        for _ in 0..40 {
            handle.send(vec![byte; 300_000]).await.unwrap();
        }
    };
    let (a, b) = (sink.channel(Some(&named("a"))), sink.channel(Some(&named("b"))));
    let tasks = [
        tokio::spawn(send(a.as_ref().unwrap().clone(), b'1')),
        tokio::spawn(send(a.unwrap(), b'2')),
        tokio::spawn(send(b.unwrap(), b'3')),
    ];
    for task in tasks {
        task.await.unwrap();
    }
    drop(sink.finish());
    let captured = capture.finish().await;
    let files = stored(&captured);
    let count = |file: &[u8], byte| file.iter().filter(|&&b| b == byte).count();
    assert_eq!(count(&files[0], b'1'), 12_000_000);
    assert_eq!(count(&files[0], b'2'), 12_000_000);
    assert_eq!(files[1], vec![b'3'; 12_000_000]);
}

#[tokio::test]
async fn a_cap_stores_exactly_its_size_and_counts_on() {
    let fixture = fixture(&["a", "b"]);
    let limits = CaptureLimits { max_stream_bytes: 1000, max_call_bytes: 1500 };
    let capture = fixture.start(limits, Arc::new(IgnoreDisplay));
    let sink = streaming(&capture);
    let a = sink.channel(Some(&named("a"))).unwrap();
    let reached = SinkError::SizeLimit { limit: 1000 };
    // The writer says so once it has come there; the producer may be ahead.
    while a.send(vec![b'a'; 33]).await != Err(reached.clone()) {}
    assert_eq!(a.send("more").await, Err(reached));
    drop(sink.finish());
    let captured = capture.finish().await;
    assert_eq!(stored(&captured)[0], vec![b'a'; 1000]);
    let stream = &captured.streams[0];
    assert!(stream.seen_bytes > 1000);
    assert_eq!(stream.incomplete.as_ref().unwrap().reason, IncompleteReason::SizeLimit);
    assert_eq!(captured.streams[1].incomplete, None);
}

#[tokio::test]
async fn the_cap_of_a_call_counts_all_streams() {
    let fixture = fixture(&["a", "b"]);
    let limits = CaptureLimits { max_stream_bytes: 1000, max_call_bytes: 1500 };
    let capture = fixture.start(limits, Arc::new(IgnoreDisplay));
    capture.feed(vec![vec![1; 5000].into(), vec![2; 5000].into()]).await;
    let captured = capture.finish().await;
    let files = stored(&captured);
    assert_eq!(files[0].len() + files[1].len(), 1500);
    for stream in &captured.streams {
        assert_eq!(stream.seen_bytes, 5000);
        assert_eq!(stream.incomplete.as_ref().unwrap().reason, IncompleteReason::SizeLimit);
    }
}

#[tokio::test]
async fn exactly_the_cap_is_complete() {
    let fixture = fixture(&[]);
    let limits = CaptureLimits { max_stream_bytes: 1000, max_call_bytes: 1000 };
    let capture = fixture.start(limits, Arc::new(IgnoreDisplay));
    capture.feed(vec![vec![1; 1000].into()]).await;
    assert_eq!(capture.finish().await.streams[0].incomplete, None);
}

#[tokio::test]
async fn a_late_chunk_is_refused() {
    let fixture = fixture(&[]);
    let capture = fixture.plain();
    let sink = streaming(&capture);
    let handle = sink.channel(None).unwrap();
    handle.send("in time\n").await.unwrap();
    drop(sink.finish());
    assert_eq!(handle.send("late\n").await, Err(SinkError::Finished));
    let captured = capture.finish().await;
    assert_eq!(handle.send("later\n").await, Err(SinkError::Finished));
    assert_eq!(stored(&captured), [b"in time\n"]);
    assert_eq!(captured.streams[0].seen_bytes, 8);
}

#[tokio::test]
async fn a_bad_delta_is_refused_whole() {
    let fixture = fixture(&["a"]);
    let capture = fixture.plain();
    let sink = streaming(&capture);
    let delta = Delta {
        chunks: vec![Chunk::named(named("a"), "x"), Chunk::named(named("b"), "y")],
        display: Some("shown?".to_owned()),
    };
    let error = sink.send(delta).await.unwrap_err();
    assert!(matches!(error, SinkError::Delta(DeltaError::UndeclaredStream { .. })), "{error}");
    drop(sink.finish());
    let captured = capture.finish().await;
    assert_eq!(stored(&captured), [b""]);
    assert_eq!(captured.live_display, "");
}

#[tokio::test]
async fn without_a_capture_the_preview_and_the_count_stay() {
    let fixture = fixture(&[]);
    // A file stands where the directory of captures should be.
    fs_err::write(fixture.root.path(), "").unwrap();
    let capture = fixture.plain();
    let sink = streaming(&capture);
    let handle = sink.channel(None).unwrap();
    // The first may be queued before the writer says that it cannot store.
    let mut sent = 1;
    while !matches!(handle.send("seen\n").await, Err(SinkError::Storage { .. })) {
        sent += 1;
    }
    drop(sink.finish());
    let captured = capture.finish().await;
    let stream = &captured.streams[0];
    assert!(stream.sealed.is_none());
    assert!(captured.capture.is_none());
    assert_eq!(stream.seen_bytes, 5 * sent);
    assert_eq!(stream.preview.total_bytes(), 0);
    assert_eq!(stream.seen_preview.as_ref().unwrap().total_bytes(), 5 * sent);
    assert_eq!(stream.incomplete.as_ref().unwrap().reason, IncompleteReason::StorageError);
}

#[derive(Debug, Default)]
struct Watcher(Mutex<Vec<(u64, String)>>);

impl DisplayObserver for Watcher {
    fn appended(&self, offset: u64, text: &str) {
        self.0.lock().unwrap().push((offset, text.to_owned()));
    }
}

#[tokio::test]
async fn the_live_display_is_bounded_and_safe() {
    let fixture = fixture(&[]);
    let watcher = Arc::new(Watcher::default());
    let capture = fixture.start(CaptureLimits::default(), watcher.clone());
    let sink = streaming(&capture);
    sink.send(Delta::display("\u{1b}[31mred\u{1b}[0m\u{7}\n")).await.unwrap();
    for _ in 0..100 {
        sink.send(Delta::display("x".repeat(1024))).await.unwrap();
    }
    drop(sink.finish());
    let captured = capture.finish().await;
    assert_eq!(captured.live_display.len(), MAX_LIVE_DISPLAY_BYTES);
    let seen = watcher.0.lock().unwrap();
    assert_eq!(seen[0], (0, "red \n".to_owned()));
    let mut offset = 0;
    for (at, text) in &*seen {
        assert_eq!(*at, offset);
        offset += text.len() as u64;
    }
    assert_eq!(offset, 5 + 100 * 1024);
    assert_eq!(stored(&captured), [b""]);
}
