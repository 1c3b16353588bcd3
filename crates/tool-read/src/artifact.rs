//! Pages of stored output.
//!
//! Responsible for one call of the tool on an artifact: the strict URI, the
//! page as the artifact seam cuts it, and a message of its own for each way in
//! which there is none. It knows no path.

use std::error::Error;
use std::ops::Range;
use std::sync::Arc;

use artifacts::{ArtifactStore, OpenError, PageError, PagePosition, ReadError};
use async_trait::async_trait;
use output_contract::limits::MAX_PAGE_BYTES;
use output_contract::{ArtifactUri, StreamName};
use tool_api::{CallContext, Completion, PrepareError, PreparedCall, Resource};

use crate::arguments::excerpt;
use crate::call::ReadCall;
use crate::presentation::{self, ShownPage, Unit, explain};
use crate::tool::Request;

/// One call on an artifact.
#[derive(Debug)]
pub(crate) struct ArtifactCall {
    store: Arc<dyn ArtifactStore>,
    uri: ArtifactUri,
    request: Request,
}

impl ArtifactCall {
    /// Parses the URI; nothing is looked up.
    ///
    /// # Errors
    /// [`PrepareError::Arguments`] where it is malformed.
    pub(crate) fn prepare(
        store: Arc<dyn ArtifactStore>,
        request: Request,
    ) -> Result<Self, PrepareError> {
        let given = &request.arguments.file_path;
        let uri = ArtifactUri::parse(given).map_err(|error| {
            PrepareError::arguments(format!(
                "malformed artifact URI {:?}: {}; use it exactly as it was printed (a file of this \
                 name is ./<name>)",
                excerpt(given),
                explain(&error)
            ))
        })?;
        Ok(Self { store, uri, request })
    }

    async fn page(&self) -> Result<ShownPage, ArtifactError> {
        let reader = self.store.open(&self.uri).await.map_err(|error| self.open_error(error))?;
        let page = artifacts::page(&*reader, &self.request.page())
            .await
            .map_err(|error| self.page_error(error))?;
        let text = String::from_utf8_lossy(&page.bytes).into_owned();
        Ok(ShownPage::new(&page, Unit::Line, text))
    }

    fn open_error(&self, error: OpenError) -> ArtifactError {
        let uri = self.uri.clone();
        match error {
            OpenError::Unknown { .. } => ArtifactError::Unknown { uri },
            expired @ OpenError::Expired { .. } => ArtifactError::Expired { source: expired },
            OpenError::NotNamed { digest } => {
                let file_path = ArtifactUri::bare(digest).to_string();
                let position = PagePosition { byte_offset: 0, ..self.request.call().position };
                let works =
                    ReadCall { file_path: &file_path, position, ..self.request.without_limit() };
                ArtifactError::NotNamed { uri, works: works.to_string() }
            }
            OpenError::UnknownStream { declared, .. } => {
                ArtifactError::UnknownStream { uri, declared }
            }
            OpenError::Corrupt { range, .. } => ArtifactError::Corrupt { uri, range },
            other => ArtifactError::Store { uri, source: Box::new(other) },
        }
    }

    fn page_error(&self, error: PageError) -> ArtifactError {
        let uri = self.uri.clone();
        match error {
            PageError::TooLarge { .. } => self.too_large(),
            PageError::ByteOffsetPastLine { offset, byte_offset, line_bytes } => {
                ArtifactError::ByteOffset { offset, byte_offset, line_bytes }
            }
            PageError::Read(ReadError::Corrupt { range, .. }) => {
                ArtifactError::Corrupt { uri, range }
            }
            other => ArtifactError::Store { uri, source: Box::new(other) },
        }
    }

    fn too_large(&self) -> ArtifactError {
        ArtifactError::TooLarge { works: self.request.without_limit().to_string() }
    }
}

#[async_trait]
impl PreparedCall for ArtifactCall {
    fn title(&self) -> String {
        self.request.title()
    }

    fn resources(&self) -> Vec<Resource> {
        vec![Resource::Artifact(self.uri.clone())]
    }

    async fn execute(self: Box<Self>, cx: CallContext) -> Completion {
        let page = tokio::select! {
            biased;
            () = cx.cancel.cancelled() => return presentation::cancelled(cx.sink),
            page = self.page() => page,
        };
        match page {
            Ok(page) => {
                let too_large = || self.too_large().to_string();
                presentation::complete(cx.sink, self.request.call(), page, too_large)
            }
            Err(error) => presentation::fail(cx.sink, &explain(&error)),
        }
    }
}

/// Why there is no page: one message for each reason, for the model to act on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
enum ArtifactError {
    #[error(
        "unknown artifact {uri}: nothing is stored under this digest; check it against where it \
         was printed"
    )]
    Unknown { uri: ArtifactUri },
    #[error(transparent)]
    Expired { source: OpenError },
    #[error("{uri} is not a named output, so it has no streams; this works: {works}")]
    NotNamed { uri: ArtifactUri, works: String },
    #[error("{uri} names an unknown stream; the streams of this output are {}", names(declared))]
    UnknownStream { uri: ArtifactUri, declared: Vec<StreamName> },
    #[error(
        "{uri} is corrupt: its stored bytes {} to {} are damaged and are not shown; do not read \
         them again, run the command again where that is possible",
        range.start, range.end
    )]
    Corrupt { uri: ArtifactUri, range: Range<u64> },
    #[error(
        "byteOffset {byte_offset} is past the end of line {offset}, which has {line_bytes} bytes"
    )]
    ByteOffset { offset: u64, byte_offset: u64, line_bytes: u64 },
    #[error(
        "the lines asked for are larger, as shown, than the {MAX_PAGE_BYTES} bytes that a page holds; \
         this works: {works}"
    )]
    TooLarge { works: String },
    #[error("cannot read {uri}")]
    Store {
        uri: ArtifactUri,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

fn names(names: &[StreamName]) -> String {
    names.iter().map(StreamName::as_str).collect::<Vec<_>>().join(", ")
}
