//! Captures the output of one call.
//!
//! A [`CallCapture`] gives a tool its sink ([`CaptureSink`]) and has, for each
//! declared channel, a bounded queue and a writer thread that appends to the
//! channel's capture file, hashes, counts, and keeps a bounded preview, in one
//! pass. A full queue makes the producer wait; nothing is dropped. Caps and
//! storage errors end what is stored, never what is counted.
//!
//! It does not publish, render or persist: [`CallCapture::finish`] hands the
//! sealed captures and the facts to whoever does.

mod call;
mod channel;
mod limits;
mod sink;
mod writer;

pub use call::{CallCapture, CapturedCall};
pub use limits::CaptureLimits;
pub use sink::{CaptureSink, DisplayObserver, IgnoreDisplay};
pub use writer::CapturedStream;
