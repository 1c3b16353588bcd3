//! An agent's loop with everything but the model: `cargo run -p overspill --example agent_loop`.
//! The runtime is composed from crates and offers `bash`, `read` and a tool of our own.

use std::sync::{Arc, LazyLock};

use artifact_store::{AsyncStore, LocalStore, StoreOptions};
use artifacts::{ArtifactStore, Durability};
use async_trait::async_trait;
use output_contract::{Chunk, Delta, Fields, LiveEvent, OutputDeclaration, ToolResult};
use serde_json::{Value, json};
use tool_api::{CallContext, CancellationToken, Completion, PreparedCall, Resource};
use tool_api::{OutputHandling, PrepareError, Tool, ToolSpec};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let scratch = tempfile::tempdir()?;
    let home = camino::Utf8Path::from_path(scratch.path()).expect("a UTF-8 path");
    let store = LocalStore::open(&home.join("store"), StoreOptions::default())?;
    let store: Arc<dyn ArtifactStore> = Arc::new(AsyncStore::new(store));
    let logs = session_log::SessionLogs::open(home.join("sessions"), Durability::Durable)?;
    let runtime =
        tool_runtime::RuntimeBuilder::new(store.clone(), Arc::new(logs), overspill::home::now)
            .tool(tool_bash::BashTool::new(tool_bash::BashConfig::default())?)
            .tool(tool_read::ReadTool::new(store, tool_read::ReadConfig::new(home))?)
            .tool(Lint)
            .build()?;
    let watcher = tokio::spawn(watch(runtime.subscribe()));

    let mut history: Vec<(Value, ToolResult)> = Vec::new();
    while let Some((tool, arguments)) = next_call(history.last()) {
        println!("> {tool}({arguments})");
        let call = tool_runtime::ToolCall {
            session_id: "demo".parse()?,
            call_id: format!("call-{}", history.len()).parse()?,
            parent_call_id: None,
            tool: tool.parse()?,
            arguments: arguments.clone(),
        };
        let result = runtime.call(call, &CancellationToken::new()).await?;
        println!("{}\n", last_lines(&result.text(), 3));
        history.push((arguments, result));
    }
    drop(runtime);
    Ok(watcher.await?)
}

/// Stands in for the model: sees that an output was cut, and reads the rest. A model goes by the
/// hint, a program by the fields (`byteOffset`, too, where lines are so long that one was cut).
fn next_call(last: Option<&(Value, ToolResult)>) -> Option<(&'static str, Value)> {
    let Some((arguments, result)) = last else {
        return Some(("bash", json!({ "command": "seq 50000" })));
    };
    if let Some(cut) = result.output.streams.iter().find(|stream| stream.truncated) {
        return Some(("read", json!({ "filePath": cut.artifact, "offset": cut.next_offset })));
    }
    if let Some(next) = result.metadata.get("nextOffset") {
        return Some(("read", json!({ "filePath": arguments["filePath"], "offset": next })));
    }
    (result.tool.as_str() == "read").then_some(("lint", json!({})))
}

fn last_lines(text: &str, count: usize) -> &str {
    let start = text.trim_end().rmatch_indices('\n').nth(count - 1).map_or(0, |(at, _)| at + 1);
    text[start..].trim_end()
}

/// Shows on the terminal what happens while calls run. It never holds a call back.
async fn watch(mut events: tool_runtime::Subscription) {
    while let Some(event) = events.next().await {
        match event {
            LiveEvent::CallStarted { tool, .. } => eprintln!("| {tool} starts"),
            LiveEvent::Display { text, .. } => eprintln!("| {}", last_lines(&text, 1)),
            LiveEvent::CallFinished { result } => eprintln!("| {}", last_lines(&result.display, 1)),
            LiveEvent::Gap { missed } => eprintln!("| ({missed} events missed)"),
        }
    }
}

/// A tool of our own. It sends what it has; storing, cutting and paging are not its concern.
#[derive(Debug)]
struct Lint;

static LINT: LazyLock<ToolSpec> = LazyLock::new(|| ToolSpec {
    name: "lint".parse().expect("a tool's name"),
    description: "Checks the files of this example, of which there are none.".to_owned(),
    input_schema: json!({ "type": "object" }),
    output_schema: None,
    annotations: Fields::new(),
    output: OutputDeclaration::named(["results", "diagnostics"]).expect("two streams' names"),
    handling: OutputHandling::Captured,
    reads_artifacts: false,
});

#[async_trait]
impl Tool for Lint {
    fn spec(&self) -> &ToolSpec {
        &LINT
    }

    async fn prepare(&self, _arguments: Value) -> Result<Box<dyn PreparedCall>, PrepareError> {
        Ok(Box::new(Self))
    }
}

#[async_trait]
impl PreparedCall for Lint {
    fn resources(&self) -> Vec<Resource> {
        Vec::new()
    }

    async fn execute(self: Box<Self>, cx: CallContext) -> Completion {
        let sink = cx.sink.stream();
        for (index, line) in ["0 problems\n", "no files found\n"].into_iter().enumerate() {
            let chunk = Chunk::named(LINT.output.names()[index].clone(), line);
            let _ = sink.send(Delta::from(chunk).with_display(line)).await;
        }
        Completion::completed(sink.finish()).with_display("0 problems in 0 files")
    }
}
