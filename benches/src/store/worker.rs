//! A process that stores outputs and reads them back, one after another.
//!
//! It says `ready` when everything is prepared, begins when it is told to, and says `done`.

mod bare;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use artifact_store::{LocalStore, StoreOptions};
use artifacts::{CaptureMeta, Durability, Manifest, ManifestStream, Publication};
use camino::{Utf8Path, Utf8PathBuf};
use clap::ValueEnum;
use output_contract::{ArtifactUri, OutputDeclaration, SessionId, Timestamp};

use self::bare::Bare;
use crate::scratch::Lines;

/// Who stores, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Side {
    /// Ours, without waiting for the medium.
    Fast,
    /// Ours, waiting for it.
    Durable,
    /// The same, two streams and a manifest each time.
    Streams,
    /// The crate `cacache`.
    Cacache,
    /// The system calls of `durable` that change something, and nothing else.
    Bare,
}

/// What a worker has to do.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) side: Side,
    pub(crate) dir: Utf8PathBuf,
    /// Size of each output.
    pub(crate) bytes: usize,
    pub(crate) outputs: u64,
    /// No two workers of a directory have the same.
    pub(crate) seed: u64,
}

impl Job {
    /// What a command line says, in the order of [`arguments`](Self::arguments).
    pub(crate) fn parse(arguments: &[String]) -> Result<Self> {
        let [side, dir, bytes, outputs, seed] = arguments else { bail!("five arguments") };
        Ok(Self {
            side: Side::from_str(side, false).map_err(anyhow::Error::msg)?,
            dir: dir.into(),
            bytes: bytes.parse()?,
            outputs: outputs.parse()?,
            seed: seed.parse()?,
        })
    }

    pub(super) fn arguments(&self) -> Vec<String> {
        let side = self.side.to_possible_value().expect("no side is hidden");
        let name = side.get_name().to_owned();
        let numbers = [self.bytes as u64, self.outputs, self.seed].map(|n| n.to_string());
        ["--store-worker".to_owned(), name, self.dir.to_string()]
            .into_iter()
            .chain(numbers)
            .collect()
    }
}

/// A process that is ready.
#[derive(Debug)]
struct Ready {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// Runs jobs at the same time; how long all of them took, without their preparations.
pub(super) fn together(jobs: &[Job]) -> Result<Duration> {
    let program = std::env::current_exe()?;
    let mut workers = Vec::new();
    for job in jobs {
        workers.push(Ready::start(Command::new(&program).args(job.arguments()))?);
    }
    let start = Instant::now();
    for worker in &mut workers {
        worker.begin()?;
    }
    for worker in &mut workers {
        worker.expect("done")?;
    }
    let took = start.elapsed();
    for worker in workers {
        worker.end()?;
    }
    Ok(took)
}

/// Runs one job under another command, to its end.
pub(super) fn under(command: &mut Command, job: &Job) -> Result<()> {
    let mut worker = Ready::start(command.arg(std::env::current_exe()?).args(job.arguments()))?;
    worker.begin()?;
    worker.expect("done")?;
    worker.end()
}

impl Ready {
    fn start(command: &mut Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().context("no standard input")?;
        let output = BufReader::new(child.stdout.take().context("no standard output")?);
        let mut ready = Self { child, input, output };
        ready.expect("ready")?;
        Ok(ready)
    }

    fn begin(&mut self) -> Result<()> {
        Ok(self.input.write_all(b"begin\n")?)
    }

    fn expect(&mut self, word: &str) -> Result<()> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        ensure!(line.trim_end() == word, "a worker said {line:?} and not {word}");
        Ok(())
    }

    fn end(mut self) -> Result<()> {
        drop(self.input);
        let status = self.child.wait()?;
        ensure!(status.success(), "a worker: {status}");
        Ok(())
    }
}

/// Does a job, as the whole of a process.
pub(crate) fn work(job: &Job) -> Result<()> {
    let mut content = Lines::default().bytes(job.bytes);
    let store: Storing = match job.side {
        Side::Fast => ours(job, Durability::Fast, 1)?,
        Side::Durable => ours(job, Durability::Durable, 1)?,
        Side::Streams => ours(job, Durability::Durable, 2)?,
        Side::Cacache => {
            let job = job.clone();
            Box::new(move |output, bytes| cacache(&job.dir, &job.call(output), bytes))
        }
        Side::Bare => {
            let bare = Bare::new(job)?;
            Box::new(move |output, bytes| bare.store(output, bytes))
        }
    };
    println!("ready");
    std::io::stdin().lock().read_line(&mut String::new())?;
    for output in 0..job.outputs {
        let name = job.call(output);
        content[..name.len()].copy_from_slice(name.as_bytes());
        store(output, &content)?;
    }
    println!("done");
    Ok(())
}

impl Job {
    /// The name of an output; its content begins with it, so that no two are the same.
    fn call(&self, output: u64) -> String {
        format!("call-{:08x}-{output:08x}", self.seed)
    }
}

fn cacache(dir: &Utf8Path, key: &str, bytes: &[u8]) -> Result<()> {
    let integrity = cacache::write_sync(dir, key, bytes)?;
    let read = cacache::read_hash_sync(dir, &integrity)?;
    ensure!(read == bytes, "other bytes came back");
    Ok(())
}

type Storing = Box<dyn Fn(u64, &[u8]) -> Result<()>>;

/// Captures, publishes, retains, releases, opens and reads.
fn ours(job: &Job, durability: Durability, streams: usize) -> Result<Storing> {
    let options = StoreOptions { durability, ..StoreOptions::default() };
    let store = LocalStore::open(&job.dir, options)?;
    let owner: SessionId = format!("session-{:08x}", job.seed % 1000).parse()?;
    let job = job.clone();
    Ok(Box::new(move |output, bytes| {
        let meta = CaptureMeta {
            session_id: owner.clone(),
            call_id: job.call(output).parse()?,
            parent_call_id: None,
            tool: "bash".parse()?,
            title: String::new(),
            output: OutputDeclaration::Single,
            started_at: Timestamp(0),
            timeout_ms: None,
        };
        let capture = store.captures().create(&meta)?;
        let mut blobs = Vec::new();
        for stream in 0..streams {
            let mut writer = capture.stream_writer(stream)?;
            writer.append(&bytes[stream..])?;
            blobs.push(Arc::new(writer.seal()?));
        }
        let manifest = (streams > 1).then(|| manifest(&blobs)).transpose()?;
        let guard = store.publish(&Publication { blobs, manifest })?;
        guard.retain(&owner, &meta.call_id)?;
        let digest = guard.digests()[0];
        guard.release();
        capture.remove()?;
        let stored = store.open_artifact(&ArtifactUri::bare(digest))?;
        let read = stored.read(0..stored.bytes())?;
        ensure!(streams > 1 || read == bytes, "other bytes came back");
        Ok(())
    }))
}

fn manifest(blobs: &[Arc<artifacts::SealedCapture>]) -> Result<Manifest> {
    let streams = ["stdout", "stderr"].iter().zip(blobs).map(|(name, blob)| {
        Ok(ManifestStream {
            name: name.parse()?,
            sha256: blob.digest(),
            bytes: blob.bytes(),
            lines: blob.lines(),
        })
    });
    Ok(Manifest::new(streams.collect::<Result<Vec<_>>>()?)?)
}
