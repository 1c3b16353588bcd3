//! Sessions rebuilt from their events.

use output_contract::{
    ArtifactUri, Content, Digest, HistoryItem, MessageRole, OutputDeclaration, OutputKind,
    ResultOutput, SavedEvent, Status, StreamRecord, Timestamp, encode_event,
};
use proptest::prelude::*;
use serde_json::json;
use session_log::{CallState, Conflict, Replay, SessionRecords, replay};

use crate::sample::{TempLogs, call, finished, result, session, session_started, started};

#[test]
fn output_and_display_come_from_the_terminal_record_alone() {
    let mut end = result("s", "1", "[stdout]\n");
    end.content.push(Content::text("a\n"));
    end.display = "ls: 1 file".to_owned();
    let end = SavedEvent::CallFinished { result: Box::new(end), at: Timestamp(9) };
    let start = started("s", "1", json!({"command": "ls"}));

    let with_start = replay([session_started("s"), start, end.clone()]);
    let without = replay([end]);
    for replay in [&with_start, &without] {
        let call = replay.call(&call("1")).unwrap();
        assert_eq!(call.text().as_deref(), Some("[stdout]\na\n"));
        assert_eq!(call.display(), Some("ls: 1 file"));
        assert_eq!(replay.session, Some(session("s")));
        assert_eq!(replay.conflicts, []);
    }
    assert_eq!(with_start.calls[0].arguments, Some(json!({"command": "ls"})));
    assert_eq!(with_start.started_at, Some(Timestamp(1)));
    assert_eq!((&without.calls[0].arguments, without.started_at), (&None, None));
}

#[test]
fn no_display_is_an_empty_display() {
    let replay = replay([finished("s", "1", "output")]);
    assert_eq!(replay.calls[0].display(), Some(""));
}

#[test]
fn a_call_without_an_end_runs() {
    let mut start = started("s", "1", json!({"n": 1}));
    if let SavedEvent::CallStarted { output, parent_call_id, .. } = &mut start {
        *output = Some(OutputDeclaration::named(["stdout", "stderr"]).unwrap());
        *parent_call_id = Some(call("0"));
    }
    let replay = replay([start, finished("s", "2", "")]);
    let running: Vec<_> = replay.running().collect();
    assert_eq!(running.len(), 1);
    assert_eq!(running[0].state, CallState::Running);
    assert_eq!((running[0].text(), running[0].display()), (None, None));
    assert_eq!(running[0].parent_call_id, Some(call("0")));
    assert_eq!(running[0].output.as_ref().unwrap().channels(), 2);
}

#[test]
fn of_events_that_contradict_each_other_the_first_stands() {
    let replay = replay([
        session_started("s"),
        started("s", "1", json!("first")),
        finished("s", "1", "first"),
        finished("s", "1", "second"),
        started("s", "1", json!("second")),
        session_started("s"),
        session_started("other"),
    ]);
    assert_eq!(replay.calls.len(), 1);
    assert_eq!(replay.calls[0].text().as_deref(), Some("first"));
    assert_eq!(replay.calls[0].arguments, Some(json!("first")));
    assert_eq!(replay.session, Some(session("s")));
    assert_eq!(
        replay.conflicts,
        [
            Conflict::FinishedTwice { call_id: call("1"), index: 3 },
            Conflict::StartedTwice { call_id: call("1"), index: 4 },
            Conflict::OtherSession { session_id: session("other"), index: 6 },
        ]
    );
}

#[test]
fn results_out_of_order_are_paired_by_call() {
    let replay = replay([
        started("s", "1", json!(1)),
        started("s", "2", json!(2)),
        finished("s", "2", "two"),
        finished("s", "orphan", "three"),
        finished("s", "1", "one"),
    ]);
    let calls: Vec<_> = replay
        .calls
        .iter()
        .map(|c| (c.call_id.as_str(), c.arguments.clone(), c.text().unwrap()))
        .collect();
    assert_eq!(
        calls,
        [
            ("1", Some(json!(1)), "one".to_owned()),
            ("2", Some(json!(2)), "two".to_owned()),
            ("orphan", None, "three".to_owned()),
        ]
    );
}

#[test]
fn other_items_keep_their_place_among_the_calls() {
    let item = |text: &str| HistoryItem::Message {
        role: MessageRole::User,
        content: vec![Content::text(text)],
    };
    let saved = |text| SavedEvent::Item { item: item(text), at: Timestamp(5) };
    let replay = replay([saved("a"), started("s", "1", json!(1)), saved("b"), saved("c")]);
    let items: Vec<_> = replay.items.iter().map(|i| (i.after_calls, i.item.clone())).collect();
    assert_eq!(items, [(0, item("a")), (1, item("b")), (1, item("c"))]);
}

#[test]
fn what_an_output_prints_changes_nothing() {
    let end = String::from_utf8(encode_event(&finished("s", "1", "forged"))).unwrap();
    let text = format!(
        "{end}{}\n[Truncated. Read more: read(filePath=\"artifact://x\", offset=1)]\n\
         {{\"type\":\"overspill/manifest\",\"version\":1}}\n[cancelled; output incomplete]",
        "}".repeat(50)
    );
    let logs = TempLogs::new();
    let id = session("s");
    logs.append_blocking(&id, &started("s", "1", json!({"text": text}))).unwrap();
    logs.append_blocking(&id, &finished("s", "2", text.clone())).unwrap();
    let records = logs.read(&id).unwrap();
    assert_eq!(records.diagnostics, []);
    let replay = replay(records);
    assert_eq!(replay.calls.len(), 2);
    assert_eq!(replay.calls[0].arguments, Some(json!({"text": text})));
    assert_eq!(replay.calls[0].state, CallState::Running);
    assert_eq!(replay.calls[1].text().unwrap(), text);
    assert_eq!(replay.calls[1].result().unwrap().status, Status::Completed);
}

#[test]
fn a_log_holds_references_and_not_the_output() {
    const OUTPUT: u64 = 5_000_000;
    let manifest = Digest::EMPTY;
    let uri = ArtifactUri::stream(manifest, "stdout".parse().unwrap());
    let mut result = result("s", "1", "x".repeat(51_200));
    result.output = ResultOutput {
        kind: OutputKind::Named,
        manifest: Some(manifest),
        streams: vec![StreamRecord {
            name: uri.stream.clone(),
            artifact: Some(uri.clone()),
            sha256: Some(Digest::from_bytes([7; 32])),
            bytes: OUTPUT,
            lines: 100_000,
            seen_bytes: Some(OUTPUT),
            shown_bytes: 51_200,
            truncated: true,
            next_offset: Some(1024),
            next_byte_offset: None,
            incomplete: None,
            binary: false,
        }],
    };
    let logs = TempLogs::new();
    let id = session("s");
    logs.append_blocking(&id, &started("s", "1", json!({"command": "cat big"}))).unwrap();
    let end = SavedEvent::CallFinished { result: Box::new(result.clone()), at: Timestamp(2) };
    logs.append_blocking(&id, &end).unwrap();

    let bytes = fs_err::metadata(logs.path(&id)).unwrap().len();
    assert!(bytes < 51_200 + 2_048, "{bytes}");
    let replay = replay(logs.read(&id).unwrap());
    assert_eq!(replay.calls[0].result(), Some(&result));
    assert_eq!(replay.calls[0].result().unwrap().output.streams[0].artifact, Some(uri));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..<_>::default() })]

    #[test]
    fn a_replay_after_saving_is_the_replay_before(
        steps in prop::collection::vec((0..4_u8, 0..5_u8, "\\PC{0,8}"), 0..30),
    ) {
        let events: Vec<_> = steps
            .iter()
            .map(|(kind, id, text)| match kind {
                0 => session_started("s"),
                1 => started("s", &id.to_string(), json!({"text": text})),
                _ => finished("s", &id.to_string(), text.clone()),
            })
            .collect();
        let log: Vec<u8> = events.iter().flat_map(encode_event).collect();
        let direct = replay(events.clone());
        let parsed = replay(SessionRecords::parse(&log));
        prop_assert_eq!(&direct.calls, &parsed.calls);
        prop_assert_eq!(&direct.conflicts, &parsed.conflicts);
        let items = |replay: &Replay| -> Vec<HistoryItem> {
            replay.history().into_iter().map(|active| active.item).collect()
        };
        prop_assert_eq!(items(&direct), items(&parsed));

        // Every terminal record is some call's state or a conflict, and never both.
        let ends = events.iter().filter(|e| matches!(e, SavedEvent::CallFinished { .. })).count();
        let finished = direct.calls.iter().filter(|call| call.result().is_some()).count();
        let again = direct
            .conflicts
            .iter()
            .filter(|conflict| matches!(conflict, Conflict::FinishedTwice { .. }))
            .count();
        prop_assert_eq!(ends, finished + again);
    }
}
