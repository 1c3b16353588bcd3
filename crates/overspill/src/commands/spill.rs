//! `overspill spill`: a text from standard input, as the policy shows it.

use std::io::{Read, stdin};

use anyhow::{Context, bail};
use async_trait::async_trait;
use bytes::Bytes;
use output_contract::{CallId, Fields, Incomplete, IncompleteReason, OutputDeclaration};
use serde_json::{Value, json};
use tool_api::{
    CallContext, CancellationToken, Completion, OutputHandling, PrepareError, PreparedCall,
    Resource, Tool, ToolSpec,
};
use tool_runtime::{CallError, HintStyle, RuntimeBuilder, ToolCall};
use uuid::Uuid;

use crate::cli::{HintsArg, SpillArgs};
use crate::config::Spill;
use crate::exit;
use crate::home::{PROGRAM, now};
use crate::opened::Opened;
use crate::spilling::{Spilling, hints};
use crate::{terminal, upkeep};

pub(crate) async fn run(args: SpillArgs) -> anyhow::Result<u8> {
    let Opened { config, store, journal, root, home } = Opened::open().await?;
    let spill = Spill {
        backend: args.backend.unwrap_or(config.spill.backend),
        max_inline_bytes: args.max_inline_bytes.or(config.spill.max_inline_bytes),
        ..config.spill.clone()
    };
    if spill.max_inline_bytes.is_none() {
        let config = crate::home::config_path(&root);
        terminal::note(&format!(
            "overspill: nothing says how much may be shown, so the text is shown as any output is; \
             give --max-inline-bytes, or set it under [spill] in {config}"
        ));
    }
    let text = read_text(config.capture.max_stream_bytes)?;
    let tool_hints = args.hints == HintsArg::Tool;
    let spilling = Spilling::new(&spill, &root, &store, &hints(tool_hints))?;
    let mut runtime = config.runtime(PROGRAM);
    if tool_hints {
        runtime.hints = HintStyle::Tool { name: "read".to_owned() };
    }
    let tool = Supplied::new(&args, text);
    let builder = RuntimeBuilder::new(store, journal, now).config(runtime).tool(tool);
    let runtime = builder.plugin(&spilling).build()?;
    let call = ToolCall {
        session_id: args.session,
        call_id: CallId::new(Uuid::now_v7().simple().to_string()).context("a new call id")?,
        parent_call_id: None,
        tool: args.tool,
        arguments: json!({}),
    };
    let result = match runtime.call(call, &CancellationToken::new()).await {
        Ok(result) => result,
        Err(CallError::NotSaved { result, source }) => {
            let error = anyhow::Error::new(source);
            terminal::note(&format!("overspill: the result could not be saved: {error:#}"));
            *result
        }
        Err(error) => return Err(error.into()),
    };
    if let Some(Incomplete { reason: IncompleteReason::StorageError, detail }) = &result.incomplete
    {
        let detail = detail.as_deref().unwrap_or("it could not be stored");
        terminal::note(&format!("overspill: the text is not kept: {detail}"));
    }
    terminal::print_bytes(result.text().as_bytes())?;
    if let Some(home) = home {
        upkeep::start(home.store.blocking(), &home.root);
    }
    Ok(exit::OK)
}

/// All of standard input, which is held in memory as a tool would hold it.
fn read_text(limit: u64) -> anyhow::Result<Bytes> {
    let mut text = Vec::new();
    stdin().lock().take(limit + 1).read_to_end(&mut text).context("standard input")?;
    if text.len() as u64 > limit {
        bail!(
            "standard input has more than {limit} bytes ([capture] max_stream_bytes); for output \
             of any size there is `overspill run`"
        );
    }
    Ok(text.into())
}

/// A tool that has already run, somewhere else.
#[derive(Debug)]
struct Supplied {
    spec: ToolSpec,
    text: Bytes,
}

impl Supplied {
    fn new(args: &SpillArgs, text: Bytes) -> Self {
        let spec = ToolSpec {
            name: args.tool.clone(),
            description: String::new(),
            input_schema: json!({ "type": "object" }),
            output_schema: None,
            annotations: Fields::new(),
            output: OutputDeclaration::Single,
            handling: OutputHandling::Captured,
            reads_artifacts: false,
        };
        Self { spec, text }
    }
}

#[async_trait]
impl Tool for Supplied {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn prepare(&self, _arguments: Value) -> Result<Box<dyn PreparedCall>, PrepareError> {
        Ok(Box::new(SuppliedCall(self.text.clone())))
    }
}

#[derive(Debug)]
struct SuppliedCall(Bytes);

#[async_trait]
impl PreparedCall for SuppliedCall {
    fn resources(&self) -> Vec<Resource> {
        Vec::new()
    }

    async fn execute(self: Box<Self>, cx: CallContext) -> Completion {
        match cx.sink.full(self.0) {
            Ok(output) => Completion::completed(output),
            Err(rejected) => Completion::failed(rejected.sink.empty()),
        }
    }
}
