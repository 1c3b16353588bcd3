//! Session logs as the journal of a runtime.

use std::any::Any;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use artifacts::{BlockingWork, Guard, Journal, JournalError, RootError};
use async_trait::async_trait;
use output_contract::{CallId, Digest, SessionId};
use session_log::SessionLogs;

use crate::sample::{TempLogs, call, finished, session, session_started};

/// A guard that looks at the log while it retains.
#[derive(Debug)]
struct Watcher {
    logs: SessionLogs,
    lease_lost: bool,
    retained: AtomicUsize,
}

impl Watcher {
    fn new(logs: &SessionLogs, lease_lost: bool) -> Self {
        Self { logs: logs.clone(), lease_lost, retained: AtomicUsize::new(0) }
    }
}

#[async_trait]
impl Guard for Watcher {
    fn digests(&self) -> &[Digest] {
        &[]
    }

    async fn retain(&self, owner: &SessionId, call: &CallId) -> Result<(), RootError> {
        assert!(!self.logs.contains_call(owner, call).unwrap(), "the event came before the roots");
        if self.lease_lost {
            return Err(RootError::LeaseLost);
        }
        self.retained.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    async fn release(self: Box<Self>) {}

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[tokio::test]
async fn a_commit_retains_before_it_saves() {
    let logs = TempLogs::new();
    let (id, one, two) = (session("s"), call("1"), call("2"));
    let journal: &dyn Journal = &*logs;
    journal.append(&id, &session_started("s")).await.unwrap();

    let guard = Watcher::new(&logs, false);
    journal.commit(&id, &one, &guard, &finished("s", "1", "x")).await.unwrap();
    assert_eq!(guard.retained.into_inner(), 1);
    assert!(journal.has_finished(&id, &one).await.unwrap());

    let lost = Watcher::new(&logs, true);
    let error = journal.commit(&id, &two, &lost, &finished("s", "2", "x")).await.unwrap_err();
    assert!(matches!(error, JournalError::Root(RootError::LeaseLost)), "{error}");
    assert!(!journal.has_finished(&id, &two).await.unwrap());
    assert_eq!(logs.read(&id).unwrap().events.len(), 2);
}

/// There is no executor here, so that nothing can be handed to it.
#[test]
fn in_place_all_is_done_at_once() {
    let logs = TempLogs::new();
    let journal = logs.clone().with_blocking_work(BlockingWork::InPlace);
    let (id, one, guard) = (session("s"), call("1"), Watcher::new(&logs, false));
    let all = async {
        journal.append(&id, &session_started("s")).await?;
        journal.commit(&id, &one, &guard, &finished("s", "1", "x")).await?;
        journal.has_finished(&id, &one).await
    };
    match pin!(all).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(finished) => assert!(finished.unwrap()),
        Poll::Pending => panic!("it waits for someone"),
    }
}

#[tokio::test]
async fn errors_keep_their_kind() {
    let logs = TempLogs::new();
    let id = session("s");
    fs_err::create_dir(logs.path(&id)).unwrap();
    let error = Journal::append(&*logs, &id, &session_started("s")).await.unwrap_err();
    assert!(
        matches!(&error, JournalError::File(file) if file.detail() == "is a directory"),
        "{error}"
    );
    fs_err::remove_dir(logs.path(&id)).unwrap();

    fs_err::write(logs.path(&id), output_contract::encode_event(&session_started("other")))
        .unwrap();
    let error = Journal::append(&*logs, &id, &session_started("s")).await.unwrap_err();
    assert!(matches!(error, JournalError::Backend(_)), "{error}");
}
