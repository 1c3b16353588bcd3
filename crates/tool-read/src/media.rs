//! Images and PDFs, which are attached whole.
//!
//! Responsible for their kind, their size and their bytes. Where the
//! attachment is stored, and how a model gets it, is not decided here.

mod kind;

use camino::Utf8Path;
use output_contract::limits::MAX_ATTACHMENT_BYTES;
use tool_api::{CancellationToken, NewAttachment};

pub(crate) use self::kind::{Kind, SNIFF_BYTES};
use crate::filesystem::error::FileError;
use crate::filesystem::open::RegularFile;

/// How much is read between two looks at the cancellation, in bytes.
const STEP_BYTES: usize = 1024 * 1024;

/// What is attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Media {
    Image { media_type: &'static str },
    Pdf,
}

impl Media {
    /// The media type, such as `image/png`.
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Image { media_type } => media_type,
            Self::Pdf => "application/pdf",
        }
    }

    /// What to do with a file that is too large.
    fn advice(self) -> &'static str {
        match self {
            Self::Image { .. } => "make a smaller copy of it with a command, and read that",
            Self::Pdf => "extract its text or some of its pages with a command, and read that",
        }
    }
}

/// Reads the whole of `file`; `None` where `cancel` fired meanwhile. Blocking.
///
/// # Errors
/// [`FileError`] where it is larger than an attachment or cannot be read.
pub(crate) fn attach(
    file: &RegularFile,
    media: Media,
    path: &Utf8Path,
    cancel: &CancellationToken,
) -> Result<Option<NewAttachment>, FileError> {
    let too_large = |bytes| FileError::MediaTooLarge {
        path: path.to_owned(),
        media_type: media.media_type(),
        bytes,
        advice: media.advice(),
    };
    if file.bytes > MAX_ATTACHMENT_BYTES as u64 {
        return Err(too_large(file.bytes));
    }
    // It may have grown since its size was looked at, so there is an end to what is read.
    let mut bytes = Vec::with_capacity(usize::try_from(file.bytes).unwrap_or(0));
    while bytes.len() <= MAX_ATTACHMENT_BYTES {
        if cancel.is_cancelled() {
            return Ok(None);
        }
        let filled = bytes.len();
        bytes.resize(filled + STEP_BYTES, 0);
        let read = file
            .read_at(&mut bytes[filled..], filled as u64)
            .map_err(|error| FileError::read(path, error))?;
        bytes.truncate(filled + read);
        if read < STEP_BYTES {
            break;
        }
    }
    let (size, name) = (bytes.len() as u64, path.file_name().map(str::to_owned));
    let attachment = NewAttachment::new(media.media_type(), name, bytes);
    attachment.map(Some).map_err(|_| too_large(size))
}
