//! How much a store promises to survive.

use serde::{Deserialize, Serialize};

/// What survives once an operation has returned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// Power loss: data, then names, then whatever refers to them are on the
    /// medium before the operation returns.
    #[default]
    Durable,
    /// The death of the process only. Nothing waits for the medium.
    Fast,
}

impl Durability {
    /// Whether operations wait for the medium.
    pub const fn waits(self) -> bool {
        matches!(self, Self::Durable)
    }
}
