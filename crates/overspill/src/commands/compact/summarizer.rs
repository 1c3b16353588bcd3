//! A command as the summariser: the items as JSON on its standard input, the
//! summary on its standard output.

use std::fmt;
use std::io::{self, Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread;

use anyhow::{Context, anyhow};
use async_trait::async_trait;
use compaction::{Item, SummarizeError, Summarizer};

use super::source::Source;
use crate::exit;

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
        let (command, input) = (self.command.clone(), self.source.to_summarize(items));
        let ran = tokio::task::spawn_blocking(move || ask(&command, &input)).await;
        let other = |error: anyhow::Error| SummarizeError::Other(error.into());
        let (status, output) = ran.map_err(anyhow::Error::new).flatten().map_err(other)?;
        if status.code() == Some(exit::CONTEXT_LENGTH.into()) {
            return Err(SummarizeError::ContextLength);
        }
        if !status.success() {
            return Err(other(anyhow!("the command ended with {status}")));
        }
        String::from_utf8(output).map_err(|_| SummarizeError::NotText)
    }
}

fn ask(command: &str, input: &[u8]) -> anyhow::Result<(ExitStatus, Vec<u8>)> {
    let mut child = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("could not start a shell")?;
    let mut stdin = child.stdin.take().context("no standard input")?;
    let mut stdout = child.stdout.take().context("no standard output")?;
    let mut output = Vec::new();
    thread::scope(|scope| {
        let written = scope.spawn(move || stdin.write_all(input));
        stdout.read_to_end(&mut output)?;
        match written.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)) {
            // It need not read all to know that it is too much.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written,
        }
    })
    .context("could not talk to the command")?;
    Ok((child.wait()?, output))
}
