//! Running a prepared call to an end, whatever the tool does.

use std::time::Duration;

use output_contract::Status;
use tokio::task::JoinHandle;
use tool_api::{CallContext, CancellationToken, Completion, PreparedCall};

/// How the execution of a call ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The tool returned.
    Completed(Box<Completion>),
    /// The tool did not; this is the status, and for a person why.
    Without { status: Status, reason: Option<String> },
}

/// Executes the call in a task of its own. After cancellation the tool has
/// `grace` to return; a tool that drops its sink unfinished can never return a
/// completion and is not waited for.
pub(crate) async fn execute(
    prepared: Box<dyn PreparedCall>,
    cx: CallContext,
    abandoned: impl Future<Output = ()>,
    grace: Duration,
) -> Ended {
    let cancel = cx.cancel.clone();
    let mut task = tokio::spawn(async move { prepared.execute(cx).await });
    tokio::select! {
        biased;
        ended = &mut task => completion(ended),
        () = abandoned => settle(task, grace, interrupted(None)).await,
        () = expired(&cancel, grace) => settle(task, Duration::ZERO, cancelled()).await,
    }
}

/// Fires `grace` after cancellation.
async fn expired(cancel: &CancellationToken, grace: Duration) {
    cancel.cancelled().await;
    tokio::time::sleep(grace).await;
}

/// Gives the task a last chance, then drops it.
async fn settle(mut task: JoinHandle<Completion>, grace: Duration, otherwise: Ended) -> Ended {
    match tokio::time::timeout(grace, &mut task).await {
        Ok(ended) => completion(ended),
        Err(_) => {
            task.abort();
            otherwise
        }
    }
}

fn completion(ended: Result<Completion, tokio::task::JoinError>) -> Ended {
    match ended {
        Ok(completion) => Ended::Completed(Box::new(completion)),
        Err(error) => interrupted(panic_message(error)),
    }
}

fn panic_message(error: tokio::task::JoinError) -> Option<String> {
    let panic = error.try_into_panic().ok()?;
    let message = panic
        .downcast_ref::<&str>()
        .map(|message| (*message).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    Some(match message {
        Some(message) => format!("the tool panicked: {message}"),
        None => "the tool panicked".to_owned(),
    })
}

fn interrupted(reason: Option<String>) -> Ended {
    let reason = reason.or_else(|| Some("the tool dropped its output unfinished".to_owned()));
    Ended::Without { status: Status::Failed, reason }
}

fn cancelled() -> Ended {
    Ended::Without { status: Status::Cancelled, reason: None }
}
