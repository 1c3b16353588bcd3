//! The seam between what makes or reads artifacts and where they are kept.
//!
//! An artifact is the exact bytes that a tool wrote, addressed by their
//! SHA-256. Output is first [captured](capture) into locked local files; sealed
//! captures are [published](ArtifactStore::publish) to a store, together with a
//! [`Manifest`] where the output has named streams; what is stored is
//! [read](ArtifactReader) by verified byte ranges and cut into [pages](page()).
//!
//! The traits know no backend. The only I/O of this crate is that of captures,
//! which are local files whatever backend publishes them; it blocks. Unix only.
//!
//! ```
//! use artifacts::{CaptureMeta, CaptureRoot, Durability};
//! use output_contract::{OutputDeclaration, Timestamp};
//!
//! # let scratch = tempfile::tempdir()?;
//! # let dir = camino::Utf8Path::from_path(scratch.path()).expect("a UTF-8 path");
//! let captures = CaptureRoot::new(dir.join("captures"), Durability::Fast);
//! let capture = captures.create(&CaptureMeta {
//!     session_id: "session".parse()?,
//!     call_id: "call-1".parse()?,
//!     parent_call_id: None,
//!     tool: "bash".parse()?,
//!     title: "list files".to_owned(),
//!     output: OutputDeclaration::Single,
//!     started_at: Timestamp(1_700_000_000_000),
//!     timeout_ms: None,
//! })?;
//! let mut writer = capture.stream_writer(0)?;
//! writer.append(b"a.txt\nb.txt\n")?;
//! let sealed = writer.seal()?;
//! assert_eq!((sealed.bytes(), sealed.lines()), (12, 2));
//! capture.remove()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod blocking;
pub mod capture;
#[cfg(feature = "conformance")]
pub mod conformance;
mod durability;
pub mod error;
#[doc(hidden)]
pub mod fs;
pub mod hash;
mod journal;
mod manifest;
mod page;
pub mod sidecar;
mod store;

pub use blocking::BlockingWork;
pub use capture::{
    Capture, CaptureMeta, CaptureRoot, CaptureWriter, DeadCapture, FileId, RecoveredCapture,
    SealedCapture,
};
pub use durability::Durability;
pub use error::{
    CaptureError, CollectError, FileError, OpenError, PublishError, ReadError, RootError,
};
pub use journal::{Journal, JournalError};
pub use manifest::{MANIFEST_VERSION, MAX_MANIFEST_BYTES, Manifest, ManifestError, ManifestStream};
pub use page::{
    BlockingReader, Page, PageError, PagePosition, PageRequest, PageSuggestion, page, page_blocking,
};
pub use store::{
    ArtifactReader, ArtifactStore, Capabilities, CollectOptions, CollectReport, Guard, Publication,
    RetainedCall,
};
