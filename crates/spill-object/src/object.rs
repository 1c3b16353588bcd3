//! The store: where texts go, and what is said of them.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use object_store::{Attribute, Attributes, ObjectStore, PutMode, PutOptions, PutPayload};
use output_contract::SessionId;
use sha2::{Digest as _, Sha256};
use spill::{BackendError, SaveText, SpillError, SpillLocator, SpillRef, SpillStore, encode_name};
use uuid::Uuid;

use crate::error::{ObjectSaveError, ObjectSpillError};
use crate::location::Location;
use crate::setup::connect;

/// What a text is, for whoever looks at it in the store.
const CONTENT_TYPE: &str = "text/plain; charset=utf-8";
/// Hex digits of a random name, and of a session's.
const HEX_DIGITS: usize = 12;
const SESSION_PREFIX: &str = "session-";
/// Names that are tried. One may be taken by a request of ours whose answer was
/// lost.
const ATTEMPTS: usize = 3;

/// Keeps texts as objects below one URL.
#[derive(Clone)]
pub struct ObjectSpill {
    store: Arc<dyn ObjectStore>,
    location: Location,
}

impl fmt::Debug for ObjectSpill {
    /// Without the store, which may show its credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectSpill").field("location", &self.location).finish_non_exhaustive()
    }
}

impl ObjectSpill {
    /// Keeps texts below a URL such as `s3://bucket/prefix`, with what of
    /// `environment` configures such a store. Nothing is sent yet.
    ///
    /// # Errors
    /// [`ObjectSpillError`] where the URL names no store, or the environment
    /// does not configure it.
    pub fn open(
        url: &str,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ObjectSpillError> {
        let location = Location::parse(url)?;
        let store = connect(&location, environment)
            .map_err(|source| ObjectSpillError::Configuration { url: url.to_owned(), source })?;
        Ok(Self { store, location })
    }

    /// Keeps texts in a store that was set up elsewhere, and speaks of them as
    /// below `url`, whose path they are kept below.
    ///
    /// # Errors
    /// [`ObjectSpillError`] where the URL names no store.
    pub fn over(store: Arc<dyn ObjectStore>, url: &str) -> Result<Self, ObjectSpillError> {
        Ok(Self { store, location: Location::parse(url)? })
    }

    /// Says something else of how a text is read, on one line: where the reader
    /// has a tool for it. The locator is the URL of the object, or its path
    /// where it is a file.
    ///
    /// # Errors
    /// [`ObjectSpillError::Hint`] where the hint is empty or has control
    /// characters.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Result<Self, ObjectSpillError> {
        let hint = hint.into();
        if hint.trim().is_empty() || hint.contains(char::is_control) {
            return Err(ObjectSpillError::Hint);
        }
        self.location.hint = hint;
        Ok(self)
    }

    fn options(&self) -> PutOptions {
        let mut attributes = Attributes::new();
        if self.location.typed {
            attributes.insert(Attribute::ContentType, CONTENT_TYPE.into());
        }
        PutOptions { mode: PutMode::Create, attributes, ..PutOptions::default() }
    }
}

#[async_trait]
impl SpillStore for ObjectSpill {
    async fn save_text(&self, text: SaveText) -> Result<SpillRef, SpillError> {
        let url = self.location.url.as_str();
        let session = session_name(&text.owner.session);
        let bytes = text.content.len() as u64;
        let payload = PutPayload::from(text.content);
        for _ in 0..ATTEMPTS {
            let name = format!("{session}/{}-{}", random_hex(), encode_name(&text.suggested_name));
            let key = self
                .location
                .key(&name)
                .map_err(|source| backend(ObjectSaveError::Key { key: name.clone(), source }))?;
            match self.store.put_opts(&key, payload.clone(), self.options()).await {
                Ok(_) => {
                    let locator =
                        SpillLocator::new(self.location.locator(&name)).map_err(backend)?;
                    let retrieval_hint = self.location.hint.clone();
                    return Ok(SpillRef { locator, bytes, retrieval_hint });
                }
                Err(object_store::Error::AlreadyExists { .. }) => {}
                Err(error) => return Err(backend(ObjectSaveError::new(url, error))),
            }
        }
        Err(backend(ObjectSaveError::Taken { url: url.to_owned(), attempts: ATTEMPTS }))
    }

    fn max_reference_bytes(&self, suggested_name: &str) -> usize {
        let session = SESSION_PREFIX.len() + HEX_DIGITS;
        let leaf = "/".len() + HEX_DIGITS + "-".len() + encode_name(suggested_name).len();
        self.location.locator("").len() + session + leaf + self.location.hint.len()
    }
}

fn backend(error: impl Into<BackendError>) -> SpillError {
    SpillError::Backend(error.into())
}

fn session_name(session: &SessionId) -> String {
    let digest = Sha256::digest(session.as_str().as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{SESSION_PREFIX}{}", &hex[..HEX_DIGITS])
}

/// The first 48 bits of a version 4 UUID, which are all random.
fn random_hex() -> String {
    let mut hex = Uuid::new_v4().simple().to_string();
    hex.truncate(HEX_DIGITS);
    hex
}
