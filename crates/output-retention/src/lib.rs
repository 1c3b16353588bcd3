//! Pure text cutting: what is kept in memory of an output of any size, and how
//! it is shown.
//!
//! Bytes go in, in any chunking; bounded text and exact counts come out. This
//! crate does no I/O and does not know where the bytes are stored.
//!
//! - [`PreviewBuilder`] collects a [`Preview`] while a stream passes by;
//!   [`Preview::cut`] cuts it by [`Limits`]; [`render()`] turns the previews of a
//!   call into the text that the model sees; [`SpilledView`] shows the ends of
//!   one that is kept elsewhere; a [`Reference`] is the line that stands for an
//!   output in a pruned history. All headings, notices, hints and status lines
//!   are written there and nowhere else.
//! - [`HeadTail`], [`Head`], [`Tail`] and [`ItemRetainer`] keep the ends of
//!   streams and sequences and count what they leave out.
//! - [`LiveDisplay`] and [`final_display`] make display text safe and small.
//! - [`Utf8Decoder`] and [`EscapeScanner`] read bytes as text, incrementally.
//!
//! ```
//! use output_contract::{Digest, ArtifactUri, Exit, Status, StreamName};
//! use output_retention::{Ending, Hints, Limits, PreviewBuilder, Shape, StreamView, render};
//!
//! let limits = Limits::new(2, 51_200, Shape::Head, 2)?;
//! let mut stdout = PreviewBuilder::new(limits);
//! for line in ["one\n", "two\n", "three\n"] {
//!     stdout.push(line.as_bytes());
//! }
//! let (stdout, stderr) = (stdout.finish(), PreviewBuilder::new(limits).finish());
//! let names = ["stdout".parse::<StreamName>()?, "stderr".parse()?];
//! let uris = names.clone().map(|name| ArtifactUri::stream(Digest::EMPTY, name));
//! let streams = [
//!     StreamView { name: Some(&names[0]), preview: &stdout, artifact: Some(&uris[0]) },
//!     StreamView { name: Some(&names[1]), preview: &stderr, artifact: Some(&uris[1]) },
//! ];
//! let ending = Ending { exit: Some(Exit::Code(3)), ..Ending::of(Status::Failed) };
//! let hints = Hints::Tool { read_tool: "read".into() };
//!
//! let rendered = render(&streams, &limits, &ending, &hints);
//! let uri = &uris[0];
//! assert_eq!(rendered.text, format!("\
//! [stdout]
//! one
//! two
//! [Truncated. Read more: read(filePath=\"{uri}\", offset=2)]
//!
//! [stderr]
//! [exit code: 3]"));
//! assert_eq!(rendered.streams[0].shown_bytes, 8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Limits of this crate: a preview shows a bounded number of bytes as they are
//! and understands no format; an escape sequence longer than a cut can look
//! back or ahead (64 bytes ahead, 1,024 back) may be parted by it.

mod binary;
mod decode;
mod display;
mod ends;
mod escape;
mod preview;
mod render;
mod retain;
#[cfg(test)]
mod testing;
mod unit;

pub use binary::Classification;
pub use decode::Utf8Decoder;
pub use display::{LiveDisplay, final_display, one_line};
pub use escape::{ByteClass, EscapeScanner};
pub use preview::{Cut, Limits, LimitsError, Position, Preview, PreviewBuilder, Shape, TailCut};
pub use render::{
    ARTIFACT_READ_OMITTED, Ended, Ending, Hints, PartLabel, Place, Reference, ReferencePart,
    Rendered, RenderedSpill, Shown, SpilledView, StreamView, is_pruned_output, missing_display,
    render,
};
pub use retain::{Head, HeadTail, ItemRetainer, Retained, RetainedItems, Tail};
pub use unit::{json_escaped_len, model_text, model_text_escaped_len};
