//! What a runtime is extended by.

use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

use spill::SpillStore;

use crate::post_execute::PostExecute;
use crate::tool::Tool;

/// A bundle of tools, listeners and a place to spill to, that an agent adds as
/// one thing.
///
/// Installed once for each runtime, in the order in which they were added; that
/// order is the one of the post-execute waterfall. A plugin that is configured
/// to do nothing registers nothing.
pub trait Plugin: Debug + Send + Sync {
    /// Adds what the plugin brings.
    ///
    /// # Errors
    /// [`PluginError`]; no runtime is built then.
    fn install(&self, registrar: &mut Registrar) -> Result<(), PluginError>;
}

/// What plugins add to a runtime while it is built.
#[derive(Debug, Default)]
pub struct Registrar {
    tools: Vec<Arc<dyn Tool>>,
    post_execute: Vec<Arc<dyn PostExecute>>,
    spill: SpillSlot,
}

impl Registrar {
    /// A runtime without anything yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Offers a tool.
    pub fn tool(&mut self, tool: Arc<dyn Tool>) {
        self.tools.push(tool);
    }

    /// Adds a listener at the end of the post-execute waterfall. One that bounds
    /// what the others settled is added last.
    pub fn post_execute(&mut self, listener: Arc<dyn PostExecute>) {
        self.post_execute.push(listener);
    }

    /// Sets the one place that the runtime spills to.
    ///
    /// # Errors
    /// [`PluginError::SecondSpillStore`] where there is one already; it stays.
    pub fn spill_store(&mut self, store: Arc<dyn SpillStore>) -> Result<(), PluginError> {
        self.spill.0.set(store).map_err(|_| PluginError::SecondSpillStore)
    }

    /// Where the runtime's spill store is, or will be: for a listener that uses
    /// whichever a plugin before or after it sets.
    pub fn spill(&self) -> SpillSlot {
        self.spill.clone()
    }

    /// Everything that was added, for the runtime.
    pub fn into_parts(self) -> Registered {
        let Self { tools, post_execute, spill } = self;
        Registered { tools, post_execute, spill }
    }
}

/// What was added to a runtime.
#[derive(Debug)]
pub struct Registered {
    /// The tools, in the order in which they were added.
    pub tools: Vec<Arc<dyn Tool>>,
    /// The post-execute waterfall, in order.
    pub post_execute: Vec<Arc<dyn PostExecute>>,
    /// Where the spill store is, if there is one.
    pub spill: SpillSlot,
}

/// Where the spill store of one runtime is. It lives as long as the runtime and
/// what was registered there.
#[derive(Debug, Clone, Default)]
pub struct SpillSlot(Arc<OnceLock<Arc<dyn SpillStore>>>);

impl SpillSlot {
    /// The store; `None` where no plugin set one, or not yet.
    pub fn get(&self) -> Option<&Arc<dyn SpillStore>> {
        self.0.get()
    }
}

/// Why a plugin cannot be installed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PluginError {
    /// A runtime has one spill store.
    #[error("there is already a spill store; a runtime has one")]
    SecondSpillStore,
    /// The plugin cannot work with its own configuration.
    #[error("{message}")]
    Configuration {
        /// What is wrong with it and what would be right.
        message: String,
    },
    /// Something that the plugin needs is not to be had.
    #[error("a plugin cannot work")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl PluginError {
    /// A configuration that does not work, with what would.
    pub fn configuration(message: impl Into<String>) -> Self {
        Self::Configuration { message: message.into() }
    }
}
