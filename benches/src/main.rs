//! `overspill-bench`: what Overspill costs, beside what sets its limit.
//!
//! Every figure is a median of runs that alternate with those it is compared with, so that a busy
//! machine slows both. Nothing is written but the scratch directory, which goes when it ends.
//! `cargo xtask bench` builds the program and this, and runs it.

mod capture;
mod compaction;
mod memory;
mod pages;
mod process;
mod scratch;
mod start;
mod statistics;
mod store;
mod text;

use anyhow::{Result, ensure};
use camino::Utf8PathBuf;
use clap::{Parser, ValueEnum};

use crate::scratch::Scratch;

/// Measure, and print ratios.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench")]
struct Options {
    /// What to measure, all by default.
    names: Vec<Name>,
    /// Runs of each side; the median counts.
    #[arg(long, default_value_t = 7)]
    runs: usize,
    /// Size of the large file of `capture` and `pages`, in MiB.
    #[arg(long, default_value_t = 1024)]
    mib: u64,
    /// Where the scratch directory of all but `text` is made.
    #[arg(long, default_value = "/dev/shm")]
    fast_dir: Utf8PathBuf,
    /// Where that of `start`, durable, and of `store` is made: on a medium.
    #[arg(long, default_value = "/var/tmp")]
    disk_dir: Utf8PathBuf,
    /// Store outputs and do nothing else: one side of `store`.
    #[arg(long, hide = true, num_args = 5)]
    store_worker: Vec<String>,
    /// Hash a file and do nothing else: one side of `capture`.
    #[arg(long, hide = true)]
    sha256: Option<Utf8PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Name {
    /// Storing what a command writes, against `cat`, `tee` and one SHA-256.
    Capture,
    /// Pruning a long history, by its length, and the memory that takes.
    Compaction,
    /// Peak memory, by size and by calls at once.
    Memory,
    /// A verified page of a large artifact, against one of a small one, and against `sed`.
    Pages,
    /// A command that writes nothing, against `bash -c`.
    Start,
    /// Outputs stored and read back, collecting, and opening, against `cacache`, `find` and the
    /// system calls alone.
    Store,
    /// Bytes a second of what looks at text, against `memchr` and `simdutf8`.
    Text,
}

fn main() -> Result<()> {
    let options = Options::parse();
    if let Some(file) = &options.sha256 {
        return capture::hash(file);
    }
    if !options.store_worker.is_empty() {
        return store::work(&store::Job::parse(&options.store_worker)?);
    }
    ensure!(options.runs > 0, "at least one run");
    let names = if options.names.is_empty() { Name::value_variants() } else { &options.names };
    for name in names {
        let scratch = || Scratch::new(&options.fast_dir);
        match name {
            Name::Capture => capture::run(&scratch()?, options.mib, options.runs)?,
            Name::Compaction => compaction::run(&scratch()?, options.runs)?,
            Name::Memory => memory::run(&scratch()?, options.runs)?,
            Name::Pages => pages::run(&scratch()?, options.mib, options.runs)?,
            Name::Start => {
                start::run(&scratch()?, &Scratch::new(&options.disk_dir)?, options.runs)?;
            }
            Name::Store => {
                store::run(&scratch()?, &Scratch::new(&options.disk_dir)?, options.runs)?;
            }
            Name::Text => text::run(options.runs)?,
        }
    }
    Ok(())
}
