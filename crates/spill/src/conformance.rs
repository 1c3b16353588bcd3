//! The clauses that every spill backend keeps, one function each.
//!
//! A backend's tests say with a [`Harness`] how its texts are read back, what it
//! keeps, and how it is made to fail; each clause gets a new one, and [`all`]
//! calls all. They panic where a clause does not hold.

mod failing;
mod naming;
mod saving;

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use async_trait::async_trait;

pub use self::failing::{a_dropped_save_leaves_nothing_in_part, a_failed_save_leaves_nothing};
pub use self::naming::{any_name_is_taken, references_stay_within_their_bound};
pub use self::saving::{
    saves_at_once_do_not_mix, sessions_are_kept_apart, texts_are_kept_verbatim,
    texts_of_one_name_have_locators_of_their_own, what_was_saved_stays_when_more_is_saved,
};
use crate::{SaveText, SpillLocator, SpillOwner, SpillRef, SpillSource, SpillStore};

/// A backend under test, and what its texts look like from outside.
#[async_trait]
pub trait Harness: Send + Sync {
    /// The backend.
    fn store(&self) -> &dyn SpillStore;

    /// What the reader that the backend's hint names gives for a locator; `None`
    /// where there is nothing. It must not be the code that saved it, where the
    /// backend has another reader.
    async fn retrieve(&self, locator: &SpillLocator) -> Option<Vec<u8>>;

    /// Everything that is kept, with what is unfinished.
    async fn kept(&self) -> Vec<Vec<u8>>;

    /// Makes saves fail from now on, as late as the backend can be made to.
    fn begin_failing(&self);

    /// Ends it.
    fn end_failing(&self);
}

/// Runs every clause, each on a harness that `make` makes.
pub async fn all<H: Harness>(make: impl Fn() -> H) {
    texts_are_kept_verbatim(&make()).await;
    texts_of_one_name_have_locators_of_their_own(&make()).await;
    what_was_saved_stays_when_more_is_saved(&make()).await;
    sessions_are_kept_apart(&make()).await;
    saves_at_once_do_not_mix(&make()).await;
    any_name_is_taken(&make()).await;
    references_stay_within_their_bound(&make()).await;
    a_failed_save_leaves_nothing(&make()).await;
    a_dropped_save_leaves_nothing_in_part(&make()).await;
}

/// A text to save.
fn text(session: &str, name: &str, content: &str) -> SaveText {
    SaveText {
        owner: SpillOwner { session: session.parse().expect("a session id") },
        source: SpillSource {
            tool: "web_fetch".parse().expect("a tool name"),
            call: "call-1".parse().expect("a call id"),
            label: "result".to_owned(),
        },
        suggested_name: name.to_owned(),
        content: content.to_owned(),
    }
}

/// Saves a text and checks that what is given for it says so and leads to it.
async fn save(harness: &dyn Harness, text: SaveText) -> SpillRef {
    let content = text.content.clone();
    let reference = harness.store().save_text(text).await.expect("it can be saved");
    check(harness, &reference, &content).await;
    reference
}

/// Checks a reference against the text it is of.
async fn check(harness: &dyn Harness, reference: &SpillRef, content: &str) {
    let SpillRef { locator, bytes, retrieval_hint } = reference;
    assert_eq!(*bytes, content.len() as u64, "the size is that of the text");
    assert!(!retrieval_hint.trim().is_empty(), "the hint says something");
    assert!(!retrieval_hint.contains(char::is_control), "one line: {retrieval_hint:?}");
    let found = harness.retrieve(locator).await;
    let found = found.unwrap_or_else(|| panic!("{locator} leads to nothing"));
    assert!(found == content.as_bytes(), "{locator} leads to {} other bytes", found.len());
}

/// Runs futures at once, on whatever runs this one.
async fn join<T>(futures: impl IntoIterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut running: Vec<Pin<Box<_>>> = futures.into_iter().map(Box::pin).collect();
    let mut done: Vec<Option<T>> = running.iter().map(|_| None).collect();
    poll_fn(|cx| {
        for (future, done) in running.iter_mut().zip(&mut done).filter(|(_, done)| done.is_none()) {
            if let Poll::Ready(value) = future.as_mut().poll(cx) {
                *done = Some(value);
            }
        }
        if done.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    done.into_iter().map(|value| value.expect("all are done")).collect()
}
