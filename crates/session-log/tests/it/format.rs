//! The saved format. History:
//!
//! - 2026-11: the first. There is no version: events only gain fields and
//!   kinds, and `fixtures/` keeps a log of each time that they did.
//! - 2026-11, checked: records end with `check` (module `check`).
//! - 2026-11, forks: sessions that are forked, reverted and compacted.

use output_contract::{
    Attachment, Content, ContentBody, Digest, EmittedMessage, EmittedRole, Exit, HistoryItem,
    IncompleteReason, OutputDeclaration, SavedEvent, Status, Structured, Timestamp,
};
use serde_json::json;
use session_log::{ForkPoint, SessionRecords, SkipReason, replay};

use crate::sample::{TempLogs, call, result, session, started};

#[test]
fn a_log_is_golden() {
    let logs = TempLogs::new();
    let id = session("2026-11-30 é");
    let mut start = started(id.as_str(), "1", json!({"command": "make", "n": [1.5, null]}));
    if let SavedEvent::CallStarted { output, parent_call_id, .. } = &mut start {
        *output = Some(OutputDeclaration::named(["stdout", "stderr"]).unwrap());
        *parent_call_id = Some(call("0"));
    }
    let mut end = result(id.as_str(), "1", "[stdout]\na\u{2028}\"b\"\n");
    end.status = Status::TimedOut;
    end.exit = Some(Exit::Signal(9));
    end.timeout_ms = Some(30_000);
    end.incomplete = Some(IncompleteReason::TimedOut.into());
    end.content.push(Content::from(ContentBody::Attachment(Attachment {
        media_type: "image/png".to_owned(),
        artifact: Some(Digest::EMPTY),
        bytes: 0,
        name: None,
    })));
    end.structured = Some(Structured::Inline(json!({"type": "item"})));
    end.display = "make".to_owned();
    end.metadata.insert("k".to_owned(), json!(1));
    end.emitted.push(EmittedMessage { role: EmittedRole::User, text: "hi".to_owned() });
    let summary = HistoryItem::Summary { text: "so far".to_owned() };
    for event in [
        start,
        SavedEvent::CallFinished { result: Box::new(end), at: Timestamp(2) },
        SavedEvent::Item { item: summary, at: Timestamp(3) },
        SavedEvent::SessionForked { from: session("other"), at: 1234, time: Timestamp(4) },
        SavedEvent::Reverted { to: 99, time: Timestamp(5) },
        SavedEvent::Compacted {
            summary: "all of it".to_owned(),
            retained_from: 512,
            time: Timestamp(6),
        },
    ] {
        logs.append_blocking(&id, &event).unwrap();
    }
    insta::assert_snapshot!(fs_err::read_to_string(logs.path(&id)).unwrap());
    assert_eq!(logs.read(&id).unwrap().diagnostics, []);
}

#[test]
fn a_checked_log_is_read() {
    let log = include_bytes!("fixtures/2026-11-checked.jsonl");
    let records = SessionRecords::parse(log);
    assert_eq!((records.events.len(), records.diagnostics), (4, Vec::new()));
    // Valid JSON, and not what was written.
    let changed = String::from_utf8_lossy(log).replace("so far", "so fat");
    let records = SessionRecords::parse(changed.as_bytes());
    let skipped: Vec<_> = records.diagnostics.iter().map(|s| (s.line, s.reason.clone())).collect();
    assert_eq!((records.events.len(), skipped), (3, vec![(4, SkipReason::Check)]));
}

#[test]
fn a_log_of_an_old_version_is_read() {
    let log = include_bytes!("fixtures/2026-11-first.jsonl");
    let records = SessionRecords::parse(log);
    let skipped: Vec<_> =
        records.diagnostics.iter().map(|s| format!("{}: {}", s.line, s.reason)).collect();
    insta::assert_snapshot!(skipped.join("\n"), @r#"
    6: unknown event type "output_compacted"
    8: not a JSON object: expected `,` or `}` at line 1 column 111
    9: the last record is unfinished
    "#);

    let replay = replay(records);
    assert_eq!(replay.session, Some(session("2026-11-02")));
    assert_eq!(replay.conflicts, []);
    let told: Vec<_> = replay
        .calls
        .iter()
        .map(|c| format!("{} {}: {:?} {:?}", c.call_id, c.tool, c.text(), c.display()))
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    call-1 bash: Some("[stdout]\nline 1\n\n[stderr]\n[exit code: 2]") Some("make: exit 2")
    call-2 read_tool_result: Some("line 2001\n") Some("")
    call-4 bash: None None
    "#);
    let items: Vec<_> = replay.items.iter().map(|i| i.after_calls).collect();
    assert_eq!(items, [2, 3]);
    let streams = &replay.calls[0].result().unwrap().output.streams;
    assert_eq!((streams[0].bytes, streams[1].lines), (120_000, 0));
    assert_eq!(replay.calls[2].started_at, Timestamp(0));
}

#[test]
fn a_log_with_forks_and_reverts_is_read() {
    let records = SessionRecords::parse(include_bytes!("fixtures/2026-11-forks.jsonl"));
    assert_eq!(records.diagnostics, []);
    let replay = replay(records);
    assert_eq!(replay.forked, Some(ForkPoint { from: session("2026-11-29"), at: 1_203 }));
    assert!(!replay.inherits(), "a summary stands for it");
    let told: Vec<_> = replay
        .history()
        .into_iter()
        .map(|active| match active.item {
            HistoryItem::ToolCall { call_id, .. } => format!("{}: {call_id}", active.position),
            HistoryItem::ToolResult(result) => format!("{}: {:?}", active.position, result.text()),
            HistoryItem::Summary { text } => format!("{}: {text}", active.position),
            HistoryItem::Message { .. } => format!("{}: said", active.position),
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    1030: so far
    236: "one\n"
    954: said
    1098: 3
    "#);
}
