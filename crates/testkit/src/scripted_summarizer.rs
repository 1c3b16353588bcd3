//! A summariser that answers by a script.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use compaction::{Item, SummarizeError, Summarizer};
use tool_api::CancellationToken;

/// Answers one call after the other, and remembers what it was given. Asked
/// more often than it has answers, it fails.
#[derive(Debug)]
pub struct ScriptedSummarizer<I> {
    answers: Mutex<VecDeque<SummarizerAnswer>>,
    asked: Mutex<Vec<Vec<I>>>,
}

/// One answer.
#[derive(Debug, Clone)]
pub enum SummarizerAnswer {
    /// This text.
    Text(String),
    /// The provider refuses: the input exceeds its context.
    ContextLength,
    /// The input does not fit, by the summariser's own count.
    DoesNotFit,
    /// Something else than a text.
    NotText,
    /// Another failure.
    Fail(&'static str),
    /// Cancels this and never ends.
    CancelAndHang(CancellationToken),
}

impl<I: Item> ScriptedSummarizer<I> {
    /// Answers with these, in order.
    pub fn new(answers: impl IntoIterator<Item = SummarizerAnswer>) -> Self {
        Self { answers: Mutex::new(answers.into_iter().collect()), asked: Mutex::default() }
    }

    /// What it was given, call by call.
    pub fn asked(&self) -> Vec<Vec<I>> {
        lock(&self.asked).clone()
    }
}

#[async_trait]
impl<I: Item + std::fmt::Debug> Summarizer<I> for ScriptedSummarizer<I> {
    async fn summarize(&self, items: &[I]) -> Result<String, SummarizeError> {
        lock(&self.asked).push(items.to_vec());
        let answer = lock(&self.answers).pop_front();
        match answer {
            Some(SummarizerAnswer::Text(text)) => Ok(text),
            Some(SummarizerAnswer::ContextLength) => Err(SummarizeError::ContextLength),
            Some(SummarizerAnswer::DoesNotFit) => Err(SummarizeError::DoesNotFit),
            Some(SummarizerAnswer::NotText) => Err(SummarizeError::NotText),
            Some(SummarizerAnswer::Fail(why)) => Err(SummarizeError::Other(why.into())),
            Some(SummarizerAnswer::CancelAndHang(token)) => {
                token.cancel();
                std::future::pending().await
            }
            None => Err(SummarizeError::Other("the script has no more answers".into())),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
