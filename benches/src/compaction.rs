//! Pruning a long history: time by the number of items, and memory by what comes out.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, ensure};
use artifact_store::{AsyncStore, LocalStore, StoreOptions};
use artifacts::{Durability, Publication, SealedCapture};
use compaction::{PruneOptions, StoreRetainer, prune};
use output_contract::{
    ArtifactUri, CallId, Content, Fields, HistoryItem, OutputKind, ResultOutput, Status,
    StreamRecord, Timestamp, ToolName, ToolResult,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::process;
use crate::scratch::{Lines, MIB, Scratch};
use crate::statistics::{Sample, verdict};

const ITEMS: usize = 100_000;
const OUTPUTS_MIB: u64 = 500;
/// A preview of what a model was shown of each output.
const SHOWN_BYTES: usize = 2048;
/// Outputs that are published together: each is an open file until then.
const BATCH: usize = 64;

pub(crate) fn run(scratch: &Scratch, runs: usize) -> Result<()> {
    println!("compaction: {ITEMS} items with {OUTPUTS_MIB} MiB of stored outputs, {runs} runs");
    let options = StoreOptions { durability: Durability::Fast, ..StoreOptions::default() };
    let store = LocalStore::open(&scratch.path("store"), options)?;
    let items = history(&store)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let pruned = |items: &[Arc<HistoryItem>]| {
        let store = Arc::new(AsyncStore::new(store.clone()));
        let retainer = StoreRetainer::new(store, "bench".parse()?);
        let (options, cancel) = (PruneOptions::default(), CancellationToken::new());
        let begun = Instant::now();
        let pruned = runtime.block_on(prune(items, &options, &retainer, &cancel))?;
        Ok::<_, anyhow::Error>((begun.elapsed(), pruned))
    };

    // Before anything else has taken memory that is free again.
    let before = process::reset_own_peak()?;
    let (_, whole) = pruned(&items)?;
    let more = (process::own_peak_kib()? - before) as f64 / 1024.0;
    let report = whole.report;
    ensure!(report.references == ITEMS as u64 / 2 && report.expired == 0, "{report:?}");
    let size = report.after.bytes as f64 / MIB as f64;
    println!("  pruned to {size:.1} MiB from {:.1} MiB", report.before.bytes as f64 / MIB as f64);
    drop(whole);

    let [mut all, mut tenth]: [Sample; 2] = Default::default();
    for run in 0..=runs {
        let times = [pruned(&items)?.0, pruned(&items[..ITEMS / 10])?.0];
        if run > 0 {
            all.push_seconds(times[0]);
            tenth.push_seconds(times[1]);
        }
    }
    println!("  {ITEMS} items {:.0} ms", all.median() * 1e3);
    verdict("ten times the items / the items", all.median() / tenth.median(), 12.0, "");
    verdict("peak memory / size of the pruned copy", more / size, 2.0, "");
    Ok(())
}

/// Calls and their results, each of an output of its own.
fn history(store: &LocalStore) -> Result<Vec<Arc<HistoryItem>>> {
    let results = ITEMS / 2;
    let bytes = (OUTPUTS_MIB * MIB) as usize / results;
    let mut lines = Lines::default();
    let mut items = Vec::with_capacity(ITEMS);
    let mut numbers = (0..results).peekable();
    while numbers.peek().is_some() {
        let capture = store.captures().scratch()?;
        let mut shown = Vec::with_capacity(BATCH);
        let mut blobs = Vec::with_capacity(BATCH);
        for number in numbers.by_ref().take(BATCH) {
            let output = lines.bytes(bytes);
            let mut writer = capture.stream_writer(number)?;
            writer.append(&output)?;
            blobs.push(Arc::new(writer.seal()?));
            shown.push(String::from_utf8(output[..SHOWN_BYTES.min(bytes)].to_vec())?);
        }
        let records: Vec<_> = blobs.iter().map(|blob| record(blob)).collect();
        let guard = store.publish(&Publication { blobs, manifest: None })?;
        guard.retain(&"bench".parse()?, &format!("batch-{}", items.len()).parse()?)?;
        guard.release();
        capture.remove()?;
        for (record, shown) in records.into_iter().zip(shown) {
            items.extend(call(items.len(), record, shown)?.map(Arc::new));
        }
    }
    ensure!(items.len() == ITEMS, "{} items", items.len());
    Ok(items)
}

fn record(blob: &SealedCapture) -> StreamRecord {
    StreamRecord {
        name: None,
        artifact: Some(ArtifactUri::bare(blob.digest())),
        sha256: Some(blob.digest()),
        bytes: blob.bytes(),
        lines: blob.lines(),
        seen_bytes: Some(blob.bytes()),
        shown_bytes: SHOWN_BYTES as u64,
        truncated: true,
        next_offset: Some(0),
        next_byte_offset: Some(SHOWN_BYTES as u64),
        incomplete: None,
        binary: false,
    }
}

/// A call and its result.
fn call(number: usize, record: StreamRecord, shown: String) -> Result<[HistoryItem; 2]> {
    let call_id: CallId = format!("call-{number}").parse()?;
    let tool: ToolName = "bash".parse()?;
    let arguments = json!({ "command": format!("cargo test -p artifacts -- case_{number}") });
    let result = ToolResult {
        session_id: "bench".parse()?,
        call_id: call_id.clone(),
        parent_call_id: None,
        tool: tool.clone(),
        status: Status::Completed,
        exit: None,
        timeout_ms: None,
        incomplete: None,
        output: ResultOutput { kind: OutputKind::Single, manifest: None, streams: vec![record] },
        content: vec![Content::text(shown)],
        structured: None,
        display: String::new(),
        title: "cargo test".to_owned(),
        started_at: Timestamp(0),
        duration_ms: 1,
        metadata: Fields::new(),
        emitted: Vec::new(),
    };
    Ok([
        HistoryItem::ToolCall { call_id, tool, arguments },
        HistoryItem::ToolResult(Box::new(result)),
    ])
}
