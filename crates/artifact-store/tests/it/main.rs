//! The store in a real directory.

mod asynchronous;
mod collecting;
mod concurrency;
mod conformance;
mod healing;
mod opening;
mod reading;
mod recovery;
mod scratch;
