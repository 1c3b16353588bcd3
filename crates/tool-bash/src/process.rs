//! The process engine: one command, from its start to the end of its group.
//!
//! Responsible for starting a command in a session of its own, carrying
//! every byte of its two outputs to their channels, and ending the group on
//! time. It does not know which tool runs it, nor where the bytes go.
//!
//! How a command ends:
//!
//! - **By itself.** The pipes are read to their end. A background process may
//!   hold one open: then reading stops once [`ProcessSpec::pipe_grace`] has
//!   passed since the command's own output was all taken, what lies in the pipe
//!   is still read, and the process is left alone.
//! - **Too late, or cancelled.** The whole group gets SIGTERM, and SIGKILL after
//!   [`ProcessSpec::kill_grace`] or as soon as nobody is left. What lies in the
//!   pipes is read.
//! - **The future of [`run`] is dropped.** The whole group gets SIGKILL.
//!
//! The command is reaped after all that, never before: as long as it is a
//! zombie its process id cannot be given to another, so a signal to its group
//! always meets the right one. The host must therefore not reap children that it
//! did not start; otherwise the exit is unknown. An exit is noticed by SIGCHLD;
//! where the host takes that signal away, half a second later at most.
//!
//! A process that leaves its group (`setsid`, job control) escapes the signals.
//! Whether a group still has living members is known on Linux only, with
//! `/proc`; elsewhere SIGTERM is given its whole grace.

mod error;
mod group;
mod leader;
mod pump;
mod spec;
mod stdin;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use output_contract::Exit;
use rustix::process::Signal;
use tokio::sync::{Notify, watch};
use tool_api::{CancellationToken, ChannelHandle};

pub use error::{NotStarted, SpawnError};
use group::Life;
use leader::{Leader, Started};
use pump::{Phase, Pump};
pub use spec::{CancelSignal, ProcessSpec, Stdin};
use stdin::Feed;

/// How long a pipe of a group that is gone may stay open. Any process that is
/// being started by this program at the moment holds it too, until it is
/// executed.
const GONE_GRACE: Duration = Duration::from_millis(250);

/// Where the output of a process goes.
#[derive(Debug, Clone)]
pub struct ProcessOutputs {
    /// The channel of standard output.
    pub stdout: ChannelHandle,
    /// The channel of standard error.
    pub stderr: ChannelHandle,
    /// Who else sees the bytes, before they are sent: the live display.
    pub on_output: Option<Arc<dyn OutputObserver>>,
}

/// Sees output as it is read. It is called between reads, so it must be quick
/// and must not block.
pub trait OutputObserver: fmt::Debug + Send + Sync {
    /// The next bytes of one output.
    fn output(&self, from: OutputStream, bytes: &[u8]);
}

/// The outputs of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessEnd {
    /// How the command itself ended. `None` where it was cancelled before it
    /// started, where the kernel does not let it die, and where someone else
    /// reaped it.
    pub exit: Option<Exit>,
    /// What ended the run.
    pub cause: Cause,
    /// Whether standard output and standard error were still held open by some
    /// process when reading them stopped.
    pub pipe_held: [bool; 2],
}

/// What ended a run, whatever the exit code says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The command ended by itself.
    Exited,
    /// Its time was up.
    TimedOut,
    /// The caller cancelled, while it ran or while its output was still read.
    Cancelled,
}

/// Runs a command to the end of its output.
///
/// Reading waits for the channels, so that a slow one slows the command. A
/// channel that answers with an error is sent to all the same: it counts what
/// it cannot keep, and the command's exit is not lost.
///
/// Dropping the future kills the group at once; the command is reaped in the
/// background. It needs a tokio runtime with I/O and time enabled,
/// which is blocked while the system starts the command.
///
/// # Errors
/// [`SpawnError`] where the command could not be started.
pub async fn run(
    spec: ProcessSpec,
    outputs: ProcessOutputs,
    cancel: &CancellationToken,
) -> Result<ProcessEnd, SpawnError> {
    if cancel.is_cancelled() {
        return Ok(ProcessEnd { exit: None, cause: Cause::Cancelled, pipe_held: [false; 2] });
    }
    let Started { leader, stdin, stdout, stderr } = Leader::start(&spec)?;
    let failed = |source| SpawnError::Other { program: spec.program.clone(), source };
    let (phase, phases) = watch::channel(Phase::Running);
    let ProcessOutputs { stdout: to_stdout, stderr: to_stderr, on_output } = outputs;
    let pump = |pipe, channel, from| {
        Pump::new(pipe, channel, from, on_output.clone(), phases.clone()).map_err(failed)
    };
    let stdout = pump(stdout.into(), to_stdout, OutputStream::Stdout)?;
    let stderr = pump(stderr.into(), to_stderr, OutputStream::Stderr)?;
    let feed = Feed::new(spec.stdin.clone(), stdin).map_err(failed)?;

    let drained = Notify::new();
    let pumps = async {
        let (stdout, stderr) = tokio::join!(stdout.run(), stderr.run());
        drained.notify_one();
        [stdout, stderr]
    };
    let supervisor = Supervisor { leader: &leader, spec: &spec, phase: &phase };
    let run = async { tokio::join!(supervisor.watch(cancel, &drained), pumps) };
    let (cause, pipe_held) = tokio::select! {
        ended = run => ended,
        // Input that nobody reads is no reason to wait.
        never = feed.run() => match never {},
    };
    Ok(ProcessEnd { exit: leader.reap(), cause, pipe_held })
}

/// Decides when the command and the reading of its output end.
struct Supervisor<'a> {
    leader: &'a Leader,
    spec: &'a ProcessSpec,
    phase: &'a watch::Sender<Phase>,
}

impl Supervisor<'_> {
    async fn watch(&self, cancel: &CancellationToken, drained: &Notify) -> Cause {
        tokio::select! {
            biased;
            () = self.leader.exited() => {}
            () = cancel.cancelled() => {
                self.end_group(self.spec.cancel_signal.get()).await;
                return Cause::Cancelled;
            }
            () = elapsed(self.spec.timeout) => {
                self.end_group(Signal::TERM).await;
                return Cause::TimedOut;
            }
        }
        self.phase.send_replace(Phase::Ended { grace: self.spec.pipe_grace });
        tokio::select! {
            biased;
            () = drained.notified() => Cause::Exited,
            () = cancel.cancelled() => {
                self.end_group(self.spec.cancel_signal.get()).await;
                Cause::Cancelled
            }
        }
    }

    /// Ends the whole group. Then nobody of it holds a pipe, unless the kernel
    /// keeps a member alive or we cannot tell.
    async fn end_group(&self, first: Signal) {
        let pipe_grace = self.spec.pipe_grace;
        let grace = match self.leader.end_group(first, self.spec.kill_grace).await {
            Life::Gone => pipe_grace.min(GONE_GRACE),
            Life::Alive | Life::Unknown => pipe_grace,
        };
        self.phase.send_replace(Phase::Ended { grace });
    }
}

async fn elapsed(timeout: Option<Duration>) {
    match timeout {
        Some(timeout) => tokio::time::sleep(timeout).await,
        None => std::future::pending().await,
    }
}
