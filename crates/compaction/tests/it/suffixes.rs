//! What is kept after the summary: whole turns, and no call without its result.

use std::sync::Arc;

use compaction::{Arguments, Unchanged};
use compaction::{
    CallView, CompactOptions, Compactor, Ended, Item, ItemView, NewOutput, OutputView, ResultView,
};
use testkit::{ScriptedSummarizer, SummarizerAnswer};
use tokio_util::sync::CancellationToken;

use crate::sample::World;

/// An agent's own type: `I` instructions, `u` the user, `S` a summary, a digit a call of that id
/// and, after `=`, its result, `+` before an item that continues its message;
/// anything else is anything else.
#[derive(Debug, Clone, PartialEq)]
struct Word(String);

impl Item for Word {
    fn view(&self) -> ItemView<'_> {
        let word = self.0.trim_start_matches('+');
        match word.strip_prefix('=') {
            Some(id) => ItemView::Result(ResultView {
                call: Some(id),
                ended: Ended::default(),
                output: OutputView::of_text("output"),
            }),
            None if word == "u" => ItemView::User,
            None if word == "S" => ItemView::Summary,
            None if word == "I" => ItemView::Instructions,
            None if word.starts_with(|c: char| c.is_ascii_digit()) => ItemView::Call(CallView {
                id: Some(word),
                tool: "bash",
                arguments: Arguments::Text("{}".into()),
            }),
            None => ItemView::Other,
        }
    }

    fn bytes(&self) -> usize {
        100
    }

    fn with_output(&self, _output: NewOutput<'_>) -> Self {
        self.clone()
    }

    fn continues(&self) -> bool {
        self.0.starts_with('+')
    }
}

/// `history` has a `|` where the kept suffix must begin, or none where nothing
/// is to be compacted.
async fn check(keep_turns: usize, history: &str) {
    let items: Vec<Word> =
        history.split_whitespace().filter(|w| *w != "|").map(|w| Word(w.to_owned())).collect();
    let expect = history.split_whitespace().position(|word| word == "|");
    let summarizer = Arc::new(ScriptedSummarizer::new([SummarizerAnswer::Text("s".to_owned())]));
    let options = CompactOptions { keep_turns, ..CompactOptions::default() };
    let compactor = Compactor::new(summarizer, World::new().retainer, options);
    match compactor.compact(&items, &CancellationToken::new()).await {
        Ok(compacted) => {
            assert_eq!(Some(compacted.retained_from), expect, "{history}");
            let instructions = items.iter().take_while(|word| word.0 == "I").count();
            let stays = instructions + items.len() - compacted.retained_from;
            let summary = "s".len() as u64;
            assert_eq!(compacted.report.after.bytes, 100 * stays as u64 + summary, "{history}");
        }
        Err(Unchanged::NothingToCompact) => assert_eq!(expect, None, "{history}"),
        Err(other) => panic!("{history}: {other:?}"),
    }
}

#[tokio::test]
async fn turns_are_kept_whole() {
    check(0, "u a u b |").await;
    check(1, "u a | u b").await;
    check(2, "u a | u b u c").await;
    check(1, "S u a | u 1 =1 b").await;
    check(2, "u a u b").await;
    check(1, "u a").await;
    check(1, "S u a").await;
    check(9, "u a u b").await;
    check(1, "a b").await;
}

#[tokio::test]
async fn instructions_stay_before_the_summary() {
    check(1, "I u a | u b").await;
    check(1, "I I u 1 =1 | u").await;
    check(0, "I u a |").await;
    check(1, "I u a").await;
}

#[tokio::test]
async fn the_suffix_begins_before_any_call_whose_result_it_has() {
    check(1, "u | 1 u =1").await;
    check(1, "u a | 1 2 =2 u =1").await;
    check(1, "u | 1 =9 2 =1 u =2").await;
    // One thing leads to another: 3 pulls in 2's result, which pulls in 2.
    check(1, "u a | 2 3 =2 b u =3").await;
    check(1, "u a | 1 2 =1 3 =2 u =3").await;
    // A result that is there before its call is not parted from it either.
    check(1, "u a | =1 u 1").await;
    // An orphan of either kind holds nothing back.
    check(1, "u 1 a | u =9 b").await;
    // Pairs of a duplicate id are those of the same rank.
    check(1, "u 1 =1 | 1 u =1").await;
}

#[tokio::test]
async fn a_message_is_not_cut_in_two() {
    check(1, "u | a +1 +2 =1 u =2").await;
    check(1, "u a +1 +2 =2 +=1 b | u 3 =3 =1").await;
    check(1, "u | a +1 +2 =2 b u +=1").await;
    check(1, "u a | b +u c").await;
    check(1, "+u a").await;
}

#[tokio::test]
async fn calls_that_wait_for_their_results_are_kept() {
    check(0, "u a | 1").await;
    check(0, "u a | 1 2 =2").await;
    check(0, "u | a +1 +2").await;
    check(0, "u 1 b |").await;
    check(0, "u 1 =1 |").await;
}
