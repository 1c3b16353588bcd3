//! The policy as a listener: which results it is for.

use std::sync::Arc;

use output_contract::{Exit, Status};
use output_retention::Ending;
use spill::SpillStore;
use spill_policy::{MaxInlineBytes, SpillPlugin, SpillPolicy};
use testkit::{FaultySpill, MemorySpill};
use tool_api::{
    CallInfo, CallPreview, OutputHandling, Plugin as _, PluginError, PostExecute, Presentation,
    Registrar, Replacement,
};

use crate::log::logged;
use crate::previews::{preview_of, rendered};

/// A policy over a store that counts.
struct World {
    memory: Arc<MemorySpill>,
    store: Arc<FaultySpill>,
    policy: Arc<dyn PostExecute>,
}

fn registrar(cap: Option<usize>, store: Option<Arc<dyn SpillStore>>) -> Registrar {
    let mut registrar = Registrar::new();
    // Which comes first does not matter.
    let max_inline_bytes = cap.map(|cap| MaxInlineBytes::new(cap).unwrap());
    SpillPlugin { max_inline_bytes }.install(&mut registrar).unwrap();
    if let Some(store) = store {
        registrar.spill_store(store).unwrap();
    }
    registrar
}

impl World {
    fn new(cap: usize) -> Self {
        let memory = Arc::new(MemorySpill::new());
        let store = Arc::new(FaultySpill::new(memory.clone()));
        let registrar = registrar(Some(cap), Some(store.clone()));
        let policy = Arc::clone(&registrar.into_parts().post_execute[0]);
        Self { memory, store, policy }
    }

    fn apply(&self, call: &CallInfo, presentation: Presentation) -> (Presentation, String) {
        logged(self.policy.apply(call, presentation))
    }
}

fn call() -> CallInfo {
    CallInfo {
        session_id: "session".parse().unwrap(),
        call_id: "call".parse().unwrap(),
        parent_call_id: None,
        tool: "fetch".parse().unwrap(),
        handling: OutputHandling::Captured,
    }
}

fn ending(status: Status) -> Ending {
    let exit = (status == Status::Failed).then_some(Exit::Code(3));
    Ending { exit, ..Ending::of(status) }
}

fn full(text: &str, status: Status) -> Presentation {
    Presentation::Full { text: text.to_owned(), otherwise: preview_of(&[text], ending(status)) }
}

#[test]
fn an_unset_cap_registers_nothing() {
    let unset = registrar(None, Some(Arc::new(MemorySpill::new()))).into_parts();
    assert!(unset.post_execute.is_empty() && unset.tools.is_empty());
    assert_eq!(registrar(Some(1), None).into_parts().post_execute.len(), 1);
    let mut second = registrar(None, Some(Arc::new(MemorySpill::new())));
    let refused = second.spill_store(Arc::new(MemorySpill::new()));
    assert!(matches!(refused, Err(PluginError::SecondSpillStore)));
}

#[test]
fn a_whole_text_over_the_cap_is_replaced_by_its_ends() {
    for (status, last) in [(Status::Completed, "Ask for it.)"), (Status::Failed, "[exit code: 3]")]
    {
        let world = World::new(300);
        let text = "line\n".repeat(1_000);
        let (shown, log) = world.apply(&call(), full(&text, status));
        let Presentation::Replaced(Replacement { text: shown, shown: facts }) = shown else {
            panic!("{shown:?}")
        };
        assert!(shown.len() <= 300 && shown.ends_with(last), "{shown}");
        let [saved] = &*world.memory.saved() else { panic!("saved once") };
        assert_eq!(saved.content, text);
        assert_eq!(saved.owner.session.as_str(), "session");
        assert_eq!((saved.source.tool.as_str(), saved.source.call.as_str()), ("fetch", "call"));
        assert!(facts[0].truncated && facts[0].shown_bytes < 300);
        assert_eq!(log, "");
    }
}

#[test]
fn what_is_within_the_cap_is_as_it_was() {
    let world = World::new(300);
    for presentation in [
        full("short\n", Status::Completed),
        full("short\n", Status::Failed),
        Presentation::Preview(preview_of(&["short\n", "also\n"], ending(Status::Failed))),
        Presentation::Replaced(Replacement::text("x".repeat(300))),
    ] {
        let before = format!("{presentation:?}");
        let (after, log) = world.apply(&call(), presentation);
        assert_eq!(format!("{after:?}"), before);
        assert_eq!(log, "");
    }
    assert_eq!(world.store.saves(), 0);
}

#[test]
fn self_paginating_tools_and_nested_calls_are_left_alone() {
    let world = World::new(300);
    let pages = CallInfo { handling: OutputHandling::SelfPaginating, ..call() };
    let nested = CallInfo { parent_call_id: Some("outer".parse().unwrap()), ..call() };
    let text = "x".repeat(1_000);
    for call in [pages, nested] {
        for presentation in [
            full(&text, Status::Completed),
            Presentation::Preview(preview_of(&[&text, ""], ending(Status::Completed))),
            Presentation::Replaced(Replacement::text(text.clone())),
        ] {
            let before = format!("{presentation:?}");
            let (after, log) = world.apply(&call, presentation);
            assert_eq!((format!("{after:?}"), log), (before, String::new()));
        }
    }
    assert_eq!(world.store.saves(), 0);
}

#[test]
fn binary_output_is_left_to_its_one_line() {
    let world = World::new(300);
    let binary = "\0\u{1}\u{2}".repeat(1_000);
    let (after, log) = world.apply(&call(), full(&binary, Status::Completed));
    let Presentation::Full { otherwise, .. } = after else { panic!("{after:?}") };
    assert!(rendered(&otherwise).starts_with("[binary output: 3000 bytes"));
    assert_eq!((world.store.saves(), log), (0, String::new()));
}

#[test]
fn results_with_attachments_or_links_are_left_alone() {
    let world = World::new(300);
    let long = "line\n".repeat(1_000);
    let preview =
        CallPreview { accompanied: true, ..preview_of(&[&long], ending(Status::Completed)) };
    for presentation in [
        Presentation::Full { text: long.clone(), otherwise: preview.clone() },
        Presentation::Preview(preview),
    ] {
        let before = format!("{presentation:?}");
        let (after, log) = world.apply(&call(), presentation);
        assert_eq!((format!("{after:?}"), log), (before, String::new()));
    }
    assert_eq!(world.store.saves(), 0);
}

#[test]
fn what_another_listener_settled_is_bounded_too() {
    let world = World::new(300);
    let text = "replaced ".repeat(200);
    let replaced = Presentation::Replaced(Replacement::text(text.clone()));
    let (after, _) = world.apply(&call(), replaced);
    let Presentation::Replaced(after) = after else { panic!("{after:?}") };
    assert!(after.text.len() <= 300 && after.text.contains("(Omitted "), "{}", after.text);
    assert_eq!(world.memory.saved()[0].content, text);
}

#[test]
fn where_it_cannot_be_spilled_everything_stays() {
    let text = "x".repeat(1_000);
    let failing = World::new(300);
    failing.store.fail_saves(.., || spill::SpillError::Backend("as told".into()));
    let no_store = World {
        policy: Arc::new(SpillPolicy::new(
            MaxInlineBytes::new(300).unwrap(),
            registrar(None, None).spill(),
        )),
        ..World::new(300)
    };
    for world in [failing, no_store, World::new(100)] {
        for presentation in [
            full(&text, Status::Completed),
            Presentation::Replaced(Replacement::text(text.clone())),
        ] {
            let before = format!("{presentation:?}");
            let (after, log) = world.apply(&call(), presentation);
            assert_eq!(format!("{after:?}"), before);
            assert_eq!(log.lines().count(), 1, "{log}");
        }
        assert!(world.memory.saved().is_empty());
    }
}

#[tokio::test]
async fn a_slow_store_holds_back_its_own_call_only() {
    let world = World::new(300);
    let held = world.store.hold_saves(1..=1);
    let spill = |text: String| {
        let policy = Arc::clone(&world.policy);
        tokio::spawn(async move { policy.apply(&call(), full(&text, Status::Completed)).await })
    };
    let slow = spill("slow ".repeat(200));
    while world.store.saves() < 1 {
        tokio::task::yield_now().await;
    }
    for _ in 0..3 {
        let quick = spill("quick ".repeat(200)).await.unwrap();
        assert!(matches!(quick, Presentation::Replaced(_)), "{quick:?}");
    }
    assert!(!slow.is_finished());
    held.release();
    let Presentation::Replaced(slow) = slow.await.unwrap() else { panic!() };
    assert!(slow.text.starts_with("slow slow"), "{}", slow.text);
    assert_eq!(world.memory.saved().len(), 4);
}

#[test]
fn a_preview_keeps_its_artifact_and_is_never_saved() {
    let world = World::new(600);
    let long = "a line of the log\n".repeat(500);
    let preview = preview_of(&[&long, &long], ending(Status::Failed));
    assert!(rendered(&preview).len() > 600);
    let (after, log) = world.apply(&call(), Presentation::Preview(preview));
    let Presentation::Preview(after) = after else { panic!("{after:?}") };
    let text = rendered(&after);
    assert!(text.len() <= 600 && text.len() > 400, "{text}");
    assert!(text.contains("read(filePath=\"artifact://") && text.ends_with("[exit code: 3]"));
    assert_eq!((world.store.saves(), log), (0, String::new()));
    // A second listener of the kind finds nothing to do.
    let before = format!("{after:?}");
    let (again, _) = world.apply(&call(), Presentation::Preview(after));
    let Presentation::Preview(again) = again else { panic!("{again:?}") };
    assert_eq!(format!("{again:?}"), before);
}

#[test]
fn a_whole_text_that_only_its_rendering_makes_too_long_is_rendered_smaller() {
    let world = World::new(300);
    // A NUL is shown by three bytes; these are too few to be binary.
    let text = "ab\0cdefg\0".repeat(33);
    let (after, _) = world.apply(&call(), full(&text, Status::Completed));
    let Presentation::Full { otherwise, .. } = after else { panic!("{after:?}") };
    let text = rendered(&otherwise);
    assert!(text.len() <= 300 && text.contains("[Truncated."), "{text}");
    assert_eq!(world.store.saves(), 0);
}

#[test]
fn a_preview_whose_smallest_does_not_fit_stays() {
    let world = World::new(40);
    let long = "x".repeat(1_000);
    let preview = preview_of(&[&long, &long], ending(Status::Completed));
    let before = rendered(&preview);
    let (after, log) = world.apply(&call(), Presentation::Preview(preview));
    let Presentation::Preview(after) = after else { panic!("{after:?}") };
    assert_eq!(rendered(&after), before);
    assert!(log.contains("not even the smallest preview fits"), "{log}");
}
