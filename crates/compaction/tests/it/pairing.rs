//! Calls and results find each other by id, whatever their order.

use output_contract::HistoryItem;
use serde_json::json;

use crate::sample::{World, call, result, text, user};

const READ: &str = "artifact://x";
const OMITTED: &str = "[artifact read output omitted for compaction]";

/// Reads an artifact.
fn artifact(id: &str) -> HistoryItem {
    call(id, "read", json!({ "filePath": READ }))
}

/// Reads a file.
fn file(id: &str) -> HistoryItem {
    call(id, "read", json!({ "filePath": "x" }))
}

fn output(id: &str) -> HistoryItem {
    result(id, "read", "some content")
}

/// What became of the results, in order: `m` the marker, `r` a reference.
async fn check(items: &[HistoryItem], expect: &str) {
    let pruned = World::new().prune(items).await.items;
    let kinds: String = pruned
        .iter()
        .filter(|item| matches!(item, HistoryItem::ToolResult(_)))
        .map(|item| if text(item) == OMITTED { 'm' } else { 'r' })
        .collect();
    assert_eq!(kinds, expect, "{items:?}");
    for (before, after) in items.iter().zip(&pruned) {
        match (before, after) {
            (HistoryItem::ToolResult(before), HistoryItem::ToolResult(after)) => {
                assert_eq!(before.call_id, after.call_id);
            }
            (before, after) => assert_eq!(before, after),
        }
    }
}

#[tokio::test]
async fn parallel_calls_whose_results_come_in_another_order() {
    let calls = [artifact("1"), file("2"), artifact("3")];
    for (order, expect) in [
        (["1", "2", "3"], "mrm"),
        (["3", "2", "1"], "mrm"),
        (["2", "3", "1"], "rmm"),
        (["1", "3", "2"], "mmr"),
    ] {
        let results = order.map(output);
        check(&[calls.as_slice(), &results].concat(), expect).await;
        let apart = [&calls[..], &[user("meanwhile")], &results].concat();
        check(&apart, expect).await;
    }
}

#[tokio::test]
async fn an_id_that_is_used_again_pairs_again() {
    check(&[artifact("1"), output("1"), file("1"), output("1")], "mr").await;
    check(&[file("1"), output("1"), artifact("1"), output("1")], "rm").await;
    check(&[artifact("1"), file("1"), output("1"), output("1")], "mr").await;
}

#[tokio::test]
async fn orphans_stay_orphans() {
    check(&[output("9")], "r").await;
    check(&[artifact("1")], "").await;
    check(&[artifact("1"), artifact("2"), output("3"), output("2")], "rm").await;
    // A result that is there before its call is still its result.
    check(&[output("1"), artifact("1")], "m").await;
    check(&[output("1"), artifact("1"), output("1"), file("1")], "mr").await;
}
