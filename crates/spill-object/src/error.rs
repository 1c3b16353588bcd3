//! Why a store cannot be set up, and why it does not take a text.

/// Why a store cannot be set up. Nothing was sent to it yet.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectSpillError {
    /// It is no URL.
    #[error("{url:?} is no URL; an object store is named like s3://bucket/prefix")]
    Url {
        /// The text.
        url: String,
        /// Why.
        #[source]
        source: url::ParseError,
    },
    /// It has what would not belong into a locator.
    #[error("the URL of an object store must not have {what}")]
    UrlPart {
        /// What it has.
        what: &'static str,
    },
    /// No store of this kind, or not with this configuration.
    #[error("the object store {url} cannot be set up")]
    Configuration {
        /// Its URL.
        url: String,
        /// Why.
        #[source]
        source: object_store::Error,
    },
    /// A hint that would not be presented well.
    #[error("a retrieval hint must be one line that is not empty")]
    Hint,
}

/// Why an object store does not take a text. Nothing of it is kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectSaveError {
    /// The store does not let us in.
    #[error("{url} refuses access; check the credentials in the environment and what they allow")]
    Access {
        /// Where.
        url: String,
        /// What the store says.
        #[source]
        source: object_store::Error,
    },
    /// The bucket or container is not there.
    #[error("{url} does not exist; make its bucket or container first")]
    Missing {
        /// Where.
        url: String,
        /// What the store says.
        #[source]
        source: object_store::Error,
    },
    /// Every name that was tried is taken.
    #[error("{attempts} random names in a row were taken below {url}")]
    Taken {
        /// Where.
        url: String,
        /// How many were tried.
        attempts: usize,
    },
    /// The store cannot be reached or cannot do what was asked.
    #[error("{url} did not take the text")]
    Store {
        /// Where.
        url: String,
        /// What the store says, or what became of the connection.
        #[source]
        source: object_store::Error,
    },
    /// The key would not be one.
    #[error("{key:?} is no key of an object")]
    Key {
        /// The key.
        key: String,
        /// Why.
        #[source]
        source: object_store::path::Error,
    },
}

impl ObjectSaveError {
    pub(crate) fn new(url: &str, source: object_store::Error) -> Self {
        let url = url.to_owned();
        match source {
            object_store::Error::PermissionDenied { .. }
            | object_store::Error::Unauthenticated { .. } => Self::Access { url, source },
            object_store::Error::NotFound { .. } => Self::Missing { url, source },
            source => Self::Store { url, source },
        }
    }
}
