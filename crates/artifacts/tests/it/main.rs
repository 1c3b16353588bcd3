//! Captures on a real file system.
