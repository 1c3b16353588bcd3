//! Damage to a session's log.

use artifacts::Durability;
use camino::Utf8Path;
use output_contract::{
    Content, OutputKind, ResultOutput, SavedEvent, Status, StreamRecord, Timestamp, ToolResult,
};
use session_log::SessionLogs;

use super::world::{Target, call, owner};

fn finished(id: &str, text: &str) -> SavedEvent {
    SavedEvent::CallFinished {
        result: Box::new(ToolResult {
            session_id: owner(),
            call_id: call(id),
            parent_call_id: None,
            tool: "bash".parse().unwrap(),
            status: Status::Completed,
            exit: None,
            timeout_ms: None,
            incomplete: None,
            output: ResultOutput {
                kind: OutputKind::Page,
                manifest: None,
                streams: Vec::<StreamRecord>::new(),
            },
            content: vec![Content::text(text)],
            structured: None,
            display: "what was shown".to_owned(),
            title: "a title".to_owned(),
            started_at: Timestamp(1),
            duration_ms: 1,
            metadata: [].into(),
            emitted: Vec::new(),
        }),
        at: Timestamp(2),
    }
}

#[test]
fn a_flipped_bit_in_a_log_is_found_or_does_no_harm() {
    let dir = tempfile::tempdir().unwrap();
    let dir = Utf8Path::from_path(dir.path()).unwrap().join("sessions");
    let logs = SessionLogs::open(dir, Durability::Fast).unwrap();
    for id in ["1", "2"] {
        logs.append_blocking(&owner(), &finished(id, "[stdout]\nsome \"text\"\n\n[stderr]"))
            .unwrap();
    }
    let whole = logs.read(&owner()).unwrap();
    assert_eq!((whole.events.len(), whole.diagnostics.len()), (3, 0));
    let target = Target::new(logs.path(&owner()));
    let mut harmless = 0;
    target.each(&target.all_bits(), |flip| {
        let read = logs.read(&owner()).unwrap();
        let events: Vec<_> = read.events.iter().map(|(_, event)| event).collect();
        if read.diagnostics.is_empty() {
            let whole: Vec<_> = whole.events.iter().map(|(_, event)| event).collect();
            assert_eq!(events, whole, "{flip}: not found");
            harmless += 1;
        } else {
            // One line, or two where the end of one was hit.
            assert!(events.len() >= whole.events.len() - 2, "{flip}");
            let known = |event| whole.events.iter().any(|(_, whole)| whole == event);
            assert!(events.into_iter().all(known), "{flip}: another event");
        }
    });
    println!("{harmless} of them did no harm");
}
