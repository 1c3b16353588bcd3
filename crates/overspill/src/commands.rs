//! The commands, one file each.

pub(crate) mod compact;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod gc;
pub(crate) mod ls;
pub(crate) mod man;
pub(crate) mod read;
pub(crate) mod rm;
pub(crate) mod run;
pub(crate) mod show;
pub(crate) mod spill;
pub(crate) mod stat;
pub(crate) mod verify;
