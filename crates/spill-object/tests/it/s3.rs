//! The clauses of the seam behind a real S3 server, which dies in the middle.

use std::sync::Arc;

use object_store::{Attribute, ObjectStoreExt, parse_url_opts};
use spill::conformance::{self, Harness};
use spill::{SpillError, SpillStore};
use spill_object::{ObjectSaveError, ObjectSpill};
use url::Url;

use crate::harness::{Shared, Stored, text};
use crate::weed::Weed;

fn client(weed: &Weed) -> Shared {
    let url = Url::parse(&Weed::url()).unwrap();
    Arc::from(parse_url_opts(&url, weed.environment()).unwrap().0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_a_server_that_dies() {
    let Some(mut weed) = Weed::start() else { return };
    let url = Weed::url();
    // It also chooses what connections are encrypted with.
    let store = ObjectSpill::open(&url, weed.environment()).unwrap();
    let stored = || Stored::new(client(&weed), client(&weed), &url, "s3://bucket/");

    let before = store.save_text(text("s", "before.txt", "before")).await.unwrap();
    conformance::texts_are_kept_verbatim(&stored()).await;
    conformance::texts_of_one_name_have_locators_of_their_own(&stored()).await;
    conformance::any_name_is_taken(&stored()).await;
    conformance::references_stay_within_their_bound(&stored()).await;
    conformance::a_failed_save_leaves_nothing(&stored()).await;

    let other = client(&weed);
    let key = stored().key(&before.locator);
    let found = other.get(&key).await.unwrap();
    let content_type = found.attributes.get(&Attribute::ContentType).unwrap();
    assert_eq!(content_type.as_ref(), "text/plain; charset=utf-8");

    // A save that begins while there is no server ends when there is one again.
    weed.kill();
    let saving = tokio::spawn(async move {
        let saved = store.save_text(text("s", "while.txt", "while it was away")).await;
        (store, saved)
    });
    let weed = tokio::task::spawn_blocking(move || {
        weed.run();
        weed
    })
    .await
    .unwrap();
    let (store, saved) = saving.await.unwrap();
    let saved = saved.unwrap();
    let stored = || Stored::new(client(&weed), client(&weed), &url, "s3://bucket/");
    assert_eq!(stored().retrieve(&saved.locator).await.unwrap(), b"while it was away");
    assert_eq!(stored().retrieve(&before.locator).await.unwrap(), b"before");

    conformance::what_was_saved_stays_when_more_is_saved(&stored()).await;
    conformance::sessions_are_kept_apart(&stored()).await;
    conformance::saves_at_once_do_not_mix(&stored()).await;

    refusals(&weed).await;
    drop(store);
}

/// What a server says no to, and what is made of it.
async fn refusals(weed: &Weed) {
    let mut wrong = weed.environment();
    wrong[1].1 = "not the secret".to_owned();
    let store = ObjectSpill::open(&Weed::url(), wrong).unwrap();
    let error = store.save_text(text("s", "a", "x")).await.unwrap_err();
    let SpillError::Backend(source) = error else { panic!("{error}") };
    assert!(matches!(source.downcast_ref(), Some(ObjectSaveError::Access { .. })), "{source:?}");

    let store = ObjectSpill::open("s3://no-such-bucket/spill", weed.environment()).unwrap();
    if let Err(error) = store.save_text(text("s", "a", "x")).await {
        let SpillError::Backend(source) = error else { panic!("{error}") };
        let source: Option<&ObjectSaveError> = source.downcast_ref();
        assert!(matches!(source, Some(ObjectSaveError::Missing { .. })), "{source:?}");
    }
}
