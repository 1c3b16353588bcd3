//! What holds of any history.

use output_contract::{HistoryItem, Status};
use output_retention::{ARTIFACT_READ_OMITTED, Place, Reference, is_pruned_output};
use proptest::prelude::*;
use serde_json::json;

use crate::sample::{World, assistant, call, cut_short, failed, result, saved, summary, user};

/// A history of calls and results in any order, with ids that repeat and that
/// have no partner.
fn any_history() -> impl Strategy<Value = Vec<HistoryItem>> {
    let id = (0..4_u8).prop_map(|id| id.to_string());
    let path = prop_oneof![
        Just("artifact://x".to_owned()),
        Just("ARTIFACT:y/z".to_owned()),
        Just("./artifact:x".to_owned()),
        "[a-z./]{1,8}",
    ];
    let tool = prop::sample::select(vec!["read", "bash", "Read"]);
    let output = prop_oneof![
        Just(String::new()),
        Just(ARTIFACT_READ_OMITTED.to_owned()),
        Just(format!("{ARTIFACT_READ_OMITTED}\n")),
        "[ -~\n]{1,40}",
        "\\PC{0,20}",
    ];
    let item = prop_oneof![
        1 => Just(user("next")),
        1 => Just(assistant("done")),
        1 => Just(summary("before")),
        4 => (id.clone(), tool.clone(), path).prop_map(|(id, tool, path)| {
            call(&id, tool, json!({ "filePath": path, "n": 1.0 }))
        }),
        4 => (id, tool, output, 0..3_u8).prop_map(|(id, tool, output, ended)| {
            let result = result(&id, tool, &output);
            match ended {
                0 => result,
                1 => failed(result, 2),
                _ => cut_short(result, Status::Cancelled),
            }
        }),
    ];
    prop::collection::vec(item, 0..24)
}

/// All of an item but its output.
fn skeleton(item: &HistoryItem) -> String {
    let mut item = item.clone();
    if let HistoryItem::ToolResult(result) = &mut item {
        result.content.clear();
    }
    serde_json::to_string(&item).unwrap()
}

async fn check(history: Vec<HistoryItem>) {
    let before = saved(&history);
    let world = World::new();
    let once = world.prune(&history).await;
    assert_eq!(saved(&history), before, "the original");

    let skeletons = |items: &[HistoryItem]| items.iter().map(skeleton).collect::<Vec<_>>();
    assert_eq!(skeletons(&once.items), skeletons(&history), "nothing but outputs differs");
    for (before, after) in history.iter().zip(&once.items) {
        let (HistoryItem::ToolResult(before), HistoryItem::ToolResult(after)) = (before, after)
        else {
            continue;
        };
        let text = after.text();
        assert!(is_pruned_output(&text) || text.is_empty(), "{text}");
        let Some(Reference { parts, ended }) = Reference::parse(&text) else { continue };
        let expect = (before.status != Status::Completed).then_some(before.status);
        assert_eq!((ended.status, ended.exit), (expect, before.exit));
        for part in parts {
            let Place::Stored(uri) = &part.place else { panic!("{text}") };
            let stored = world.read(uri).await;
            assert_eq!(stored, before.text().as_bytes(), "it reads back");
            assert_eq!(part.bytes, stored.len() as u64);
        }
    }

    let twice = world.prune(&once.items).await;
    assert_eq!(saved(&twice.items), saved(&once.items), "a second time changes nothing");
    assert_eq!((twice.report.touched(), twice.report.retained), (0, 0));
    assert!(!twice.report.made_progress());
}

proptest! {
    #[test]
    fn any_history_prunes_to_itself_with_other_outputs(history in any_history()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(check(history));
    }
}
