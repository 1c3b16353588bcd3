//! Captures on a real file system.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod capture;
mod full_disk;
mod page;
