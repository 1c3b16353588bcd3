//! The command line, of the supervisor and of the workers that it starts.

use anyhow::Result;
use camino::Utf8PathBuf;
use clap::{Parser, ValueEnum};

/// Let processes use one store, kill and stop them, and see that nothing is
/// lost and nothing is left.
#[derive(Debug, Clone, Parser)]
#[command(name = "cargo xtask torture")]
pub(crate) struct Options {
    /// For how many minutes; without it, for `--seconds`.
    #[arg(long)]
    minutes: Option<u64>,
    /// For how many seconds.
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// The choices of an earlier run. The moments are the machine's.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Where the directory with the store is made.
    #[arg(long, default_value_t = default_dir())]
    pub(crate) dir: Utf8PathBuf,
    /// Let the workers break a rule, to see that it is found.
    #[arg(long, hide = true)]
    pub(crate) fault: Option<Fault>,
    /// Be the worker of that name.
    #[arg(long, hide = true, requires = "role")]
    pub(crate) worker: Option<String>,
    #[arg(long, hide = true)]
    pub(crate) role: Option<Role>,
    /// Have a point to come to.
    #[arg(long, hide = true)]
    pub(crate) pointed: bool,
}

/// What a worker mostly does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    Writer,
    Reader,
    Collector,
}

/// A rule that workers break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fault {
    /// They release the guard and do not retain.
    Unretained,
    /// They delete what they retained.
    Deleting,
    /// They leave a file behind.
    Littering,
}

fn default_dir() -> Utf8PathBuf {
    std::env::temp_dir().try_into().unwrap_or_else(|_| "/tmp".into())
}

impl Options {
    pub(crate) fn seconds(&self) -> u64 {
        self.minutes.map_or(self.seconds, |minutes| minutes * 60)
    }

    /// The name by which an option's value is given.
    pub(crate) fn value_name(value: &impl ValueEnum) -> Result<String> {
        let value = value.to_possible_value();
        Ok(value.map(|value| value.get_name().to_owned()).unwrap_or_default())
    }
}
