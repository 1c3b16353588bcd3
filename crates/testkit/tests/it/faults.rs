//! Backends that fail when told to.

use std::sync::Arc;
use std::time::Duration;

use artifacts::{
    ArtifactStore, CollectError, CollectOptions, Journal, JournalError, OpenError, PublishError,
    ReadError, RootError,
};
use output_contract::{ArtifactUri, CallId, SavedEvent, SessionId, Timestamp};
use testkit::{CommitFault, FaultyJournal, FaultyStore, MemoryJournal, MemoryStore};

use crate::publish::publish;

fn session() -> SessionId {
    "s".parse().unwrap()
}

fn call() -> CallId {
    "1".parse().unwrap()
}

fn event() -> SavedEvent {
    SavedEvent::SessionStarted { session_id: session(), at: Timestamp(1) }
}

#[tokio::test]
async fn chosen_calls_of_a_store_fail_and_no_others() {
    let memory = MemoryStore::new().unwrap();
    let store = FaultyStore::new(Arc::new(memory.clone()));
    store.fail_publish(2..=3, || PublishError::Backend("full".into()));
    let stream = [("out", &b"x"[..])];
    let guard = publish(&store, &stream).await.unwrap();
    for _ in 0..2 {
        assert!(matches!(publish(&store, &stream).await, Err(PublishError::Backend(_))));
    }
    drop(publish(&store, &stream).await.unwrap());
    assert_eq!((store.publishes(), memory.guards()), (4, 1));

    store.fail_retain(1..=1, || RootError::LeaseLost);
    assert!(matches!(guard.retain(&session(), &call()).await, Err(RootError::LeaseLost)));
    assert!(memory.roots(&session()).is_empty());
    guard.retain(&session(), &call()).await.unwrap();
    assert_eq!((memory.roots(&session()).len(), store.retains()), (1, 2));

    let uri = ArtifactUri::bare(guard.digests()[1]);
    store.fail_open(2.., || OpenError::Backend("gone".into()));
    store.fail_read(2.., || ReadError::Backend("gone".into()));
    let reader = store.open(&uri).await.unwrap();
    assert!(store.open(&uri).await.is_err());
    assert_eq!(reader.read(0..1).await.unwrap(), "x");
    assert!(reader.read(0..1).await.is_err());
    assert!(reader.line_start(0).await.is_err());

    store.fail_borrow(.., || OpenError::Backend("gone".into()));
    store.fail_release(.., || RootError::Backend("gone".into()));
    store.fail_collect(.., || CollectError::Backend("gone".into()));
    assert!(store.borrow(uri.digest).await.is_err());
    assert!(store.release(&session(), None).await.is_err());
    let options = CollectOptions { grace: Duration::ZERO, dry_run: false, force: false };
    assert!(store.collect(options).await.is_err());
    assert_eq!(memory.roots(&session()).len(), 1);
}

#[tokio::test]
async fn a_commit_fails_where_it_is_told_to() {
    let memory = MemoryStore::new().unwrap();
    for (fault, roots, events) in [
        (None, 1, 1),
        (Some(CommitFault::BeforeRoots), 0, 0),
        (Some(CommitFault::BeforeEvent), 1, 0),
        (Some(CommitFault::AfterEvent), 1, 1),
    ] {
        let saved = MemoryJournal::default();
        let journal = FaultyJournal::new(Arc::new(saved.clone()));
        if let Some(fault) = fault {
            journal.fail_commit(1..=1, fault, || JournalError::Backend("full".into()));
        }
        memory.release(&session(), None).await.unwrap();
        let guard = publish(&memory, &[("out", b"x")]).await.unwrap();
        let committed = journal.commit(&session(), &call(), &*guard, &event()).await;
        assert_eq!(committed.is_err(), fault.is_some(), "{fault:?}");
        assert_eq!(memory.roots(&session()).len(), roots, "{fault:?}");
        assert_eq!(saved.events(&session()).len(), events, "{fault:?}");
        journal.commit(&session(), &call(), &*guard, &event()).await.unwrap();
        assert_eq!(journal.commits(), 2);
    }
}

#[tokio::test]
async fn a_journal_in_memory_keeps_events_in_order() {
    let memory = MemoryJournal::default();
    let journal = FaultyJournal::new(Arc::new(memory.clone()));
    journal.fail_append(2..=2, || JournalError::Backend("full".into()));
    journal.fail_has_finished(2.., || JournalError::Backend("gone".into()));
    journal.append(&session(), &event()).await.unwrap();
    assert!(journal.append(&session(), &event()).await.is_err());
    assert_eq!((memory.events(&session()), memory.sessions()), (vec![event()], vec![session()]));
    assert!(!journal.has_finished(&session(), &call()).await.unwrap());
    assert!(journal.has_finished(&session(), &call()).await.is_err());
    assert_eq!(journal.appends(), 2);

    let end = r#"{"type":"call_finished","result":{"sessionId":"s","callId":"1","tool":"t",
        "status":"completed","output":{"kind":"page"}}}"#;
    let end = output_contract::decode_event(end.as_bytes()).unwrap();
    memory.append(&session(), &end).await.unwrap();
    assert!(memory.has_finished(&session(), &call()).await.unwrap());
    assert!(!memory.has_finished(&session(), &"2".parse().unwrap()).await.unwrap());
}
