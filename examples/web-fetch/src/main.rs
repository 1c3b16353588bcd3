//! An agent's runtime around one call of `web_fetch`, without the agent:
//! `cargo run -p web-fetch-example -- --max-inline-bytes 4000 https://example.org/`.
//!
//! It shows the composition: the tool, a place to spill to and the policy are plugins, installed
//! in this order; the tool knows of neither. What is printed is what a model would see.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use artifact_store::{AsyncStore, LocalStore, StoreOptions};
use artifacts::Durability;
use camino::Utf8PathBuf;
use clap::Parser;
use output_contract::{Status, Timestamp};
use session_log::SessionLogs;
use spill_local::LocalSpill;
use spill_policy::{MaxInlineBytes, SpillPlugin};
use tool_api::{Access, ApproveAll, CancellationToken, Plugin, PluginError, Registrar};
use tool_read::{ReadConfig, ReadTool, WorkspaceApprover};
use tool_runtime::{RuntimeBuilder, ToolCall};
use web_fetch_example::{FetchLimits, WebFetch};

/// Fetches a web page as an agent's tool would, and prints what the model would see.
#[derive(Debug, Parser)]
struct Arguments {
    /// The address.
    url: String,
    /// Where everything is kept.
    #[arg(long, default_value = "web-fetch-home")]
    home: Utf8PathBuf,
    /// The longest result that is shown whole, in bytes; without it, no policy is installed.
    #[arg(long, value_name = "BYTES")]
    max_inline_bytes: Option<usize>,
}

/// Sets the place that long results are spilled to.
#[derive(Debug)]
struct Spill(Arc<LocalSpill>);

impl Plugin for Spill {
    fn install(&self, registrar: &mut Registrar) -> Result<(), PluginError> {
        registrar.spill_store(self.0.clone())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let home = camino::absolute_utf8(&arguments.home)?;
    let store = LocalStore::open(&home.join("store"), StoreOptions::default())?;
    let store = Arc::new(AsyncStore::new(store));
    let logs = SessionLogs::open(home.join("sessions"), Durability::Durable)?;
    let spill = Arc::new(LocalSpill::new(home.join("spill"))?);
    // The model may read what was spilled, and no other file; any host may be fetched from.
    let approver =
        WorkspaceApprover::new().allow(Access::Read, spill.root())?.otherwise(ApproveAll);
    let max_inline_bytes = arguments.max_inline_bytes.map(MaxInlineBytes::new).transpose()?;
    let runtime = RuntimeBuilder::new(store.clone(), Arc::new(logs), now)
        .approver(approver)
        .tool(ReadTool::new(store, ReadConfig::new(&home))?)
        .plugin(&WebFetch::new(FetchLimits::default())?)
        .plugin(&Spill(spill))
        .plugin(&SpillPlugin { max_inline_bytes })
        .build()?;

    let call = ToolCall {
        session_id: "web-fetch".parse()?,
        call_id: now().0.to_string().parse()?,
        parent_call_id: None,
        tool: "web_fetch".parse()?,
        arguments: serde_json::json!({ "url": arguments.url }),
    };
    let result = runtime.call(call, &CancellationToken::new()).await?;
    println!("{}", result.text().trim_end_matches('\n'));
    Ok(if result.status == Status::Completed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[expect(clippy::disallowed_methods, reason = "a program reads the clock, and hands it down")]
fn now() -> Timestamp {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    Timestamp(now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX)))
}
