//! What is active of a session, through reverts and summaries.

use output_contract::{Content, HistoryItem, MessageRole, SavedEvent, Timestamp};
use proptest::prelude::*;
use serde_json::json;
use session_log::{Conflict, ForkPoint, Replay, replay};

use crate::sample::{finished, session, session_started, started};

/// Events from words, which are at their index: `u` the user says something,
/// `1` call 1 starts, `=1` it ends, `<3` back to position 3, `S` a summary of
/// all, `S3` a summary of what is before position 3.
fn events(words: &str) -> Vec<SavedEvent> {
    words.split_whitespace().map(event).collect()
}

fn event(word: &str) -> SavedEvent {
    let time = Timestamp(1);
    let number = |text: &str| text.parse().unwrap();
    if let Some(id) = word.strip_prefix('=') {
        finished("s", id, format!("output {id}"))
    } else if let Some(to) = word.strip_prefix('<') {
        SavedEvent::Reverted { to: number(to), time }
    } else if word == "S" {
        let item = HistoryItem::Summary { text: "all".to_owned() };
        SavedEvent::Item { item, at: time }
    } else if let Some(from) = word.strip_prefix('S') {
        SavedEvent::Compacted { summary: from.to_owned(), retained_from: number(from), time }
    } else if let Some(at) = word.strip_prefix('F') {
        SavedEvent::SessionForked { from: session("other"), at: number(at), time }
    } else if word == "u" {
        let item =
            HistoryItem::Message { role: MessageRole::User, content: vec![Content::text("go")] };
        SavedEvent::Item { item, at: time }
    } else {
        started("s", word, json!({ "command": "ls" }))
    }
}

/// The active history in the same words, summaries by what they say.
fn active(replay: &Replay) -> String {
    let word = |item: HistoryItem| match item {
        HistoryItem::Message { .. } => "u".to_owned(),
        HistoryItem::ToolCall { call_id, .. } => call_id.to_string(),
        HistoryItem::ToolResult(result) => format!("={}", result.call_id),
        HistoryItem::Summary { text } => format!("[{text}]"),
    };
    let inherited = replay.inherits().then(|| "F".to_owned());
    let own = replay.history().into_iter().map(|active| word(active.item));
    inherited.into_iter().chain(own).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(words: &str, expect: &str) {
    assert_eq!(active(&replay(events(words))), expect, "{words}");
}

#[test]
fn calls_results_and_items_are_in_the_order_in_which_they_were_saved() {
    check("u 1 2 =2 u =1 u", "u 1 2 =2 u =1 u");
    // A call whose start was lost has a result and no call.
    check("u =7 u", "u =7 u");
    check("1", "1");
}

#[test]
fn to_revert_is_to_have_the_history_of_then() {
    check("u 1 =1 u 2 =2 <3", "u 1 =1");
    check("u 1 =1 u 2 =2 <3 u 3", "u 1 =1 u 3");
    check("u 1 =1 <0", "");
    check("u 1 =1 <99", "u 1 =1");
    // To before a revert is to take it back.
    check("u 1 =1 <1 u <3", "u 1 =1");
    check("u 1 =1 <1 u <5", "u u");
    // A result that comes after its call was reverted comes alone.
    check("u 1 <1 =1", "u =1");
}

#[test]
fn a_summary_stands_for_what_is_before_it() {
    check("u 1 =1 u S u", "[all] u");
    check("u 1 =1 u 2 S3 =2 u", "[3] u 2 =2 u");
    check("u u S0", "[0] u u");
    check("u u S2", "[2]");
    // The next summary stands for the first one too, and for what that kept.
    check("u 1 =1 u S3 u u S5 u", "[5] u u u");
    check("u u u u S1 S2", "[2] u u");
    check("u u S1 S0", "[0] u");
    // To revert to before a summary is to have what it stood for again.
    check("u 1 =1 u S3 u <4", "u 1 =1 u");
    check("u 1 =1 u S3 u <2", "u 1");
}

#[test]
fn a_fork_inherits_unless_a_summary_stands_for_it() {
    check("F9 u 1", "F u 1");
    check("F9 u <1 u", "F u");
    check("F9 u S1 u", "[1] u u");
    check("F9 S", "[all]");
    let replay = replay(events("F9 u F3"));
    assert_eq!(replay.forked, Some(ForkPoint { from: session("other"), at: 9 }));
    assert_eq!(replay.conflicts, [Conflict::ForkedLate { from: session("other"), index: 2 }]);
}

#[test]
fn what_was_reverted_is_still_a_call() {
    let told = |words: &str| {
        let replay = replay(events(words));
        let reverted: Vec<_> = replay.reverted_calls().map(|call| call.text().unwrap()).collect();
        (replay.calls.len(), replay.active_calls().count(), reverted.join(" "))
    };
    assert_eq!(told("1 =1 2 =2 <2"), (2, 1, "output 2".to_owned()));
    assert_eq!(told("1 =1 2 =2 <2 3 =3"), (3, 2, "output 2".to_owned()));
    // What a summary stands for was not reverted, whatever it kept.
    assert_eq!(told("1 =1 2 =2 S2"), (2, 1, String::new()));
    assert_eq!(told("1 =1 2 =2 S 3 =3 <5"), (3, 0, "output 3".to_owned()));
    assert_eq!(told("1 =1 2 =2 S2 <2"), (2, 1, "output 2".to_owned()));
}

#[test]
fn positions_are_those_of_the_log() {
    let log = [(0, session_started("s")), (50, event("u")), (90, event("1"))];
    let told: Vec<u64> = replay(log).history().iter().map(|active| active.position).collect();
    assert_eq!(told, [50, 90]);
}

proptest! {
    /// A revert is the same as never having had what came after, whatever that is.
    #[test]
    fn reverting_is_forgetting(
        words in prop::collection::vec(
            prop::sample::select(vec!["u", "1", "=1", "2", "=2", "S", "S2", "S5", "<1", "<4"]),
            1..20,
        ),
        at in 0_usize..20,
    ) {
        let at = at.min(words.len());
        let whole = format!("{} <{at}", words.join(" "));
        let then = words[..at].join(" ");
        prop_assert_eq!(active(&replay(events(&whole))), active(&replay(events(&then))));
    }
}
