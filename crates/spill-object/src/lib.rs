//! A spill backend over an object store: S3 and what speaks its protocol, Google
//! Cloud Storage, Azure, a directory, or memory, chosen by a URL.
//!
//! ```text
//! <url>/session-<12 hex of SHA-256(session)>/<12 hex at random>-<name>
//! ```
//!
//! An object is made and never overwritten, and is there whole or not at all. In
//! the cloud it has the content type `text/plain; charset=utf-8`. Credentials,
//! regions and endpoints come from the variables that the crate `object_store`
//! knows (`AWS_ACCESS_KEY_ID`, `GOOGLE_SERVICE_ACCOUNT`,
//! `AZURE_STORAGE_ACCOUNT_NAME`, `AWS_ENDPOINT` with `AWS_ALLOW_HTTP` and so
//! on). It tries again for a minute, which bridges a server that restarts.
//!
//! ```
//! use spill::{SaveText, SpillOwner, SpillSource, SpillStore};
//! use spill_object::ObjectSpill;
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # runtime.block_on(async {
//! // In a program: "s3://bucket/prefix" and `std::env::vars()`.
//! let store = ObjectSpill::open("memory:///spill", [])?;
//! let saved = store.save_text(SaveText {
//!     owner: SpillOwner { session: "session-1".parse()? },
//!     source: SpillSource { tool: "fetch".parse()?, call: "call-1".parse()?, label: "result".into() },
//!     suggested_name: "fetch.txt".to_owned(),
//!     content: "all of it\n".to_owned(),
//! }).await?;
//! assert!(saved.locator.as_str().starts_with("memory:///spill/session-"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Limitations: it must run within a tokio runtime. A text is sent in one
//! request. Nothing is ever removed: the store's own rules for old objects do
//! that. Where an answer was lost, a text may be there twice. Files are as
//! private as the user's umask makes them: the crate `spill-local` does better.

mod error;
mod location;
mod object;
mod setup;

pub use error::{ObjectSaveError, ObjectSpillError};
pub use object::ObjectSpill;
