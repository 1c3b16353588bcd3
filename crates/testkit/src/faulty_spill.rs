//! A spill store that fails, or hangs, when told to.

use std::ops::RangeBounds;
use std::sync::Arc;

use async_trait::async_trait;
use spill::{SaveText, SpillError, SpillRef, SpillStore};
use tool_api::CancellationToken;

use crate::faults::Faults;

/// Wraps a spill store and makes chosen saves fail, or wait.
///
/// Saves are counted from 1 and chosen by a range, as with a
/// [`FaultyStore`](crate::FaultyStore). One that fails does not reach the store.
#[derive(Debug)]
pub struct FaultySpill {
    inner: Arc<dyn SpillStore>,
    saves: Faults<Fault>,
}

enum Fault {
    Error(SpillError),
    Held(CancellationToken),
}

/// Saves that wait until this is [released](Self::release), or dropped.
#[derive(Debug)]
pub struct HeldSaves(CancellationToken);

impl HeldSaves {
    /// Lets them go on.
    pub fn release(self) {}
}

impl Drop for HeldSaves {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl FaultySpill {
    /// A wrapper without faults.
    pub fn new(inner: Arc<dyn SpillStore>) -> Self {
        Self { inner, saves: Faults::default() }
    }

    /// Makes saves fail.
    pub fn fail_saves(
        &self,
        saves: impl RangeBounds<u64> + Send + 'static,
        error: impl Fn() -> SpillError + Send + 'static,
    ) {
        self.saves.add(saves, move || Fault::Error(error()));
    }

    /// Makes saves wait before they reach the store.
    pub fn hold_saves(&self, saves: impl RangeBounds<u64> + Send + 'static) -> HeldSaves {
        let released = CancellationToken::new();
        let held = HeldSaves(released.clone());
        self.saves.add(saves, move || Fault::Held(released.clone()));
        held
    }

    /// How many saves were begun, whether they failed or not.
    pub fn saves(&self) -> u64 {
        self.saves.calls()
    }
}

#[async_trait]
impl SpillStore for FaultySpill {
    async fn save_text(&self, text: SaveText) -> Result<SpillRef, SpillError> {
        match self.saves.call() {
            Ok(()) => {}
            Err(Fault::Error(error)) => return Err(error),
            Err(Fault::Held(released)) => released.cancelled().await,
        }
        self.inner.save_text(text).await
    }

    fn max_reference_bytes(&self, suggested_name: &str) -> usize {
        self.inner.max_reference_bytes(suggested_name)
    }
}
