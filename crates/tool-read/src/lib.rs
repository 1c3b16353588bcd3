//! The `read` tool.
//!
//! It pages through stored output and through text files.
//!
//! [`ReadTool`] is a [`tool_api::Tool`] over any artifact store. A page of an
//! artifact is stored content and nothing else; a page of a file has line
//! numbers. Both are bounded, say how to go on where more remains, and are
//! never captured or cut again.
//!
//! - `artifact`: a `filePath` with artifact intent, decided before anything
//!   looks at it as a path.
//! - `file`: text files. What is opened is the path that was approved, and no
//!   symbolic link on the way to it.
//!
//! Directories, images and PDFs are refused for now: their modules will be
//! `directory` and `media`. Unix only. It must run within a tokio runtime, for
//! its threads for blocking work.
//!
//! ```
//! use std::sync::Arc;
//!
//! use artifacts::ArtifactStore;
//! use tool_api::{OutputHandling, Tool};
//! use tool_read::{ReadConfig, ReadTool};
//!
//! fn reader(store: Arc<dyn ArtifactStore>) -> Result<ReadTool, Box<dyn std::error::Error>> {
//!     let mut config = ReadConfig::new("/home/me/project");
//!     config.home = Some("/home/me".into());
//!     let tool = ReadTool::new(store, config)?;
//!     assert_eq!(tool.spec().name.as_str(), "read");
//!     assert_eq!(tool.spec().handling, OutputHandling::SelfPaginating);
//!     Ok(tool)
//! }
//! ```

mod arguments;
mod artifact;
mod call;
mod config;
mod file;
mod presentation;
mod tool;

pub use config::{ReadConfig, ReadConfigError};
pub use tool::ReadTool;
