//! What tests see of the world outside: runs, processes and files.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use output_contract::StreamName;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tool_api::{CancellationToken, StreamingSink};
use tool_bash::process::{self, ProcessEnd, ProcessOutputs, ProcessSpec, SpawnError};

use crate::recorder::Recorder;

/// Longer than anything takes. Only a test that fails waits so long.
pub(crate) const FOREVER: Duration = Duration::from_secs(60);

/// A script for `sh`.
pub(crate) fn sh(script: &str) -> ProcessSpec {
    ProcessSpec::new("sh").with_args(["-c", script])
}

/// Runs to the end, into a recorder.
pub(crate) async fn run_into(
    spec: ProcessSpec,
    recorder: &Arc<Recorder>,
    cancel: &CancellationToken,
) -> Result<ProcessEnd, SpawnError> {
    let handles = Arc::strong_count(recorder);
    let sink = recorder.sink().stream();
    let end = process::run(spec, outputs(&sink), cancel).await;
    drop(sink.finish());
    assert_eq!(Arc::strong_count(recorder), handles, "someone can still send");
    end
}

/// Runs a process that starts, and gives what it wrote.
pub(crate) async fn run(spec: ProcessSpec) -> (ProcessEnd, Arc<Recorder>) {
    let recorder = Arc::new(Recorder::new());
    let end = run_into(spec, &recorder, &CancellationToken::new()).await.unwrap();
    (end, recorder)
}

fn outputs(sink: &StreamingSink) -> ProcessOutputs {
    let channel = |name| sink.channel(Some(&StreamName::new(name).unwrap())).unwrap();
    ProcessOutputs { stdout: channel("stdout"), stderr: channel("stderr"), on_output: None }
}

/// A run that goes on while the test does.
pub(crate) struct Running {
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) cancel: CancellationToken,
    pub(crate) task: JoinHandle<ProcessEnd>,
}

impl Running {
    pub(crate) fn start(spec: ProcessSpec, recorder: Recorder) -> Self {
        let recorder = Arc::new(recorder);
        let cancel = CancellationToken::new();
        let (sink, token) = (recorder.sink().stream(), cancel.clone());
        let task = tokio::spawn(async move {
            let end = process::run(spec, outputs(&sink), &token).await.unwrap();
            drop(sink.finish());
            end
        });
        Self { recorder, cancel, task }
    }

    pub(crate) async fn end(self) -> (ProcessEnd, Arc<Recorder>) {
        (tokio::time::timeout(FOREVER, self.task).await.expect("in time").unwrap(), self.recorder)
    }
}

/// A directory for the files through which scripts talk to the test.
#[derive(Debug)]
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Utf8Path {
        Utf8Path::from_path(self.0.path()).unwrap()
    }

    pub(crate) fn file(&self, name: &str) -> Utf8PathBuf {
        self.path().join(name)
    }

    /// A script that runs here.
    pub(crate) fn sh(&self, script: &str) -> ProcessSpec {
        ProcessSpec { cwd: Some(self.path().to_owned()), ..sh(script) }
    }

    pub(crate) async fn wait_for_file(&self, name: &str) {
        eventually(&format!("{name} exists"), || self.file(name).exists()).await;
    }

    /// Waits until a script has written a process id into a file, whole.
    pub(crate) async fn wait_for_pid(&self, name: &str) -> Process {
        let read = || fs_err::read_to_string(self.file(name)).unwrap_or_default();
        eventually(&format!("{name} holds a process id"), || read().ends_with('\n')).await;
        Process(Pid::from_raw(read().trim().parse().unwrap()).unwrap())
    }
}

/// A process that a script has started. One that is left over is killed.
#[derive(Debug)]
pub(crate) struct Process(Pid);

impl Process {
    /// The state letter, or none where there is no such process.
    fn state(&self) -> Option<char> {
        let stat = fs_err::read(format!("/proc/{}/stat", self.0.as_raw_nonzero())).ok()?;
        let stat = String::from_utf8_lossy(&stat).into_owned();
        stat.rsplit_once(") ")?.1.chars().next()
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.state().is_some_and(|state| !"ZXx".contains(state))
    }

    pub(crate) async fn wait_for_death(&self) {
        eventually("it is dead", || !self.is_alive()).await;
    }

    pub(crate) async fn wait_for_reaping(&self) {
        eventually("it is reaped", || self.state().is_none()).await;
    }

    pub(crate) async fn wait_for_sleep(&self) {
        eventually("it sleeps", || self.state() == Some('S')).await;
    }

    pub(crate) async fn wait_for_stop(&self) {
        eventually("it is stopped", || self.state() == Some('T')).await;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.is_alive() {
            let _ = kill_process(self.0, Signal::KILL);
        }
    }
}

pub(crate) async fn eventually(what: &(impl Debug + ?Sized), mut condition: impl FnMut() -> bool) {
    let wait = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(FOREVER, wait).await.unwrap_or_else(|_| panic!("never: {what:?}"));
}
