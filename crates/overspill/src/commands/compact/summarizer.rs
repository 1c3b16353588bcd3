//! A command as the summariser: the items as JSON on its standard input, the
//! summary on its standard output.
//!
//! Responsible for its life too: it has a process group of its own, which ends
//! when nobody waits for the summary any more. What it leaves in the background
//! is not waited for.

use std::convert::Infallible;
use std::fmt;
use std::future::pending;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use async_trait::async_trait;
use compaction::{Item, SummarizeError, Summarizer};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::source::Source;
use crate::exit;

/// How long a summary is waited for once the command has ended: a process that
/// it left behind may hold the pipe for ever.
const PIPE_GRACE: Duration = Duration::from_secs(1);

/// Runs a command line in `sh`, with our standard error.
pub(super) struct CommandSummarizer<S> {
    command: String,
    source: Arc<S>,
}

impl<S> CommandSummarizer<S> {
    pub(super) const fn new(command: String, source: Arc<S>) -> Self {
        Self { command, source }
    }
}

impl<S> fmt::Debug for CommandSummarizer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandSummarizer").field("command", &self.command).finish_non_exhaustive()
    }
}

#[async_trait]
impl<S: Source> Summarizer<S::Item> for CommandSummarizer<S>
where
    S::Item: Item,
{
    async fn summarize(&self, items: &[S::Item]) -> Result<String, SummarizeError> {
        let input = self.source.to_summarize(items);
        let other = |error: anyhow::Error| SummarizeError::Other(error.into());
        let Answer { status, output } = ask(&self.command, &input).await.map_err(other)?;
        let Some(status) = status else {
            // Whatever it is, it makes nothing shorter.
            return Ok(String::from_utf8_lossy(&output).into_owned());
        };
        if status.code() == Some(exit::CONTEXT_LENGTH.into()) {
            return Err(SummarizeError::ContextLength);
        }
        if !status.success() {
            return Err(other(anyhow!("the command ended with {status}")));
        }
        String::from_utf8(output).map_err(|_| SummarizeError::NotText)
    }
}

/// What a command did.
struct Answer {
    /// `None` where it wrote more than the history is long, and was ended.
    status: Option<ExitStatus>,
    output: Vec<u8>,
}

async fn ask(command: &str, input: &[u8]) -> anyhow::Result<Answer> {
    let child = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .context("could not start a shell")?;
    let mut group = Group::of(child)?;
    let mut stdin = group.child.stdin.take().context("no standard input")?;
    let stdout = group.child.stdout.take().context("no standard output")?;
    // What is longer than the history is no summary of it: the rest is not read.
    let mut stdout = stdout.take(input.len() as u64 + 1);
    let mut output = Vec::new();
    let talk = async {
        let write = async {
            // It need not read all to know that it is too much.
            let _ = stdin.write_all(input).await;
            drop(stdin);
            pending::<Infallible>().await
        };
        // Once all is read, or enough, nothing that is still written matters.
        tokio::select! {
            read = stdout.read_to_end(&mut output) => read,
            never = write => match never {},
        }
    };
    let status = {
        let mut talk = pin!(talk);
        tokio::select! {
            talked = &mut talk => {
                talked.context("could not talk to the command")?;
                None
            }
            status = group.child.wait() => {
                if let Ok(talked) = timeout(PIPE_GRACE, talk).await {
                    talked.context("could not talk to the command")?;
                }
                Some(status?)
            }
        }
    };
    if output.len() > input.len() {
        return Ok(Answer { status: None, output });
    }
    let status = match status {
        Some(status) => status,
        None => group.child.wait().await?,
    };
    group.ended();
    Ok(Answer { status: Some(status), output })
}

/// A command and what it starts. Dropped before it has ended, it is killed.
#[derive(Debug)]
struct Group {
    child: Child,
    id: Option<Pid>,
}

impl Group {
    fn of(child: Child) -> anyhow::Result<Self> {
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Ok(Self { child, id: Some(id.context("the command has no process id")?) })
    }

    /// What is left of the group may stay.
    fn ended(&mut self) {
        self.id = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            // Nobody is left to be told where that fails.
            let _ = kill_process_group(id, Signal::KILL);
        }
    }
}
