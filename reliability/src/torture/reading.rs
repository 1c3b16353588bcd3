//! Reading back what a call retains, byte by byte.

use anyhow::{Context, Result, bail, ensure};
use artifact_store::{LocalStore, StoredArtifact};
use artifacts::PageRequest;
use output_contract::{ArtifactUri, Digest};
use reliability::Random;

use crate::content::{Output, stream_name};
use crate::oracle::{Call, Oracle};

/// Opens all of `output` and compares it with what it must be.
pub(crate) fn compare(
    store: &LocalStore,
    digest: Digest,
    output: &Output,
    random: &mut Random,
) -> Result<()> {
    for (index, content) in output.streams.iter().enumerate() {
        let uri = if output.named {
            ArtifactUri::stream(digest, stream_name(index).parse()?)
        } else {
            ArtifactUri::bare(digest)
        };
        let artifact = store.open_artifact(&uri).with_context(|| format!("open {uri}"))?;
        let expected = content.to_bytes();
        ensure!(artifact.bytes() == content.bytes, "{uri} has {} bytes", artifact.bytes());
        let same = if random.percent(50) {
            artifact.read(0..content.bytes)? == expected
        } else {
            compare_a_page(&artifact, &expected, random)?
        };
        ensure!(same, "{uri} has other bytes than {content}");
    }
    Ok(())
}

fn compare_a_page(artifact: &StoredArtifact, expected: &[u8], random: &mut Random) -> Result<bool> {
    let offset = random.below(artifact.lines() + 1);
    let request = PageRequest { offset, limit: None, byte_offset: 0, page_bytes: 4096 };
    let page = artifact.page(&request)?;
    let start = expected.split_inclusive(|&byte| byte == b'\n').take(offset as usize);
    let start: usize = start.map(<[u8]>::len).sum();
    Ok(expected[start..].starts_with(&page.bytes))
}

/// Reads one call that some worker has committed; `false` where there is none.
/// That it cannot be read is an error, unless its worker had begun to release
/// it before that was found.
pub(crate) fn read_any(
    store: &LocalStore,
    oracle: &mut Oracle,
    random: &mut Random,
) -> Result<bool> {
    let Some((worker, name, call)) = choose(oracle, random)? else { return Ok(false) };
    let digest = call.committed.context("it is committed")?;
    if let Err(error) = compare(store, digest, &call.output, random)
        && is_committed(oracle, &worker, &name)?
    {
        bail!("LOST: {name} of {worker}, {digest}: {error:#}");
    }
    Ok(true)
}

/// One committed call of any worker, with the worker's name and its own.
pub(crate) fn choose(
    oracle: &mut Oracle,
    random: &mut Random,
) -> Result<Option<(String, String, Call)>> {
    oracle.refresh()?;
    let Some(worker) = random.pick(&oracle.workers) else { return Ok(None) };
    let all: Vec<_> = worker.committed().collect();
    let chosen = random.pick(&all);
    Ok(chosen.map(|(name, call)| (worker.name.clone(), (*name).clone(), (*call).clone())))
}

/// Whether a call must still be readable.
pub(crate) fn is_committed(oracle: &mut Oracle, worker: &str, call: &str) -> Result<bool> {
    oracle.refresh()?;
    let worker = oracle.worker(worker).context("workers do not vanish")?;
    Ok(worker.committed().any(|(name, _)| name == call))
}
