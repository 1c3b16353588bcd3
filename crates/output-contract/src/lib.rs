//! The vocabulary that every part of Overspill speaks.
//!
//! A tool declares its output ([`OutputDeclaration`]), sends it as [`Delta`]s
//! or supplies it at once ([`FullOutput`]), and ends with a [`Status`]. What
//! is kept of that call is one [`ToolResult`], which refers to stored bytes by
//! [`Digest`] and is read back through an [`ArtifactUri`].
//!
//! This crate validates and (de)serialises; it does no I/O and knows nothing
//! of where bytes are stored or how text is cut.
//!
//! ```
//! use output_contract::{ArtifactUri, Chunk, Delta, OutputDeclaration};
//!
//! let declaration = OutputDeclaration::named(["results", "diagnostics"])?;
//! let delta = Delta::from(Chunk::named("results".parse()?, "3 files\n"));
//! declaration.check_delta(&delta)?;
//! assert!(declaration.check_delta(&Delta::from(Chunk::single("?"))).is_err());
//!
//! let uri = format!("artifact://{}/results", "0".repeat(64));
//! assert_eq!(uri.parse::<ArtifactUri>()?.to_string(), uri);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(
    feature = "bindings",
    expect(clippy::disallowed_types, reason = "the code that ts-rs derives names `PathBuf`")
)]

#[cfg(feature = "bindings")]
pub mod bindings;
mod content;
mod declaration;
mod delta;
mod digest;
mod event;
mod full;
mod history;
mod ids;
mod lenient;
pub mod limits;
mod live;
mod page;
mod protocol;
mod result;
mod status;
mod stream;
mod timestamp;
mod uri;

pub use content::{
    Attachment, Content, ContentBody, EmittedMessage, EmittedRole, Fields, Structured,
};
pub use declaration::{DeclarationError, OutputDeclaration, StreamNames};
pub use delta::{Chunk, Delta, DeltaError, split_text};
pub use digest::{Digest, DigestError};
pub use event::{
    EVENT_KINDS, EventDiagnostic, SavedEvent, decode_event, decode_event_value, encode_event,
};
pub use full::{FullOutput, FullOutputError};
pub use history::{HistoryItem, MessageRole};
pub use ids::{CallId, IdError, SessionId, ToolName};
pub use live::LiveEvent;
pub use page::{PageContent, PageRecord};
pub use protocol::PROTOCOL_VERSION;
pub use result::{OutputKind, ResultOutput, StreamRecord, ToolResult};
pub use status::{Exit, Incomplete, IncompleteReason, Status};
pub use stream::{StreamName, StreamNameError};
pub use timestamp::Timestamp;
pub use uri::{ArtifactUri, ArtifactUriError, is_artifact_intent};
