//! Moments, as every record keeps them.

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch, UTC. Library crates are given one; only
/// a program reads the clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS, schemars::JsonSchema))]
#[serde(transparent)]
pub struct Timestamp(pub u64);
