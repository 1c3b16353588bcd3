//! How long a spilled text is kept, and by whom.

use std::future::poll_fn;
use std::task::Poll;

use artifacts::{ArtifactStore as _, PublishError};
use output_contract::{ArtifactUri, SessionId};
use spill::{SpillError, SpillStore as _};

use crate::harness::{World, text};

fn worlds() -> [World; 2] {
    [World::in_memory(), World::on_disk()]
}

fn session(id: &str) -> SessionId {
    id.parse().unwrap()
}

#[tokio::test]
async fn a_text_lives_as_long_as_its_call() {
    for world in worlds() {
        let kept = world.spill.save_text(text("s", "kept", "kept\n")).await.unwrap();
        let released = world.spill.save_text(text("s", "released", "released\n")).await.unwrap();
        world.collect().await;
        assert_eq!(world.bytes(&released.locator).await.unwrap(), b"released\n");
        world.store.release(&session("s"), Some(&"released".parse().unwrap())).await.unwrap();
        world.collect().await;
        assert_eq!(world.bytes(&released.locator).await, None);
        assert_eq!(world.bytes(&kept.locator).await.unwrap(), b"kept\n");
        world.store.release(&session("s"), None).await.unwrap();
        world.collect().await;
        assert_eq!(world.bytes(&kept.locator).await, None);
    }
}

#[tokio::test]
async fn what_else_a_call_retains_is_added_to() {
    for world in worlds() {
        let first = world.spill.save_text(text("s", "c", "first\n")).await.unwrap();
        let second = world.spill.save_text(text("s", "c", "second\n")).await.unwrap();
        // As the runtime does with the result, after the policy has spilled.
        let uri: ArtifactUri = first.locator.as_str().parse().unwrap();
        let guard = world.store.borrow(uri.digest).await.unwrap();
        guard.retain(&session("s"), &"c".parse().unwrap()).await.unwrap();
        guard.release().await;
        world.collect().await;
        assert!(world.bytes(&first.locator).await.is_some());
        assert!(world.bytes(&second.locator).await.is_some());
    }
}

#[tokio::test]
async fn a_fork_that_borrows_keeps_what_its_parent_releases() {
    for world in worlds() {
        let saved = world.spill.save_text(text("parent", "c", "inherited\n")).await.unwrap();
        let uri: ArtifactUri = saved.locator.as_str().parse().unwrap();
        let guard = world.store.borrow(uri.digest).await.unwrap();
        guard.retain(&session("fork"), &"c".parse().unwrap()).await.unwrap();
        guard.release().await;
        world.store.release(&session("parent"), None).await.unwrap();
        world.collect().await;
        assert_eq!(world.bytes(&saved.locator).await.unwrap(), b"inherited\n");
        world.store.release(&session("fork"), None).await.unwrap();
        world.collect().await;
        assert_eq!(world.bytes(&saved.locator).await, None);
    }
}

#[tokio::test]
async fn what_the_store_has_is_not_written_again() {
    for world in worlds() {
        let first = world.spill.save_text(text("s", "c", "the same\n")).await.unwrap();
        let again = world.spill.save_text(text("other", "c", "the same\n")).await.unwrap();
        assert_eq!((world.store.publishes(), world.store.retains()), (1, 2));
        assert_eq!(first, again);
        world.store.release(&session("s"), None).await.unwrap();
        world.collect().await;
        assert_eq!(world.bytes(&again.locator).await.unwrap(), b"the same\n");
    }
}

#[tokio::test]
async fn no_capture_is_left() {
    for world in worlds() {
        world.spill.save_text(text("s", "c", "saved\n")).await.unwrap();
        assert_eq!(world.captures(), 0);
        world.store.fail_publish(2..=2, || PublishError::Backend("as told".into()));
        let failed = world.spill.save_text(text("s", "c", "not published\n")).await;
        assert!(matches!(failed, Err(SpillError::Backend(_))), "{failed:?}");
        assert_eq!(world.captures(), 0);

        // Dropped wherever it waits, it leaves none either, once its threads end.
        for polls in 1..200 {
            let mut saving = world.spill.save_text(text("s", "c", &format!("dropped {polls}\n")));
            let mut done = false;
            for _ in 0..polls {
                done |= poll_fn(|cx| Poll::Ready(saving.as_mut().poll(cx).is_ready())).await;
                if done {
                    break;
                }
                tokio::task::yield_now().await;
            }
            drop(saving);
            while world.captures() > 0 {
                tokio::task::yield_now().await;
            }
            if done {
                break;
            }
        }
        assert!(world.store.captures().dead().unwrap().is_empty());
    }
}
