//! Pages of text files.
//!
//! Responsible for one call of the tool on a path: what is approved, opening
//! exactly that, and the page with its line numbers. Reading is done on a
//! thread for blocking work, in one pass and in bounded memory, and stops soon
//! after the call is cancelled or dropped.

mod error;
mod kind;
mod numbering;
mod open;
mod path;
mod similar;
mod text;

use std::sync::Arc;

use artifacts::{PageError, ReadError, page_blocking};
use async_trait::async_trait;
use camino::{Utf8Path, Utf8PathBuf};
use tokio::task::spawn_blocking;
use tool_api::{
    Access, CallContext, CancellationToken, Completion, PrepareError, PreparedCall, Resource,
};

use self::error::FileError;
use self::numbering::numbered;
use self::open::open_regular;
use self::text::TextFile;
use crate::presentation::{self, ShownPage, explain};
use crate::tool::Request;

/// One call on a file.
#[derive(Debug)]
pub(crate) struct FileCall {
    /// The path without links: what is approved, and what is opened.
    path: Utf8PathBuf,
    request: Request,
}

impl FileCall {
    /// Finds out which file is meant; whether it exists is not said yet.
    ///
    /// # Errors
    /// [`PrepareError`] where it can be none.
    pub(crate) async fn prepare(request: Request) -> Result<Self, PrepareError> {
        let located = path::locate(&request.arguments.file_path, &request.config)
            .map_err(|error| PrepareError::arguments(explain(&error)))?;
        let resolved = spawn_blocking(move || path::resolve(&located)).await;
        let resolved = resolved.map_err(|source| PrepareError::Unavailable {
            message: "the path could not be resolved; call again".to_owned(),
            source: Box::new(source),
        })?;
        let path = resolved.map_err(|error| PrepareError::arguments(explain(&error)))?;
        Ok(Self { path, request })
    }
}

#[async_trait]
impl PreparedCall for FileCall {
    fn title(&self) -> String {
        self.request.title()
    }

    fn resources(&self) -> Vec<Resource> {
        vec![Resource::Filesystem { path: self.path.clone(), access: Access::Read }]
    }

    async fn execute(self: Box<Self>, cx: CallContext) -> Completion {
        let Self { path, request } = *self;
        // Fires when the call is cancelled, and when this future is dropped.
        let stop = cx.cancel.child_token();
        let reading = {
            let (request, stop) = (request.clone(), stop.clone());
            spawn_blocking(move || read_page(&path, &request, &stop))
        };
        let _stop_reading = stop.drop_guard();
        let read = tokio::select! {
            biased;
            () = cx.cancel.cancelled() => Ok(Ok(None)),
            read = reading => read,
        };
        match read {
            Ok(Ok(Some(page))) => {
                let too_large = || too_large(&request).to_string();
                presentation::complete(cx.sink, request.call(), page, too_large)
            }
            Ok(Ok(None)) => presentation::cancelled(cx.sink),
            Ok(Err(error)) => presentation::fail(cx.sink, &explain(&error)),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            // The runtime is shutting down.
            Err(_) => presentation::cancelled(cx.sink),
        }
    }
}

/// Opens what was approved and reads the page. Blocking; `None` where `stop`
/// fired.
fn read_page(
    path: &Utf8Path,
    request: &Request,
    stop: &CancellationToken,
) -> Result<Option<ShownPage>, FileError> {
    let Some(text) = TextFile::survey(open_regular(path)?, path, stop)? else {
        return Ok(None);
    };
    let page = page_blocking(&text, &request.page()).map_err(|error| match error {
        PageError::TooLarge { .. } => too_large(request),
        PageError::ByteOffsetPastLine { offset, byte_offset, line_bytes } => {
            FileError::ByteOffset { offset, byte_offset, line_bytes }
        }
        PageError::Read(ReadError::File(error)) => FileError::read(path, Arc::clone(&error.source)),
        source => FileError::Page { path: path.to_owned(), source },
    })?;
    let text = numbered(&page.bytes, page.offset);
    Ok(Some(ShownPage::new(&page, text)))
}

fn too_large(request: &Request) -> FileError {
    FileError::TooLarge { works: request.without_limit().to_string() }
}
