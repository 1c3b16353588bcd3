//! Forks: what they inherit, and that nobody can take it from them.

use std::sync::Arc;
use std::time::Duration;

use artifacts::{ArtifactStore, CollectOptions, Publication};
use output_contract::{
    ArtifactUri, Digest, HistoryItem, OutputKind, ResultOutput, SavedEvent, SessionId,
    StreamRecord, Timestamp,
};
use session_log::{ForkError, ForkPoint, Forked, SessionHistory, replay};
use testkit::MemoryStore;

use crate::sample::{TempLogs, call, result, session, started};

struct World {
    logs: TempLogs,
    store: MemoryStore,
}

impl World {
    fn new() -> Self {
        Self { logs: TempLogs::new(), store: MemoryStore::new().unwrap() }
    }

    /// A call that put this out, stored and saved as by a runtime.
    async fn run(&self, name: &str, id: &str, output: &str) -> ArtifactUri {
        let owner = session(name);
        let capture = self.store.captures().scratch().unwrap();
        let mut writer = capture.stream_writer(0).unwrap();
        writer.append(output.as_bytes()).unwrap();
        let blobs = vec![Arc::new(writer.seal().unwrap())];
        let guard = self.store.publish(Publication { blobs, manifest: None }).await.unwrap();
        let digest = guard.digests()[0];
        guard.retain(&owner, &call(id)).await.unwrap();
        guard.release().await;
        capture.remove().unwrap();
        self.logs.append_blocking(&owner, &started(name, id, id.into())).unwrap();
        let uri = ArtifactUri::bare(digest);
        self.save(name, id, &uri, output);
        uri
    }

    fn save(&self, name: &str, id: &str, uri: &ArtifactUri, text: &str) {
        let mut result = result(name, id, text);
        let bytes = text.len() as u64;
        let record = StreamRecord {
            name: None,
            artifact: Some(uri.clone()),
            sha256: Some(uri.digest),
            bytes,
            lines: 1,
            seen_bytes: Some(bytes),
            shown_bytes: bytes,
            truncated: false,
            next_offset: None,
            next_byte_offset: None,
            incomplete: None,
            binary: false,
        };
        let (kind, streams) = (OutputKind::Single, vec![record]);
        result.output = ResultOutput { kind, manifest: None, streams };
        let event = SavedEvent::CallFinished { result: Box::new(result), at: Timestamp(2) };
        self.logs.append_blocking(&session(name), &event).unwrap();
    }

    /// Where the log of a session ends.
    fn end(&self, name: &str) -> u64 {
        fs_err::metadata(self.logs.path(&session(name))).unwrap().len()
    }

    async fn fork(&self, from: &str, at: u64, fork: &str) -> Result<Forked, ForkError> {
        let point = ForkPoint { from: session(from), at };
        self.logs.fork(&self.store, point, &session(fork), Timestamp(3)).await
    }

    /// Removes a session with all that it alone keeps.
    async fn remove(&self, name: &str) {
        let owner: SessionId = session(name);
        self.logs.remove(&owner).unwrap();
        self.store.release(&owner, None).await.unwrap();
        let now = CollectOptions { grace: Duration::ZERO, dry_run: false, force: false };
        self.store.collect(now).await.unwrap();
    }

    async fn reads(&self, uri: &ArtifactUri) -> bool {
        self.store.open(uri).await.is_ok()
    }

    /// Its results, in order.
    fn told(&self, name: &str) -> Vec<String> {
        results(&self.logs.history(&session(name)).unwrap())
    }
}

fn results(history: &SessionHistory) -> Vec<String> {
    let items = history.items().into_iter();
    let text = |item| match item {
        HistoryItem::ToolResult(result) => Some(result.text()),
        _ => None,
    };
    items.filter_map(text).collect()
}

#[tokio::test]
async fn a_fork_has_the_history_up_to_its_point_and_then_its_own() {
    let world = World::new();
    let first = world.run("a", "1", "first").await;
    let point = world.end("a");
    let second = world.run("a", "2", "second").await;
    let forked = world.fork("a", point, "b").await.unwrap();
    assert_eq!(forked, Forked { retained: 1, missing: vec![] });
    world.run("b", "1", "its own").await;
    assert_eq!(world.told("a"), ["first", "second"]);
    assert_eq!(world.told("b"), ["first", "its own"]);
    let history = world.logs.history(&session("b")).unwrap();
    assert_eq!(history.inherited_calls().count(), 1);

    // A fork of the fork, and the first one goes: nothing that is inherited does.
    world.fork("b", u64::MAX, "c").await.unwrap();
    world.remove("b").await;
    assert_eq!(world.logs.history(&session("c")).unwrap().missing, Some(session("b")));
    world.remove("a").await;
    assert!(world.reads(&first).await && !world.reads(&second).await);
    world.remove("c").await;
    assert!(!world.reads(&first).await);
}

#[tokio::test]
async fn what_was_reverted_is_not_inherited_and_is_still_read() {
    let world = World::new();
    world.run("a", "1", "first").await;
    let point = world.end("a");
    let reverted = world.run("a", "2", "reverted").await;
    let event = SavedEvent::Reverted { to: point, time: Timestamp(3) };
    world.logs.append_blocking(&session("a"), &event).unwrap();
    world.run("a", "3", "third").await;
    assert_eq!(world.told("a"), ["first", "third"]);
    assert!(world.reads(&reverted).await, "possession is access");
    let forked = world.fork("a", u64::MAX, "b").await.unwrap();
    assert_eq!((forked.retained, world.told("b")), (2, world.told("a")));
    // A fork at a point before the revert has what was reverted.
    let whole = world.logs.read(&session("a")).unwrap().events;
    let revert = whole.iter().find(|(_, e)| matches!(e, SavedEvent::Reverted { .. })).unwrap().0;
    world.fork("a", revert, "c").await.unwrap();
    assert_eq!(world.told("c"), ["first", "reverted"]);
}

#[tokio::test]
async fn what_is_gone_is_said_and_holds_nothing_up() {
    let world = World::new();
    let gone = ArtifactUri::bare(Digest::from_bytes([7; 32]));
    world.save("a", "1", &gone, "gone");
    world.run("a", "2", "there").await;
    let forked = world.fork("a", u64::MAX, "b").await.unwrap();
    assert_eq!(forked, Forked { retained: 1, missing: vec![gone.digest] });
    assert_eq!(world.told("b"), ["gone", "there"]);
}

#[tokio::test]
async fn a_fork_is_a_new_session_of_one_that_exists() {
    let world = World::new();
    world.run("a", "1", "first").await;
    let again = world.fork("a", u64::MAX, "a").await.unwrap_err();
    assert!(matches!(again, ForkError::Exists { .. }), "{again}");
    assert!(matches!(world.fork("nobody", 0, "b").await, Err(ForkError::Log(_))));
    assert!(world.logs.history(&session("b")).is_err(), "nothing was saved");
}

#[tokio::test]
async fn a_log_that_continues_itself_ends() {
    let world = World::new();
    for (name, from) in [("a", "b"), ("b", "a"), ("c", "c")] {
        let event =
            SavedEvent::SessionForked { from: session(from), at: u64::MAX, time: Timestamp(1) };
        world.logs.append_blocking(&session(name), &event).unwrap();
        world.run(name, name, name).await;
    }
    assert_eq!(world.told("a"), ["b", "a"]);
    assert_eq!(world.told("c"), ["c"]);
    assert_eq!(world.logs.history(&session("c")).unwrap().missing, Some(session("c")));
    assert!(replay(world.logs.read(&session("a")).unwrap()).inherits());
}
