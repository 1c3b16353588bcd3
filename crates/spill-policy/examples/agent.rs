//! An agent with a loop of its own that keeps long results out of its context.
//!
//! Run it: `cargo run -p spill-policy --example agent`. What the three crates
//! add to the agent is between the two marks.

use camino::Utf8Path;
use output_contract::SessionId;
// spill: begin
use spill_local::LocalSpill;
use spill_policy::{Applied, FinishedText, MaxInlineBytes, apply};

/// What the model gets of a result.
async fn presented(store: &LocalSpill, session: &SessionId, call: &str, result: String) -> String {
    let cap = MaxInlineBytes::new(2_000).expect("it is not 0");
    let call = call.parse().expect("a call id");
    let tool = "fetch".parse().expect("a tool name");
    let finished = FinishedText::new(&result, session.clone(), tool, call);
    match apply(&finished, cap, Some(store)).await {
        Applied::Spilled(spilled) => spilled.text,
        _ => result,
    }
}
// spill: end

/// The agent's own tool.
fn fetch(lines: u32) -> String {
    (1..=lines).map(|n| format!("line {n} of a page\n")).collect()
}

/// The agent's own loop, without a model: what that would see of three calls.
pub(crate) async fn run(directory: &Utf8Path) -> Vec<String> {
    let store = LocalSpill::new(directory.join("spill")).expect("an absolute path");
    let session: SessionId = "session-1".parse().expect("a session id");
    let mut history = Vec::new();
    for (call, lines) in [("call-1", 3), ("call-2", 10_000), ("call-3", 100)] {
        history.push(presented(&store, &session, call, fetch(lines)).await);
    }
    history
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    let path = Utf8Path::from_path(directory.path()).ok_or("a directory that is not UTF-8")?;
    for text in run(path).await {
        println!("--- {} bytes\n{text}", text.len());
    }
    Ok(())
}
