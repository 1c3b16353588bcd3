//! The `bash` tool, and the process engine under it.
//!
//! - [`process`] starts one command in a process group of its own, carries
//!   every byte it writes to two channels, and ends the whole group on time.
//! - [`run_in_call`] makes that a tool call with a live display and a
//!   completion; [`ProcessCall`] is such a call, ready to execute.
//! - [`BashTool`] runs the command lines of a model; [`RunTool`] runs one argv
//!   without a shell, for a program such as `overspill run`.
//!
//! Nothing here stores or cuts output: a command may write any amount, and
//! waits while its channel does.
//!
//! Limitations: Unix only; nothing is sandboxed; a process that leaves its
//! process group outlives the command ([`process`] says more).
//!
//! ```
//! use serde_json::json;
//! use tool_api::{Resource, Tool};
//! use tool_bash::{BashConfig, BashTool};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tool = BashTool::new(BashConfig::default())?;
//! let call = tool.prepare(json!({"command": "make test\n", "timeout": 60_000})).await?;
//! assert_eq!(call.title(), "make test");
//! assert_eq!(call.resources(), [Resource::Command { line: "make test\n".into() }]);
//!
//! let error = tool.prepare(json!({"command": "make", "timeout": 0})).await.unwrap_err();
//! assert!(error.to_string().contains("from 1 to 600000"));
//! # Ok(())
//! # }
//! ```

mod bash;
mod call;
mod command_line;
mod live;
pub mod process;
mod run;

pub use bash::{BASH_TOOL, BashConfig, BashConfigError, BashTool};
pub use call::{ProcessCall, declaration, run_in_call};
pub use run::{RUN_TOOL, RunTool};
