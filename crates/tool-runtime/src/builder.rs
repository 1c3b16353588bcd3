//! Composing a runtime.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use artifacts::{ArtifactStore, Journal};
use output_contract::{Timestamp, ToolName};
use output_retention::LimitsError;
use tool_api::{ApproveAll, Approver, PostExecute, Tool};

use crate::config::RuntimeConfig;
use crate::runtime::{Clock, Parts, Runtime};

/// Composes a [`Runtime`].
pub struct RuntimeBuilder {
    store: Arc<dyn ArtifactStore>,
    journal: Arc<dyn Journal>,
    clock: Clock,
    approver: Arc<dyn Approver>,
    tools: Vec<Arc<dyn Tool>>,
    post_execute: Vec<Arc<dyn PostExecute>>,
    config: RuntimeConfig,
}

impl fmt::Debug for RuntimeBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeBuilder").field("tools", &self.tools).finish_non_exhaustive()
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
            tools: Vec::new(),
            post_execute: Vec::new(),
            config: RuntimeConfig::default(),
        }
    }

    /// Offers a tool.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Adds a listener at the end of the post-execute waterfall.
    #[must_use]
    pub fn post_execute(mut self, listener: impl PostExecute + 'static) -> Self {
        self.post_execute.push(Arc::new(listener));
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
    /// [`BuildError`] where two tools have one name or a limit is zero.
    pub fn build(self) -> Result<Runtime, BuildError> {
        self.config.preview_limits(1).map_err(BuildError::Limits)?;
        let mut tools: BTreeMap<ToolName, Arc<dyn Tool>> = BTreeMap::new();
        for tool in self.tools {
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
            post_execute: self.post_execute,
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
    /// A preview limit is out of range.
    #[error("invalid preview limits")]
    Limits(#[source] LimitsError),
}
