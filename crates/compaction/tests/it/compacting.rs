//! Every way in which a compaction ends, by a summariser that follows a script.

use std::sync::Arc;

use artifacts::PublishError;
use compaction::{CompactOptions, Compacted, Compactor, PruneOptions, Unchanged};
use output_contract::HistoryItem;
use output_retention::is_pruned_output;
use serde_json::json;
use testkit::{ScriptedSummarizer, SummarizerAnswer};
use tokio_util::sync::CancellationToken;

use crate::sample::{World, assistant, call, result, saved, session, summary, text, user};
use SummarizerAnswer::{CancelAndHang, ContextLength, DoesNotFit, Fail, NotText, Text};

/// Two turns, each with a long output, after a summary of what came before.
fn history() -> Vec<HistoryItem> {
    let long = "one line of many\n".repeat(100);
    vec![
        summary("before: the project was set up"),
        user("run the tests"),
        call("1", "bash", json!({ "command": "cargo test" })),
        result("1", "bash", &long),
        assistant("they pass"),
        user("and the docs"),
        call("2", "read", json!({ "filePath": "docs/a.md" })),
        result("2", "read", &long),
        assistant("they are fine"),
    ]
}

struct Ran {
    outcome: Result<Compacted, Unchanged>,
    asked: Vec<Vec<HistoryItem>>,
    world: World,
}

async fn run(
    history: &[HistoryItem],
    keep_turns: usize,
    answers: Vec<SummarizerAnswer>,
    cancel: &CancellationToken,
) -> Ran {
    let world = World::new();
    let summarizer = Arc::new(ScriptedSummarizer::new(answers));
    let options = CompactOptions { keep_turns, prune: PruneOptions::default() };
    let compactor = Compactor::new(summarizer.clone(), world.retainer.clone(), options);
    let before = saved(history);
    let outcome = compactor.compact(history, cancel).await;
    assert_eq!(saved(history), before, "the saved history");
    Ran { outcome, asked: summarizer.asked(), world }
}

fn name(outcome: &Result<Compacted, Unchanged>) -> &'static str {
    match outcome {
        Ok(Compacted { report, .. }) if report.pruned.is_some() => "compacted after pruning",
        Ok(_) => "compacted",
        Err(Unchanged::NothingToCompact) => "nothing to compact",
        Err(Unchanged::ContextLength) => "context length",
        Err(Unchanged::DoesNotFit) => "does not fit",
        Err(Unchanged::NoProgress { .. }) => "no progress",
        Err(Unchanged::EmptySummary) => "empty",
        Err(Unchanged::NotText) => "not text",
        Err(Unchanged::Summarizer(_)) => "failed",
        Err(Unchanged::Retain(_)) => "not retained",
        Err(Unchanged::Cancelled) => "cancelled",
        Err(other) => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn every_script_ends_as_it_must() {
    let token = CancellationToken::new;
    let (hang, hang_later) = (token(), token());
    let done = || Text("all is well".to_owned());
    let table: Vec<(Vec<SummarizerAnswer>, CancellationToken, usize, &str)> = vec![
        (vec![done()], token(), 1, "compacted"),
        (vec![ContextLength, done()], token(), 2, "compacted after pruning"),
        (vec![DoesNotFit, done()], token(), 2, "compacted after pruning"),
        (vec![ContextLength, ContextLength, done()], token(), 2, "context length"),
        (vec![DoesNotFit, ContextLength, done()], token(), 2, "context length"),
        (vec![ContextLength, DoesNotFit, done()], token(), 2, "does not fit"),
        (vec![Fail("the network is down"), done()], token(), 1, "failed"),
        (vec![ContextLength, Fail("the network is down"), done()], token(), 2, "failed"),
        (vec![Text(String::new()), done()], token(), 1, "empty"),
        (vec![Text(" \n\t".to_owned()), done()], token(), 1, "empty"),
        (vec![ContextLength, Text(String::new())], token(), 2, "empty"),
        (vec![NotText, done()], token(), 1, "not text"),
        (vec![ContextLength, NotText], token(), 2, "not text"),
        (vec![CancelAndHang(hang.clone()), done()], hang, 1, "cancelled"),
        (vec![ContextLength, CancelAndHang(hang_later.clone())], hang_later, 2, "cancelled"),
        (vec![Text("x".repeat(10_000))], token(), 1, "no progress"),
    ];
    let history = history();
    for (answers, cancel, asks, expect) in table {
        let script = format!("{answers:?}");
        let Ran { outcome, asked, .. } = run(&history, 1, answers, &cancel).await;
        assert_eq!((name(&outcome), asked.len()), (expect, asks), "{script}");
        assert_eq!(saved(&asked[0]), saved(&history), "the first trial is all of it: {script}");
        if let Ok(Compacted { summary, retained_from, report, .. }) = outcome {
            assert_eq!((summary.as_str(), retained_from), ("all is well", 5), "{script}");
            assert!(report.after.bytes < report.before.bytes, "{script}");
            assert_eq!(report.before.estimated_tokens, report.before.bytes.div_ceil(4), "{script}");
        }
        if let Some(retry) = asked.get(1) {
            assert_eq!(retry.len(), history.len(), "{script}");
            assert!(is_pruned_output(&text(&retry[3])), "old outputs: {script}");
            assert!(is_pruned_output(&text(&retry[7])), "and those that are kept: {script}");
        }
    }
}

#[tokio::test]
async fn a_token_that_is_cancelled_already_asks_for_nothing() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let ran = run(&history(), 1, vec![Text("unused".to_owned())], &cancel).await;
    assert_eq!((name(&ran.outcome), ran.asked.len()), ("cancelled", 0));
}

#[tokio::test]
async fn what_was_discarded_is_not_resurrected() {
    let mut whole_log = vec![
        user("long ago"),
        call("0", "bash", json!({})),
        result("0", "bash", &"discarded ".repeat(50)),
    ];
    let active = history();
    whole_log.extend(active.clone());
    let cancel = CancellationToken::new();
    let answers = vec![ContextLength, Text("short".to_owned())];
    let Ran { outcome, asked, world } = run(&whole_log, 1, answers, &cancel).await;
    assert_eq!(outcome.unwrap().retained_from, 3 + 5, "an index into what was given");
    for asked in asked {
        assert!(!saved(&asked).contains("discarded") && !saved(&asked).contains("long ago"));
        assert_eq!(saved(&asked[..2]), saved(&active[..2]), "the prior summary comes first");
    }
    let kept = world.memory.roots(&session());
    assert!(kept.into_values().flatten().all(|digest| {
        !String::from_utf8_lossy(&world.memory.stored(digest).unwrap()).contains("discarded")
    }));
}

#[tokio::test]
async fn a_history_of_which_all_is_kept_is_left_as_it_is() {
    let cancel = CancellationToken::new();
    for (history, keep) in [
        (vec![], 0),
        (vec![summary("before")], 0),
        (history(), 2),
        (history(), 9),
        (vec![call("1", "bash", json!({}))], 0),
    ] {
        let ran = run(&history, keep, vec![Text("unused".to_owned())], &cancel).await;
        assert_eq!((name(&ran.outcome), ran.asked.len()), ("nothing to compact", 0), "{history:?}");
    }
}

#[tokio::test]
async fn pruning_that_frees_nothing_is_no_progress() {
    let cancel = CancellationToken::new();
    let history = [user("hello"), assistant(&"words ".repeat(500)), user("go on")];
    let answers = vec![ContextLength, Text("unused".to_owned())];
    let ran = run(&history, 1, answers, &cancel).await;
    assert_eq!((name(&ran.outcome), ran.asked.len()), ("no progress", 1));
}

#[tokio::test]
async fn an_output_that_cannot_be_kept_ends_it() {
    let world = World::new();
    world.store.fail_publish(1.., || PublishError::Backend("no space left".into()));
    let history = history();
    let before = saved(&history);
    let summarizer = Arc::new(ScriptedSummarizer::new([ContextLength, Text("unused".to_owned())]));
    let compactor =
        Compactor::new(summarizer.clone(), world.retainer.clone(), CompactOptions::default());
    let outcome = compactor.compact(&history, &CancellationToken::new()).await;
    assert_eq!((name(&outcome), summarizer.asked().len()), ("not retained", 1));
    assert_eq!(saved(&history), before);
}
