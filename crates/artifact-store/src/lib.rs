//! Artifacts in a local directory, shared by many processes without a daemon.
//!
//! A [`LocalStore`] keeps blobs by their SHA-256 and the manifests that name
//! them. What it has [published](LocalStore::publish) is protected by a
//! [`StoreGuard`] until it is [retained](StoreGuard::retain) for a call; what
//! nothing protects or retains is [collected](LocalStore::collect), while other
//! processes publish and read. Killing a process at any instant loses nothing
//! that was published and leaves nothing that a collection would not find.
//!
//! Every byte that is served was verified, at the cost of the bytes served: a
//! sidecar index keeps the hash states of large blobs (crate `artifacts`). It
//! protects from damage; whoever can rewrite a blob *and* its sidecar is found
//! by [verifying](LocalStore::verify) only.
//!
//! It blocks, and knows no runtime. With the feature `tokio`, `AsyncStore` is
//! its asynchronous face, which implements [`artifacts::ArtifactStore`].
//!
//! Limitations: Unix only; a local file system with hard links and flock.
//!
//! ```
//! use artifact_store::{LocalStore, StoreOptions};
//! use artifacts::{CaptureMeta, CollectOptions, Publication};
//! use output_contract::{ArtifactUri, OutputDeclaration, Timestamp};
//!
//! # let scratch = tempfile::tempdir()?;
//! # let root = camino::Utf8Path::from_path(scratch.path()).expect("a UTF-8 path").join("store");
//! let store = LocalStore::open(&root, StoreOptions::default())?;
//! let capture = store.captures().create(&CaptureMeta {
//!     session_id: "session".parse()?,
//!     call_id: "call-1".parse()?,
//!     parent_call_id: None,
//!     tool: "bash".parse()?,
//!     title: String::new(),
//!     output: OutputDeclaration::Single,
//!     started_at: Timestamp(1_700_000_000_000),
//!     timeout_ms: None,
//! })?;
//! let mut writer = capture.stream_writer(0)?;
//! writer.append(b"a.txt\nb.txt\n")?;
//! let blob = std::sync::Arc::new(writer.seal()?);
//!
//! let guard = store.publish(&Publication { blobs: vec![blob], manifest: None })?;
//! let uri = ArtifactUri::bare(guard.digests()[0]);
//! guard.retain(&"session".parse()?, &"call-1".parse()?)?;
//! guard.release();
//! capture.remove()?;
//!
//! store.collect(&CollectOptions { grace: std::time::Duration::ZERO, dry_run: false, force: false })?;
//! let artifact = store.open_artifact(&uri)?;
//! assert_eq!(artifact.read(artifact.line_start(1)?..12)?, "b.txt\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod artifact;
#[cfg(feature = "tokio")]
mod asynchronous;
mod borrow;
mod collect;
mod error;
mod expired;
#[cfg(feature = "fault-injection")]
#[doc(hidden)]
pub mod fuzzing;
mod guard;
mod layout;
mod lease;
mod local;
mod lock;
mod publish;
mod record;
mod retention;
mod roots;
mod shelf;
mod stat;
mod tree;
mod verify;

pub use artifact::StoredArtifact;
#[cfg(feature = "tokio")]
pub use asynchronous::AsyncStore;
pub use error::StoreError;
pub use guard::StoreGuard;
pub use local::{LocalStore, StoreOptions};
pub use retention::RetentionLimits;
pub use stat::{OwnerStat, StoreStat};
pub use verify::{CorruptArtifact, MissingArtifact, VerifyProgress, VerifyReport};
