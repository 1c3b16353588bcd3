//! Verified pages: what they cost by the size of the artifact, and against `sed`.

use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, ensure};
use artifact_store::{LocalStore, StoreOptions};
use artifacts::{CaptureMeta, Durability, PageRequest, Publication};
use camino::Utf8Path;
use output_contract::limits::DEFAULT_PAGE_BYTES;
use output_contract::{ArtifactUri, OutputDeclaration, Timestamp};

use crate::process;
use crate::scratch::{Lines, MIB, Scratch, quiet};
use crate::statistics::{Sample, ratio, verdict};

const OFFSETS: usize = 200;
const PAGE_LINES: u64 = 200;
const SMALL_MIB: u64 = 10;

pub(crate) fn run(scratch: &Scratch, mib: u64, runs: usize) -> Result<()> {
    println!("pages: {PAGE_LINES} lines at {OFFSETS} random places, each opened anew");
    let home = scratch.home("home", "fast")?;
    let options = StoreOptions { durability: Durability::Fast, ..StoreOptions::default() };
    let store = LocalStore::open(&home.dir.join("store"), options)?;
    let small = publish(&store, SMALL_MIB)?;
    let large = publish(&store, mib)?;
    let lines = [store.open_artifact(&small)?.lines(), store.open_artifact(&large)?.lines()];
    let [mut of_small, mut of_large]: [Sample; 2] = Default::default();
    let mut state = 88_172_645_463_325_252_u64;
    for round in 0..OFFSETS + OFFSETS / 10 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let times = [
            page(&store, &small, state % (lines[0] - PAGE_LINES))?,
            page(&store, &large, state % (lines[1] - PAGE_LINES))?,
        ];
        if round >= OFFSETS / 10 {
            of_small.push(times[0]);
            of_large.push(times[1]);
        }
    }
    println!(
        "  p50 of {SMALL_MIB} MiB {:.1} µs, of {mib} MiB {:.1} µs",
        of_small.median() * 1e6,
        of_large.median() * 1e6
    );
    verdict("p50 of the large / of the small", of_large.median() / of_small.median(), 1.5, "");

    let file = scratch.text_file("text", mib)?;
    let middle = lines[1] / 2;
    let [mut ours, mut sed]: [Sample; 2] = Default::default();
    for run in 0..=runs {
        let mut read = home.overspill()?;
        read.args(["read", &large.to_string()]);
        read.args(["--offset", &middle.to_string(), "--limit", &PAGE_LINES.to_string()]);
        let costs = [process::run(&mut read)?.wall, sed_page(&file, middle)?];
        if run > 0 {
            ours.push_seconds(costs[0]);
            sed.push_seconds(costs[1]);
        }
    }
    println!(
        "  whole program at the middle: {:.2} ms; sed: {:.1} ms",
        ours.median() * 1e3,
        sed.median() * 1e3
    );
    verdict("overspill read / sed -n", ratio(&ours, &sed), 0.01, "");
    Ok(())
}

fn publish(store: &LocalStore, mib: u64) -> Result<ArtifactUri> {
    let capture = store.captures().create(&CaptureMeta {
        session_id: "bench".parse()?,
        call_id: format!("text-{mib}").parse()?,
        parent_call_id: None,
        tool: "bench".parse()?,
        title: String::new(),
        output: OutputDeclaration::Single,
        started_at: Timestamp(0),
        timeout_ms: None,
    })?;
    let mut writer = capture.stream_writer(0)?;
    let mut lines = Lines::default();
    for _ in 0..mib {
        writer.append(&lines.bytes(MIB as usize))?;
    }
    let sealed = Arc::new(writer.seal()?);
    let digest = sealed.digest();
    let guard = store.publish(&Publication { blobs: vec![sealed], manifest: None })?;
    guard.retain(&"bench".parse()?, &format!("text-{mib}").parse()?)?;
    guard.release();
    capture.remove()?;
    Ok(ArtifactUri { digest, stream: None })
}

/// Opens, cuts one page, and says how many seconds that took.
fn page(store: &LocalStore, uri: &ArtifactUri, offset: u64) -> Result<f64> {
    let request = PageRequest {
        offset,
        limit: Some(PAGE_LINES),
        byte_offset: 0,
        page_bytes: DEFAULT_PAGE_BYTES,
    };
    let start = Instant::now();
    let page = store.open_artifact(uri)?.page(&request)?;
    let took = start.elapsed();
    ensure!(page.lines == PAGE_LINES, "a page of {} lines", page.lines);
    Ok(took.as_secs_f64())
}

fn sed_page(file: &Utf8Path, middle: u64) -> Result<std::time::Duration> {
    let (first, last) = (middle + 1, middle + PAGE_LINES);
    let script = format!("{first},{last}{{p}};{last}q");
    let mut command = Command::new("sed");
    Ok(process::run(quiet(command.args(["-n", &script, file.as_str()])))?.wall)
}
