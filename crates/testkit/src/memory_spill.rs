//! A spill store in memory.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use spill::{SaveText, SpillError, SpillLocator, SpillRef, SpillStore, encode_name};

const HINT: &str = "Ask for it.";

/// Keeps spilled texts in memory. Locators are `memory:<number>/<name>`.
#[derive(Debug)]
pub struct MemorySpill {
    hint: String,
    saved: Mutex<BTreeMap<String, SaveText>>,
}

impl MemorySpill {
    /// A store without texts.
    pub fn new() -> Self {
        Self::with_hint(HINT)
    }

    /// A store whose hint is this one.
    pub fn with_hint(hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), saved: Mutex::default() }
    }

    /// What was saved under a locator.
    pub fn get(&self, locator: &SpillLocator) -> Option<SaveText> {
        self.with(|saved| saved.get(locator.as_str()).cloned())
    }

    /// Everything that was saved, in order.
    pub fn saved(&self) -> Vec<SaveText> {
        self.with(|saved| saved.values().cloned().collect())
    }

    fn with<T>(&self, work: impl FnOnce(&mut BTreeMap<String, SaveText>) -> T) -> T {
        work(&mut self.saved.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Default for MemorySpill {
    fn default() -> Self {
        Self::new()
    }
}

/// The locator of text `number`. Seven digits, so that all are of one length.
fn locator(number: usize, name: &str) -> String {
    format!("memory:{number:07}/{}", encode_name(name))
}

#[async_trait]
impl SpillStore for MemorySpill {
    async fn save_text(&self, text: SaveText) -> Result<SpillRef, SpillError> {
        let bytes = text.content.len() as u64;
        let locator = self.with(|saved| {
            let locator = locator(saved.len(), &text.suggested_name);
            saved.insert(locator.clone(), text);
            locator
        });
        let locator = SpillLocator::new(locator).expect("an encoded name has no controls");
        Ok(SpillRef { locator, bytes, retrieval_hint: self.hint.clone() })
    }

    fn max_reference_bytes(&self, suggested_name: &str) -> usize {
        locator(0, suggested_name).len() + self.hint.len()
    }
}
