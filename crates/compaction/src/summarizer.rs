//! The seam to whatever writes summaries.

use std::error::Error;
use std::fmt::Debug;

use async_trait::async_trait;

/// Writes the summary of a history: a model, behind any client.
///
/// - **Input.** The items are all there is to summarise. They may end anywhere,
///   hold a summary of what was before, and outputs that are references.
/// - **Errors.** [`ContextLength`](SummarizeError::ContextLength) and
///   [`DoesNotFit`](SummarizeError::DoesNotFit) are said of *this* input and of
///   nothing else, because they alone lead to a second trial with a smaller one.
///   That the conversation itself has outgrown its model is neither.
/// - **Cancellation.** The future may be dropped at any await. Whatever it
///   costs, it must not change the history.
/// - **Idempotence.** None is expected: the same input may give another text.
#[async_trait]
pub trait Summarizer<I>: Debug + Send + Sync {
    /// Summarises `items`, oldest first.
    ///
    /// # Errors
    /// [`SummarizeError`] where there is no text.
    async fn summarize(&self, items: &[I]) -> Result<String, SummarizeError>;
}

/// Why there is no summary.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SummarizeError {
    /// The provider says that the summary request exceeds the context of its
    /// model.
    #[error("the history exceeds the context of the model that is to summarise it")]
    ContextLength,
    /// The summariser itself says so, before asking anyone.
    #[error("the history does not fit into a request for its summary")]
    DoesNotFit,
    /// What came back is no text: a tool call, an image, invalid UTF-8.
    #[error("what came back is no text")]
    NotText,
    /// Anything else.
    #[error("the summariser failed")]
    Other(#[source] Box<dyn Error + Send + Sync>),
}
