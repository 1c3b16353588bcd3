//! The policy on texts: tables, vectors, properties.

use std::sync::Arc;

use output_contract::{Exit, Status};
use output_retention::Ending;
use proptest::prelude::*;
use spill::{SpillError, SpillStore};
use spill_policy::{Applied, FinishedText, MaxInlineBytes, NotSpilled, Spilled, apply};
use testkit::{FaultySpill, MemorySpill};

use crate::log::{logged, run};

/// What every reference in these tests has beside its hint.
const LOCATOR_BYTES: usize = "memory:0000000/fetch.txt".len();

fn finished(text: &str) -> FinishedText<'_> {
    let id = |text: &str| text.parse().unwrap();
    FinishedText::new(text, id("session"), "fetch".parse().unwrap(), "call".parse().unwrap())
}

/// Applies the policy, with a reference of so many bytes.
fn applied(text: &str, cap: usize, reference_bytes: usize) -> (Applied, MemorySpill) {
    let store = MemorySpill::with_hint("h".repeat(reference_bytes - LOCATOR_BYTES));
    let cap = MaxInlineBytes::new(cap).unwrap();
    let applied = run(apply(&finished(text), cap, Some(&store)));
    (applied, store)
}

fn head_and_tail() -> String {
    "HEAD".repeat(200) + &"TAIL".repeat(200)
}

#[test]
fn the_vectors() {
    let text = head_and_tail();
    for reference_bytes in [LOCATOR_BYTES + 1, 40, 60] {
        let (applied, store) = applied(&text, 200, reference_bytes);
        let Applied::Spilled(Spilled { text: shown, reference, omitted_bytes, .. }) = applied
        else {
            panic!("{applied:?}")
        };
        assert!(shown.len() <= 200 && shown.len() >= 198, "{shown}");
        let gap = format!("\n[... {omitted_bytes} bytes omitted ...]\n");
        let (head, rest) = shown.split_once(&gap).unwrap();
        let (tail, notice) = rest.split_once("\n\n").unwrap();
        assert_eq!(omitted_bytes as usize, 1600 - head.len() - tail.len());
        assert!(head.len() - tail.len() <= 1, "the odd byte is the head's");
        assert!(text.starts_with(head) && text.ends_with(tail));
        let expect = format!(
            "(Omitted {omitted_bytes} bytes. Full formatted result stored at: {}. {})",
            reference.locator, reference.retrieval_hint
        );
        assert_eq!(notice, expect);
        let [saved] = &*store.saved() else { panic!("saved once") };
        assert_eq!((&saved.content, reference.bytes), (&text, 1600));
        assert_eq!(saved.source.label, "result");
    }
    let (applied, store) = applied(&text, 200, 120);
    let Applied::Unchanged(NotSpilled::NoRoom { cap: 200, reference_bytes: 120 }) = applied else {
        panic!("{applied:?}")
    };
    assert!(store.saved().is_empty(), "nothing is saved that cannot be presented");
}

#[test]
fn the_cap_is_inclusive_and_in_bytes() {
    let ending = Ending { exit: Some(Exit::Code(3)), ..Ending::of(Status::Failed) };
    let cap = 300;
    let exactly = |unit: &str| unit.repeat(cap / unit.len());
    let with_ending = cap - "\n[exit code: 3]".len();
    for (text, ending, spilled) in [
        (String::new(), None, false),
        ("small".to_owned(), None, false),
        (exactly("x"), None, false),
        (exactly("x") + "x", None, true),
        (exactly("é"), None, false),
        (exactly("é") + "é", None, true),
        (exactly("语"), None, false),
        (exactly("语") + "x", None, true),
        (exactly("😀") + "😀", None, true),
        ("large ".repeat(100_000), None, true),
        ("x".repeat(with_ending), Some(&ending), false),
        ("x".repeat(with_ending + 1), Some(&ending), true),
        ("x".repeat(with_ending) + "\n", Some(&ending), false),
    ] {
        let store = MemorySpill::new();
        let result = FinishedText { ending, ..finished(&text) };
        let cap = MaxInlineBytes::new(cap).unwrap();
        let (applied, log) = logged(apply(&result, cap, Some(&store)));
        let what = format!("{} bytes, {ending:?}: {applied:?}", text.len());
        match applied {
            Applied::Within => assert!(!spilled && store.saved().is_empty(), "{what}"),
            Applied::Spilled(shown) => {
                assert!(spilled && shown.text.len() <= 300, "{what}");
                assert_eq!(shown.text.ends_with("\n[exit code: 3]"), ending.is_some(), "{what}");
                assert_eq!(store.saved()[0].content, text, "without the ending");
            }
            Applied::Unchanged(_) => panic!("{what}"),
        }
        assert_eq!(log, "", "nothing went wrong");
    }
}

#[test]
fn characters_are_not_parted_at_any_border() {
    for unit in ["é", "语", "😀", "a😀", "e\u{301}x"] {
        let text = unit.repeat(200);
        for cap in 150..190 {
            let (applied, _) = applied(&text, cap, 40);
            let Applied::Spilled(shown) = applied else { panic!("{applied:?}") };
            assert!(shown.text.len() <= cap);
            let (head, rest) = shown.text.split_once("\n[... ").unwrap();
            let (_, tail) = rest.split_once(" ...]\n").unwrap();
            let (tail, _) = tail.split_once("\n\n(").unwrap();
            assert!(text.starts_with(head) && text.ends_with(tail), "{}", shown.text);
        }
    }
}

#[test]
fn every_fallback_has_its_reason_in_the_log() {
    let text = head_and_tail();
    let memory: Arc<dyn SpillStore> = Arc::new(MemorySpill::new());
    let full = FaultySpill::new(Arc::clone(&memory));
    full.fail_saves(.., || SpillError::File {
        action: "write",
        place: "/spill/x".to_owned(),
        source: std::io::ErrorKind::StorageFull.into(),
    });
    let unowned = FinishedText { owner: None, ..finished(&text) };
    for (result, cap, store, why) in [
        (&unowned, 200, Some(&*memory), "the call has no owner to keep its result for"),
        (&finished(&text), 200, None, "there is no spill store"),
        (
            &finished(&text),
            120,
            Some(&*memory),
            "a notice with a reference of up to 35 bytes does not fit into 120 bytes",
        ),
        (&finished(&text), 200, Some(&full as &dyn SpillStore), "could not spill the result"),
    ] {
        let cap = MaxInlineBytes::new(cap).unwrap();
        let (applied, log) = logged(apply(result, cap, store));
        let Applied::Unchanged(reason) = applied else { panic!("{applied:?}") };
        assert_eq!(reason.to_string(), why);
        assert_eq!(log.lines().count(), 1, "{log}");
        assert!(log.contains("WARN") && log.contains(why), "{log}");
        assert!(log.contains("tool=fetch call=call bytes=1600"), "{log}");
    }
    let (_, log) = logged(apply(
        &finished(&text),
        MaxInlineBytes::new(200).unwrap(),
        Some(&full as &dyn SpillStore),
    ));
    assert!(log.contains("could not write /spill/x"), "the cause is there: {log}");
}

proptest! {
    #[test]
    fn a_result_is_within_the_cap_or_unchanged(
        text in "[a-z€😀é\n\0]{0,600}",
        cap in 1_usize..900,
        reference_bytes in (LOCATOR_BYTES + 1)..150,
        failed: bool,
    ) {
        let ending = failed.then(|| Ending::of(Status::Failed));
        let store = MemorySpill::with_hint("h".repeat(reference_bytes - LOCATOR_BYTES));
        let result = FinishedText { ending: ending.as_ref(), ..finished(&text) };
        let applied = run(apply(&result, MaxInlineBytes::new(cap).unwrap(), Some(&store)));
        match applied {
            Applied::Within => prop_assert!(text.len() <= cap && store.saved().is_empty()),
            Applied::Unchanged(reason) => {
                prop_assert!(matches!(reason, NotSpilled::NoRoom { .. }), "{:?}", reason);
                prop_assert!(store.saved().is_empty());
            }
            Applied::Spilled(shown) => {
                prop_assert!(shown.text.len() <= cap, "{}", shown.text);
                prop_assert_eq!(&store.saved()[0].content, &text);
                // Head and tail are a true prefix and suffix; the count is exact.
                let gap = format!("\n[... {} bytes omitted ...]\n", shown.omitted_bytes);
                let (head, rest) = shown.text.split_once(&gap).unwrap();
                let notice = format!("\n\n(Omitted {} bytes. ", shown.omitted_bytes);
                let (tail, _) = rest.rsplit_once(&notice).unwrap();
                prop_assert!(text.starts_with(head) && text.ends_with(tail));
                let kept = (head.len() + tail.len()) as u64;
                prop_assert_eq!(kept + shown.omitted_bytes, text.len() as u64);
                prop_assert_eq!(shown.text.ends_with("\n[failed]"), failed);
            }
        }
    }
}
