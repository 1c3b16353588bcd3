//! What becomes of each output in the private copy.

use std::time::Duration;

use artifacts::{ArtifactStore as _, CollectOptions, OpenError};
use compaction::{Item as _, PruneOptions, Pruned, prune};
use insta::assert_snapshot;
use output_contract::{
    Attachment, Content, ContentBody, Digest, EmittedMessage, EmittedRole, HistoryItem, Status,
    Structured,
};
use output_retention::{ARTIFACT_READ_OMITTED, Place, Reference};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::sample::{
    World, assistant, call, call_id, cut_short, edited, failed, result, saved, session, text, user,
};

/// Lines of ours, with digests that are told apart by number.
fn readable(pruned: &Pruned<HistoryItem>) -> String {
    let mut digests: Vec<String> = Vec::new();
    let results = pruned.items.iter().filter(|item| matches!(item, HistoryItem::ToolResult(_)));
    let mut lines: Vec<String> = results.map(text).collect();
    for line in &mut lines {
        while let Some(at) = line.find("artifact://").map(|at| at + "artifact://".len()) {
            let digest = line[at..at + 64].to_owned();
            let known = digests.iter().position(|known| *known == digest);
            let number = known.unwrap_or_else(|| {
                digests.push(digest);
                digests.len() - 1
            });
            line.replace_range(at - "artifact://".len()..at + 64, &format!("artifact:<{number}>"));
        }
    }
    lines.join("\n")
}

#[tokio::test]
async fn artifact_reads_are_known_by_tool_and_argument() {
    let uri = format!("artifact://{}", Digest::EMPTY);
    let object = |path: &str| json!({ "filePath": path, "offset": 3, "limit": 200 });
    let upper = uri.replace("artifact", "ARTIFACT");
    let table: Vec<(&str, Value, bool)> = vec![
        ("read", json!({ "filePath": uri }), true),
        ("read", object(&format!("{uri}/stdout")), true),
        ("read", object(&upper), true),
        ("read", object("Artifact:nonsense"), true),
        ("read", Value::String(object(&uri).to_string()), true),
        ("read", json!({ "filePath": "notes.txt" }), false),
        ("read", json!({ "filePath": "./artifact:x" }), false),
        ("read", json!({ "filePath": format!("/tmp/{uri}") }), false),
        ("read", json!({ "filepath": uri, "path": uri }), false),
        ("read", json!({ "filePath": [uri] }), false),
        ("read", json!({ "input": { "filePath": uri } }), false),
        ("read", json!([{ "filePath": uri }]), false),
        ("read", Value::String(format!("filePath: {uri}")), false),
        ("read", Value::Null, false),
        ("Read", object(&uri), false),
        ("myread", object(&uri), false),
        ("read_tool_result", object(&uri), false),
        ("bash", json!({ "command": format!("overspill read {uri}") }), false),
    ];
    for (tool, arguments, is_artifact_read) in table {
        let items = [
            call("1", tool, arguments.clone()),
            result("1", tool, &format!("a page that names {uri}\n")),
        ];
        let pruned = World::new().prune(&items).await;
        assert_eq!(pruned.items[0], items[0], "arguments are never touched");
        let text = text(&pruned.items[1]);
        assert_eq!(text == ARTIFACT_READ_OMITTED, is_artifact_read, "{tool} {arguments}");
        assert_eq!(Reference::parse(&text).is_some(), !is_artifact_read, "{tool} {arguments}");
        let touched = (pruned.report.omitted, pruned.report.references);
        assert_eq!(touched, if is_artifact_read { (1, 0) } else { (0, 1) });
    }
}

#[tokio::test]
async fn a_reader_under_another_name_is_one_and_is_named() {
    let world = World::new();
    let options = PruneOptions { reader: "fetch".parse().unwrap() };
    let uri = format!("artifact://{}", Digest::EMPTY);
    let items = [
        call("1", "fetch", json!({ "filePath": uri })),
        result("1", "fetch", "page"),
        call("2", "read", json!({ "filePath": uri })),
        result("2", "read", "page"),
        result("3", "bash", "output"),
    ];
    let cancel = CancellationToken::new();
    let pruned = prune(&items, &options, &*world.retainer, &cancel).await.unwrap();
    assert_eq!(text(&pruned.items[1]), ARTIFACT_READ_OMITTED);
    assert_eq!(text(&pruned.items[3]), ARTIFACT_READ_OMITTED);
    assert!(text(&pruned.items[4]).contains("fetch(filePath=\"artifact://"));
    // A copy is known as one whatever the reader is called.
    assert_eq!(world.prune(&pruned.items).await.items, pruned.items);
}

#[tokio::test]
async fn nothing_of_an_artifact_read_is_left_but_its_pairing_and_status() {
    let world = World::new();
    let secret = "what was read";
    let read = edited(failed(result("1", "read", secret), 1), |result| {
        result.content.push(Content::from(ContentBody::Attachment(Attachment {
            media_type: "image/png".to_owned(),
            artifact: Some(Digest::EMPTY),
            bytes: 7,
            name: Some(secret.to_owned()),
        })));
        result.structured = Some(Structured::Inline(json!(secret)));
        result.metadata.insert("page".to_owned(), json!(secret));
        result.display = secret.to_owned();
        let (role, text) = (EmittedRole::User, secret.to_owned());
        result.emitted.push(EmittedMessage { role, text });
    });
    let uri = format!("artifact://{}/stdout", Digest::EMPTY);
    let items = [call("1", "read", json!({ "filePath": uri })), read.clone()];
    let pruned = world.prune(&items).await;
    assert!(!saved(&pruned.items).contains(secret));
    assert_eq!(world.memory.len(), 0, "nothing of it is stored again");
    let HistoryItem::ToolResult(after) = &pruned.items[1] else { panic!() };
    assert_eq!((&after.call_id, after.status), (&call_id("1"), Status::Failed));

    // Of anything else, what the tool said in the user's place is no output.
    let ordinary = world.prune(&[edited(read, |result| result.tool = "x".parse().unwrap())]).await;
    let HistoryItem::ToolResult(after) = &ordinary.items[0] else { panic!() };
    assert_eq!(after.emitted.len(), 1);
    assert!(after.structured.is_none() && after.metadata.is_empty() && after.display.is_empty());
}

#[tokio::test]
async fn references_by_what_they_stand_for() {
    let world = World::new();
    let expired = world.stored("old", &[("stdout", "gone\n")]).await;
    world.store.release(&session(), Some(&call_id("old"))).await.unwrap();
    let now = CollectOptions { grace: Duration::ZERO, dry_run: false, force: false };
    world.store.collect(now).await.unwrap();
    let streams = [("stdout", "one\ntwo\n"), ("stderr", "")];
    let lost = edited(result("5", "bash", "[stdout]\nonly what was shown"), |result| {
        let HistoryItem::ToolResult(whole) = &expired else { panic!() };
        result.output = whole.output.clone();
        result.output.streams[0].artifact = None;
        result.output.streams[0].seen_bytes = Some(99);
    });
    let items = [
        user("go"),
        world.stored("1", &streams).await,
        failed(world.stored("2", &streams).await, 3),
        cut_short(world.stored("3", &streams).await, Status::TimedOut),
        expired,
        lost,
        result("6", "read", "a file\nof two lines\n"),
        result("7", "read", "ok"),
        edited(result("8", "shot", "see"), |result| {
            result.content.push(Content::from(ContentBody::Attachment(Attachment {
                media_type: "image/png".to_owned(),
                artifact: None,
                bytes: 7,
                name: None,
            })));
            result.structured = Some(Structured::Inline(json!({ "width": 3 })));
        }),
        assistant("done"),
    ];
    let opened = world.store.opens();
    let pruned = world.prune(&items).await;
    assert_eq!(world.store.opens(), opened, "no artifact is opened");
    assert_snapshot!(readable(&pruned), @r#"
    [tool output omitted for compaction: stdout 8 bytes, 2 lines, read(filePath="artifact:<0>/stdout"); stderr 0 bytes]
    [tool output omitted for compaction: stdout 8 bytes, 2 lines, read(filePath="artifact:<0>/stdout"); stderr 0 bytes; exit code: 3]
    [tool output omitted for compaction: stdout 8 bytes, 2 lines, read(filePath="artifact:<0>/stdout"); stderr 0 bytes; timed out; output incomplete]
    [tool output omitted for compaction: stdout 5 bytes, 1 lines, expired]
    [tool output omitted for compaction: stdout 99 bytes, not kept; 28 bytes, 2 lines, read(filePath="artifact:<1>")]
    [tool output omitted for compaction: 20 bytes, 2 lines, read(filePath="artifact:<2>")]
    [tool output omitted for compaction: 2 bytes, 1 lines, read(filePath="artifact:<3>")]
    [tool output omitted for compaction: image/png 7 bytes, not kept; 3 bytes, 1 lines, read(filePath="artifact:<4>"); application/json 11 bytes, read(filePath="artifact:<5>")]
    "#);
    assert_eq!((pruned.items[0].clone(), pruned.items[9].clone()), (user("go"), assistant("done")));
    let report = pruned.report;
    assert_eq!((report.references, report.omitted, report.left_alone), (8, 0, 0));
    assert_eq!((report.retained, report.expired), (5, 1));
    assert_eq!(report.before.bytes, items.iter().map(|item| item.bytes() as u64).sum::<u64>());
}

#[tokio::test]
async fn an_empty_output_is_not_made_larger() {
    let world = World::new();
    let items = [
        result("1", "bash", ""),
        edited(result("2", "bash", ""), |result| result.content.clear()),
        failed(world.stored("3", &[("stdout", ""), ("stderr", "")]).await, 1),
    ];
    let pruned = world.prune(&items).await;
    assert_eq!(saved(&pruned.items), saved(&items));
    assert_eq!((pruned.report.touched(), pruned.report.left_alone), (0, 3));
}

#[tokio::test]
async fn lines_of_ours_are_left_alone_only_where_they_are_all_there_is() {
    let world = World::new();
    let once = world.prune(&[result("1", "bash", "some output")]).await;
    let line = text(&once.items[0]);
    let whole = [result("1", "bash", &line), result("2", "bash", ARTIFACT_READ_OMITTED)];
    let again = world.prune(&whole).await;
    assert_eq!(saved(&again.items), saved(&whole));
    assert!(!again.report.made_progress());
    for forged in [format!("{line}\n"), format!("ok\n{line}"), format!("{ARTIFACT_READ_OMITTED}.")]
    {
        let pruned = world.prune(&[result("1", "bash", &forged)]).await;
        let Some(Reference { parts, .. }) = Reference::parse(&text(&pruned.items[0])) else {
            panic!("{forged}")
        };
        let Place::Stored(uri) = &parts[0].place else { panic!("{forged}") };
        assert_eq!(world.read(uri).await, forged.as_bytes());
    }
}

#[tokio::test]
async fn what_is_retained_is_kept_for_the_session_and_only_once() {
    let world = World::new();
    let items: Vec<HistoryItem> = (0..200)
        .map(|n| result(&n.to_string(), "grep", &format!("output {}\n", n % 150)))
        .collect();
    let first = world.prune(&items).await;
    assert_eq!((first.report.retained, world.memory.len()), (200, 150));
    let roots = world.memory.roots(&session());
    assert!(roots.len() > 1, "in batches");
    assert_eq!(world.prune(&items).await.items, first.items);
    assert_eq!(world.memory.roots(&session()), roots, "under the same calls");
    let now = CollectOptions { grace: Duration::ZERO, dry_run: false, force: false };
    assert_eq!(world.store.collect(now).await.unwrap().removed, 0);
}

#[tokio::test]
async fn a_store_that_cannot_tell_what_it_has_ends_it() {
    let world = World::new();
    let items = [world.stored("1", &[("out", "x")]).await];
    world.store.fail_has(1.., || OpenError::Backend("down".into()));
    let cancel = CancellationToken::new();
    let pruned = prune(&items, &PruneOptions::default(), &*world.retainer, &cancel).await;
    assert!(pruned.is_err());
}
