//! Paths: what is approved, opening exactly that, and what becomes of it.
//!
//! Responsible for one call of the tool on a path. A text file and a directory
//! become a page, an image and a PDF an attachment; all else is refused.
//! Reading is done on a thread for blocking work, in bounded memory, and stops
//! soon after the call is cancelled or dropped.

pub(crate) mod error;
pub(crate) mod open;
pub(crate) mod path;
mod similar;

use std::sync::Arc;

use artifacts::{BlockingReader, Page, PageError, ReadError, page_blocking};
use async_trait::async_trait;
use camino::{Utf8Path, Utf8PathBuf};
use tokio::task::spawn_blocking;
use tool_api::{
    Access, CallContext, CancellationToken, Completion, NewAttachment, PrepareError, PreparedCall,
    Resource,
};

use self::error::FileError;
use self::open::{Opened, open};
use crate::directory::Listing;
use crate::file::{TextFile, numbered};
use crate::media::{self, Kind, SNIFF_BYTES};
use crate::presentation::{self, ShownPage, Unit, explain};
use crate::tool::Request;

/// One call on a path.
#[derive(Debug)]
pub(crate) struct PathCall {
    /// The path without links: what is approved, and what is opened.
    path: Utf8PathBuf,
    request: Request,
}

impl PathCall {
    /// Finds out which path is meant; whether it exists is not said yet.
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
impl PreparedCall for PathCall {
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
            spawn_blocking(move || read(&path, &request, &stop))
        };
        let _stop_reading = stop.drop_guard();
        let read = tokio::select! {
            biased;
            () = cx.cancel.cancelled() => Ok(Ok(None)),
            read = reading => read,
        };
        match read {
            Ok(Ok(Some(Read::Page(page)))) => {
                let too_large = || too_large(&request).to_string();
                presentation::complete(cx.sink, request.call(), page, too_large)
            }
            Ok(Ok(Some(Read::Media(attachment)))) => presentation::attach(cx.sink, attachment),
            Ok(Ok(None)) => presentation::cancelled(cx.sink),
            Ok(Err(error)) => presentation::fail(cx.sink, &explain(&error)),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            // The runtime is shutting down.
            Err(_) => presentation::cancelled(cx.sink),
        }
    }
}

/// What a path gives.
#[derive(Debug)]
enum Read {
    Page(ShownPage),
    Media(NewAttachment),
}

/// Opens what was approved and reads it. Blocking; `None` where `stop` fired.
fn read(
    path: &Utf8Path,
    request: &Request,
    stop: &CancellationToken,
) -> Result<Option<Read>, FileError> {
    let file = match open(path)? {
        Opened::File(file) => file,
        Opened::Directory(directory) => {
            let Some(listing) = Listing::of(&directory, path, stop)? else { return Ok(None) };
            let page = page(&listing, path, request)?;
            let text = String::from_utf8_lossy(&page.bytes).into_owned();
            return Ok(Some(Read::Page(ShownPage::new(&page, Unit::Entry, text))));
        }
    };
    let mut start = vec![0; SNIFF_BYTES];
    let read = file.read_at(&mut start, 0).map_err(|error| FileError::read(path, error))?;
    match Kind::of(&start[..read]) {
        Kind::Text => {
            let Some(text) = TextFile::survey(file, path, stop)? else { return Ok(None) };
            let page = page(&text, path, request)?;
            let text = numbered(&page.bytes, page.offset);
            Ok(Some(Read::Page(ShownPage::new(&page, Unit::Line, text))))
        }
        Kind::Media(media) => Ok(media::attach(&file, media, path, stop)?.map(Read::Media)),
        Kind::Binary { kind } => {
            let bytes = file.bytes.max(read as u64);
            Err(FileError::Binary { path: path.to_owned(), kind, bytes })
        }
    }
}

fn page(
    lines: &impl BlockingReader,
    path: &Utf8Path,
    request: &Request,
) -> Result<Page, FileError> {
    page_blocking(lines, &request.page()).map_err(|error| match error {
        PageError::TooLarge { .. } => too_large(request),
        PageError::ByteOffsetPastLine { offset, byte_offset, line_bytes } => {
            FileError::ByteOffset { offset, byte_offset, line_bytes }
        }
        PageError::Read(ReadError::File(error)) => FileError::read(path, Arc::clone(&error.source)),
        source => FileError::Page { path: path.to_owned(), source },
    })
}

fn too_large(request: &Request) -> FileError {
    FileError::TooLarge { works: request.without_limit().to_string() }
}
