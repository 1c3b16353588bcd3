//! Work that blocks, on a thread of its own.
//!
//! Responsible for keeping a backend's file or socket operations off the
//! threads of whatever runs its futures, without knowing what that is. A thread
//! for each piece of work: a text is spilled rarely, and one that waits for a
//! slow medium keeps no other back.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

use crate::error::SpillError;

/// Runs `work` on a new thread and gives what it returns. A panic is passed on.
///
/// Where the future is dropped, the work goes on to its end, and then what it
/// returned is dropped: a value that is to be undone says so in its `Drop`.
///
/// # Errors
/// [`SpillError::Backend`] where no thread can be made; nothing was done then.
pub async fn unblock<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, SpillError> {
    let (sender, receiver) = oneshot::channel();
    let run = move || {
        let returned = catch_unwind(AssertUnwindSafe(work));
        // Nobody waits any more: then it is dropped here.
        drop(sender.send(returned));
    };
    thread::Builder::new()
        .name("spill".to_owned())
        .spawn(run)
        .map_err(|source| SpillError::Backend(Box::new(source)))?;
    match receiver.await.expect("the thread sends before it ends") {
        Ok(value) => Ok(value),
        Err(panic) => resume_unwind(panic),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn it_runs_elsewhere_and_returns() {
        let here = thread::current().id();
        assert!(unblock(move || thread::current().id() != here).await.unwrap());
    }

    #[tokio::test]
    async fn a_panic_is_passed_on() {
        let task = tokio::spawn(unblock(|| panic!("as told")));
        let error: tokio::task::JoinError = task.await.map(|_: Result<(), _>| ()).unwrap_err();
        assert!(error.is_panic());
    }

    #[tokio::test]
    async fn what_nobody_waits_for_is_dropped() {
        struct Undone(mpsc::Sender<&'static str>);
        impl Drop for Undone {
            fn drop(&mut self) {
                self.0.send("undone").unwrap();
            }
        }

        let (sender, undone) = mpsc::channel();
        let (begin, begun) = mpsc::channel::<()>();
        let mut work = Box::pin(unblock(move || {
            begun.recv().unwrap();
            Undone(sender)
        }));
        let first =
            std::future::poll_fn(|cx| std::task::Poll::Ready(work.as_mut().poll(cx).is_ready()));
        assert!(!first.await);
        drop(work);
        begin.send(()).unwrap();
        assert_eq!(undone.recv(), Ok("undone"));
    }
}
