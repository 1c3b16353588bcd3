//! What to run, and how.
//!
//! Responsible for the options of one process, as plain data, and for turning
//! them into a command of the standard library.

use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use camino::Utf8PathBuf;
use output_contract::limits::PIPE_GRACE_MS;
use rustix::process::Signal;

/// Default of [`ProcessSpec::kill_grace`], in milliseconds.
const KILL_GRACE_MS: u64 = 500;

/// One process to run.
#[derive(Debug, Clone)]
pub struct ProcessSpec {
    /// The program: a path where it has a slash, else looked up in the `PATH`
    /// that the process gets. A relative path is taken from `cwd`. Whether a
    /// script runs that does not begin with `#!` is up to the system.
    pub program: OsString,
    /// Its arguments, the program's own name not included.
    pub args: Vec<OsString>,
    /// Where it runs; `None` is the current directory.
    pub cwd: Option<Utf8PathBuf>,
    /// Variables to set, or to unset where there is no value, in order.
    pub env: Vec<(OsString, Option<OsString>)>,
    /// Whether it starts with an empty environment instead of ours.
    pub clear_env: bool,
    /// What it reads.
    pub stdin: Stdin,
    /// How long it may run, from its start to its exit.
    pub timeout: Option<Duration>,
    /// How long a background process may hold a pipe open after the end.
    pub pipe_grace: Duration,
    /// What a cancelled group is sent first; SIGTERM after a timeout.
    pub cancel_signal: CancelSignal,
    /// How long the group has between that signal and SIGKILL.
    pub kill_grace: Duration,
}

/// The signal that first asks a cancelled group to end: SIGTERM, unless whoever
/// cancels sets another right before. Clones share it.
#[derive(Debug, Clone)]
pub struct CancelSignal(Arc<AtomicI32>);

impl CancelSignal {
    /// Sets the signal by its number; an unknown one is SIGTERM.
    pub fn set(&self, signal: i32) {
        self.0.store(signal, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> Signal {
        Signal::from_named_raw(self.0.load(Ordering::Relaxed)).unwrap_or(Signal::TERM)
    }
}

impl Default for CancelSignal {
    fn default() -> Self {
        Self(Arc::new(AtomicI32::new(Signal::TERM.as_raw())))
    }
}

/// What a process reads on standard input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: `/dev/null`.
    #[default]
    Null,
    /// These bytes, then the end. It need not read them.
    Bytes(Bytes),
    /// Our own standard input. Not for a terminal: the process is in another
    /// session, and would compete with the shell for what is typed.
    Inherit,
    /// A pipe into which our own standard input is copied. What was read ahead
    /// of the process is lost to others.
    Relay,
}

impl ProcessSpec {
    /// A program without arguments, in our directory and environment, without
    /// input or timeout.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            cwd: None,
            env: Vec::new(),
            clear_env: false,
            stdin: Stdin::Null,
            timeout: None,
            pipe_grace: Duration::from_millis(PIPE_GRACE_MS),
            cancel_signal: CancelSignal::default(),
            kill_grace: Duration::from_millis(KILL_GRACE_MS),
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn with_args<I>(mut self, args: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<OsString>,
    {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// The command, with pipes for its outputs.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        if self.clear_env {
            command.env_clear();
        }
        for (name, value) in &self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(match self.stdin {
            Stdin::Null => Stdio::null(),
            Stdin::Inherit => Stdio::inherit(),
            Stdin::Bytes(_) | Stdin::Relay => Stdio::piped(),
        });
        command
    }
}
