//! A flipped bit anywhere in a store or a log is found, or does no harm; what
//! it hit is never served.
//!
//! Each test says how many flips it tried: every position of small files, and
//! those of large ones where something begins or ends, and some others. Which
//! they are is always the same.

mod collecting;
mod describing;
mod logs;
mod serving;
mod world;
