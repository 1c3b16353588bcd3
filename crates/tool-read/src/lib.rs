//! The `read` tool.
//!
//! It pages through stored output, text files and directories, and attaches
//! images and PDFs.
//!
//! [`ReadTool`] is a [`tool_api::Tool`] over any artifact store. A page of an
//! artifact is stored content and nothing else; a page of a file has line
//! numbers. Pages are bounded, say how to go on where more remains, and are
//! never captured or cut again.
//!
//! - `artifact`: a `filePath` with artifact intent, decided before anything
//!   looks at it as a path.
//! - `filesystem`: everything else. What is opened is the path that was
//!   approved, and no symbolic link on the way to it. It becomes what `file`,
//!   `directory` and `media` make of text, entries, and images and PDFs.
//! - `workspace`: [`WorkspaceApprover`], which keeps calls to the directories
//!   that an agent works in.
//!
//! Unix only. The tool must run within a tokio runtime, for its threads for
//! blocking work.
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
mod directory;
mod file;
mod filesystem;
mod media;
mod presentation;
mod tool;
mod workspace;

pub use config::{ReadConfig, ReadConfigError};
pub use tool::ReadTool;
pub use workspace::{RootError, WorkspaceApprover};
