//! Tools for tests of what runs tools.

use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use output_contract::{OutputDeclaration, ToolName};
use serde_json::{Value, json};
use tool_api::{
    CallContext, CancellationToken, Completion, OutputHandling, PrepareError, PreparedCall,
    Resource, SinkError, Tool, ToolSpec,
};

use crate::script::{Script, Watch};

type Execution = Pin<Box<dyn Future<Output = Completion> + Send>>;
type Execute = dyn Fn(CallContext, Value) -> Execution + Send + Sync;
type Adjust = dyn Fn(&mut Completion) + Send + Sync;

/// A tool that follows a [`Script`], or runs a closure. Clones are the same
/// tool.
#[derive(Debug, Clone)]
pub struct ScriptedTool {
    spec: ToolSpec,
    title: String,
    resources: Vec<Resource>,
    refusal: Option<String>,
    behaviour: Behaviour,
    adjust: Option<Closure<Adjust>>,
    seen: Arc<Seen>,
}

#[derive(Debug, Clone)]
enum Behaviour {
    Script(Script),
    Closure(Closure<Execute>),
}

/// A shared closure that can be printed.
struct Closure<F: ?Sized>(Arc<F>);

impl<F: ?Sized> Clone for Closure<F> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<F: ?Sized> fmt::Debug for Closure<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a closure")
    }
}

/// What became of the calls so far.
#[derive(Debug, Default)]
struct Seen {
    executed: AtomicU64,
    refused: Mutex<Vec<SinkError>>,
    sent: CancellationToken,
}

impl Watch for Seen {
    fn sent(&self) {
        self.sent.cancel();
    }

    fn refused(&self, error: SinkError) {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).push(error);
    }
}

impl ScriptedTool {
    /// A tool with one unnamed output.
    ///
    /// # Panics
    /// Where `name` is no tool name.
    pub fn single(name: &str, script: Script) -> Self {
        Self::new(spec(name, OutputDeclaration::Single), Behaviour::Script(script))
    }

    /// A tool with named streams.
    ///
    /// # Panics
    /// Where `name` is no tool name or `streams` are no declaration.
    pub fn named(name: &str, streams: &[&str], script: Script) -> Self {
        let output = OutputDeclaration::named(streams).expect("the test declares valid streams");
        Self::new(spec(name, output), Behaviour::Script(script))
    }

    /// A tool that bounds its output by itself.
    ///
    /// # Panics
    /// Where `name` is no tool name.
    pub fn paginating(name: &str, script: Script) -> Self {
        let spec = ToolSpec {
            handling: OutputHandling::SelfPaginating,
            ..spec(name, OutputDeclaration::Single)
        };
        Self::new(spec, Behaviour::Script(script))
    }

    /// A tool that executes `execute` with its context and arguments.
    pub fn running<F, R>(spec: ToolSpec, execute: F) -> Self
    where
        F: Fn(CallContext, Value) -> R + Send + Sync + 'static,
        R: Future<Output = Completion> + Send + 'static,
    {
        let execute = move |cx, arguments| -> Execution { Box::pin(execute(cx, arguments)) };
        Self::new(spec, Behaviour::Closure(Closure(Arc::new(execute))))
    }

    fn new(spec: ToolSpec, behaviour: Behaviour) -> Self {
        Self {
            spec,
            title: String::new(),
            resources: Vec::new(),
            refusal: None,
            behaviour,
            adjust: None,
            seen: Arc::default(),
        }
    }

    /// The same tool with this title for its calls.
    #[must_use]
    pub fn titled(mut self, title: &str) -> Self {
        title.clone_into(&mut self.title);
        self
    }

    /// The same tool, whose calls touch `resources`.
    #[must_use]
    pub fn touching(mut self, resources: Vec<Resource>) -> Self {
        self.resources = resources;
        self
    }

    /// The same tool, which refuses all arguments with this message.
    #[must_use]
    pub fn refusing(mut self, message: &str) -> Self {
        self.refusal = Some(message.to_owned());
        self
    }

    /// The same tool, whose completions pass through `adjust`: to set another
    /// status, attach, emit, note.
    #[must_use]
    pub fn completing(mut self, adjust: impl Fn(&mut Completion) + Send + Sync + 'static) -> Self {
        self.adjust = Some(Closure(Arc::new(adjust)));
        self
    }

    /// How many calls were executed.
    pub fn executed(&self) -> u64 {
        self.seen.executed.load(Ordering::Relaxed)
    }

    /// What sinks refused so far, in order. Scripts only.
    pub fn refused(&self) -> Vec<SinkError> {
        self.seen.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until the first call has sent all its deltas. Scripts only.
    pub async fn sent(&self) {
        self.seen.sent.cancelled().await;
    }
}

/// A captured tool that takes any object for arguments.
fn spec(name: &str, output: OutputDeclaration) -> ToolSpec {
    ToolSpec {
        name: ToolName::new(name).expect("the test names a valid tool"),
        description: format!("{name}, for a test"),
        input_schema: json!({"type": "object"}),
        output_schema: None,
        annotations: [].into(),
        output,
        handling: OutputHandling::Captured,
        reads_artifacts: false,
    }
}

#[async_trait]
impl Tool for ScriptedTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn prepare(&self, arguments: Value) -> Result<Box<dyn PreparedCall>, PrepareError> {
        match &self.refusal {
            Some(message) => Err(PrepareError::arguments(message)),
            None => Ok(Box::new(ScriptedCall { tool: self.clone(), arguments })),
        }
    }
}

#[derive(Debug)]
struct ScriptedCall {
    tool: ScriptedTool,
    arguments: Value,
}

#[async_trait]
impl PreparedCall for ScriptedCall {
    fn title(&self) -> String {
        self.tool.title.clone()
    }

    fn resources(&self) -> Vec<Resource> {
        self.tool.resources.clone()
    }

    async fn execute(self: Box<Self>, cx: CallContext) -> Completion {
        let Self { tool, arguments } = *self;
        tool.seen.executed.fetch_add(1, Ordering::Relaxed);
        let mut completion = match tool.behaviour {
            Behaviour::Script(script) => script.run(cx, &*tool.seen).await,
            Behaviour::Closure(execute) => (execute.0)(cx, arguments).await,
        };
        if let Some(adjust) = &tool.adjust {
            (adjust.0)(&mut completion);
        }
        completion
    }
}
