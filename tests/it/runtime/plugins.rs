//! Plugins: what they bring to a runtime, and the one place it spills to.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::json;
use spill::{SaveText, SpillError, SpillLocator, SpillRef, SpillStore};
use tool_api::{
    CallInfo, Completion, Plugin, PluginError, PostExecute, Presentation, Registrar, Replacement,
    SpillSlot,
};
use tool_runtime::BuildError;

use super::agent::{Agent, call_of, run, single};

/// Keeps what it is given.
#[derive(Debug, Default)]
struct Kept(Mutex<Vec<SaveText>>);

#[async_trait]
impl SpillStore for Kept {
    async fn save_text(&self, text: SaveText) -> Result<SpillRef, SpillError> {
        let mut kept = self.0.lock().unwrap();
        let bytes = text.content.len() as u64;
        kept.push(text);
        Ok(SpillRef {
            locator: SpillLocator::new(format!("kept:{}", kept.len())).unwrap(),
            bytes,
            retrieval_hint: "Ask.".to_owned(),
        })
    }

    fn max_reference_bytes(&self, _suggested_name: &str) -> usize {
        40
    }
}

#[derive(Debug)]
struct Spills(Arc<Kept>);

impl Plugin for Spills {
    fn install(&self, registrar: &mut Registrar) -> Result<(), PluginError> {
        registrar.spill_store(self.0.clone())
    }
}

/// A tool that spills early, and a listener that appends what it finds.
#[derive(Debug)]
struct Report(&'static str);

impl Plugin for Report {
    fn install(&self, registrar: &mut Registrar) -> Result<(), PluginError> {
        if self.0.is_empty() {
            return Ok(());
        }
        registrar.tool(Arc::new(single(self.0, async |cx| {
            let found = match cx.spill() {
                Some(spill) => spill.save_text("log", "log.txt", "the log").await.unwrap(),
                None => return Completion::completed(cx.sink.full("no store").unwrap()),
            };
            Completion::completed(cx.sink.full(found.locator.to_string()).unwrap())
        })));
        registrar.post_execute(Arc::new(Mark { word: self.0, spill: registrar.spill() }));
        Ok(())
    }
}

#[derive(Debug)]
struct Mark {
    word: &'static str,
    spill: SpillSlot,
}

#[async_trait]
impl PostExecute for Mark {
    async fn apply(&self, _call: &CallInfo, presentation: Presentation) -> Presentation {
        let text = match presentation {
            Presentation::Full { text, .. } => text,
            Presentation::Replaced(replacement) => replacement.text,
            Presentation::Preview(preview) => return Presentation::Preview(preview),
        };
        let store = if self.spill.get().is_some() { "store" } else { "none" };
        Presentation::Replaced(Replacement::text(format!("{text} {}:{store}", self.word)))
    }
}

#[tokio::test]
async fn plugins_bring_tools_listeners_and_the_spill_store_in_their_order() {
    let agent = Agent::new();
    let kept = Arc::new(Kept::default());
    // The store comes between: the listener before it finds it all the same.
    let builder = agent.builder().plugin(&Report("a")).plugin(&Spills(kept.clone()));
    let runtime = builder.plugin(&Report("b")).build().unwrap();
    let result = run(&runtime, call_of("b", "c", json!({}))).await;
    assert_eq!(result.text(), "kept:1 a:store b:store");
    let saved = kept.0.lock().unwrap().pop().unwrap();
    assert_eq!(saved.owner.session.as_str(), "s");
    assert_eq!((saved.source.tool.as_str(), saved.source.call.as_str()), ("b", "c"));
    assert_eq!((saved.source.label.as_str(), saved.content.as_str()), ("log", "the log"));

    let watched = Arc::downgrade(&kept);
    drop(kept);
    assert_eq!(watched.strong_count(), 1, "only the runtime has it");
    drop(runtime);
    assert_eq!(watched.strong_count(), 0, "and it goes with the runtime");
}

#[tokio::test]
async fn a_plugin_that_is_not_configured_registers_nothing() {
    let agent = Agent::new();
    let runtime = agent.builder().plugin(&Report("")).build().unwrap();
    assert_eq!(runtime.tools().count(), 0);
    assert_eq!(runtime.post_execute().count(), 0);
    assert!(runtime.spill_store().is_none());

    let runtime = agent.builder().plugin(&Report("a")).build().unwrap();
    let result = run(&runtime, call_of("a", "c", json!({}))).await;
    assert_eq!(result.text(), "no store a:none", "a tool is told that there is no store");
}

#[tokio::test]
async fn a_second_spill_store_is_an_error() {
    let agent = Agent::new();
    let first = Spills(Arc::default());
    let both = agent.builder().plugin(&first).plugin(&Spills(Arc::default()));
    let error = both.build().unwrap_err();
    assert!(matches!(error, BuildError::Plugin(PluginError::SecondSpillStore)), "{error}");
    assert!(agent.builder().plugin(&first).build().is_ok(), "each runtime has its own");
}
