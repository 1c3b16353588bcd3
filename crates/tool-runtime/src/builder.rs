//! Composing a runtime.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use artifacts::{ArtifactStore, Journal};
use output_contract::{Timestamp, ToolName};
use output_retention::LimitsError;
use tool_api::{
    ApproveAll, Approver, Plugin, PluginError, PostExecute, Registered, Registrar, Tool,
};

use crate::config::RuntimeConfig;
use crate::runtime::{Clock, Parts, Runtime};

/// Composes a [`Runtime`].
pub struct RuntimeBuilder {
    store: Arc<dyn ArtifactStore>,
    journal: Arc<dyn Journal>,
    clock: Clock,
    approver: Arc<dyn Approver>,
    registrar: Registrar,
    refused: Option<PluginError>,
    config: RuntimeConfig,
}

impl fmt::Debug for RuntimeBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeBuilder").field("registrar", &self.registrar).finish_non_exhaustive()
    }
}

impl RuntimeBuilder {
    /// A runtime over a store and a journal. `clock` gives the time of day;
    /// without an approver every call is allowed.
    pub fn new(
        store: Arc<dyn ArtifactStore>,
        journal: Arc<dyn Journal>,
        clock: impl Fn() -> Timestamp + Send + Sync + 'static,
    ) -> Self {
        Self {
            store,
            journal,
            clock: Arc::new(clock),
            approver: Arc::new(ApproveAll),
            registrar: Registrar::new(),
            refused: None,
            config: RuntimeConfig::default(),
        }
    }

    /// Offers a tool.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.registrar.tool(Arc::new(tool));
        self
    }

    /// Adds a listener at the end of the post-execute waterfall.
    #[must_use]
    pub fn post_execute(mut self, listener: impl PostExecute + 'static) -> Self {
        self.registrar.post_execute(Arc::new(listener));
        self
    }

    /// Installs a plugin after what was added before. Where it cannot be
    /// installed, building fails.
    #[must_use]
    pub fn plugin(mut self, plugin: &dyn Plugin) -> Self {
        if self.refused.is_none() {
            self.refused = plugin.install(&mut self.registrar).err();
        }
        self
    }

    /// Decides on calls.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver = Arc::new(approver);
        self
    }

    /// Replaces the default configuration.
    #[must_use]
    pub fn config(mut self, config: RuntimeConfig) -> Self {
        self.config = config;
        self
    }

    /// Builds the runtime.
    ///
    /// # Errors
    /// [`BuildError`] where a plugin cannot be installed, two tools have one name
    /// or a limit is zero.
    pub fn build(self) -> Result<Runtime, BuildError> {
        if let Some(refused) = self.refused {
            return Err(BuildError::Plugin(refused));
        }
        let Registered { tools: registered, post_execute, spill } = self.registrar.into_parts();
        self.config.preview_limits(1).map_err(BuildError::Limits)?;
        let mut tools: BTreeMap<ToolName, Arc<dyn Tool>> = BTreeMap::new();
        for tool in registered {
            let name = tool.spec().name.clone();
            if tools.insert(name.clone(), tool).is_some() {
                return Err(BuildError::DuplicateTool { name });
            }
        }
        let hints = self.config.hints.hints(tools.values().map(|tool| tool.spec()));
        Ok(Runtime::new(Parts {
            store: self.store,
            journal: self.journal,
            clock: self.clock,
            approver: self.approver,
            tools,
            post_execute,
            spill,
            config: self.config,
            hints,
        }))
    }
}

/// Why a runtime cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Two tools have the same name.
    #[error("two tools are named {name}")]
    DuplicateTool {
        /// The name.
        name: ToolName,
    },
    /// A plugin cannot be installed.
    #[error("a plugin cannot be installed")]
    Plugin(#[source] PluginError),
    /// A preview limit is out of range.
    #[error("invalid preview limits")]
    Limits(#[source] LimitsError),
}
