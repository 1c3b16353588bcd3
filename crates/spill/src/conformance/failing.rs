//! What does not end well leaves nothing that could be taken for a text.

use std::future::poll_fn;
use std::task::Poll;

use super::{Harness, check, save, text};

/// A save that fails says so and leaves nothing; before and after it, others
/// succeed.
pub async fn a_failed_save_leaves_nothing(harness: &dyn Harness) {
    let before = save(harness, text("session", "a.txt", "before")).await;
    let kept = sorted(harness.kept().await);
    harness.begin_failing();
    for content in ["short", &"long ".repeat(200_000)] {
        for session in ["session", "another"] {
            let failed = harness.store().save_text(text(session, "a.txt", content)).await;
            let error = failed.expect_err("it was made to fail");
            assert!(!error.to_string().is_empty());
        }
    }
    assert!(sorted(harness.kept().await) == kept, "a failed save left something");
    check(harness, &before, "before").await;
    harness.end_failing();
    save(harness, text("session", "a.txt", "after")).await;
}

/// A save whose future is dropped, at once or when it first waits, is done or
/// not done, and others go on.
pub async fn a_dropped_save_leaves_nothing_in_part(harness: &dyn Harness) {
    let content = "dropped ".repeat(50_000);
    for polls in 0..3 {
        let mut saving = harness.store().save_text(text("session", "a.txt", &content));
        for _ in 0..polls {
            let done = poll_fn(|cx| Poll::Ready(saving.as_mut().poll(cx).is_ready())).await;
            if done {
                break;
            }
        }
        drop(saving);
        save(harness, text("session", "a.txt", "another")).await;
    }
    // It may still be on its way in the background, for as long as it takes.
    let whole = |kept: &[u8]| kept == content.as_bytes() || kept == b"another";
    while harness.kept().await.iter().any(|kept| !whole(kept)) {
        let_others_run().await;
    }
}

/// Lets other threads, and other work of this one's runtime, go on.
async fn let_others_run() {
    std::thread::yield_now();
    let mut waited = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut waited, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn sorted(mut kept: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    kept.sort();
    kept
}
