//! When an operation is made to fail, and how.

use std::fmt;
use std::ops::RangeBounds;
use std::sync::{Mutex, PoisonError};

/// The faults of one operation. Its calls are counted from 1, whether they
/// fail or not.
pub(crate) struct Faults<E> {
    state: Mutex<State<E>>,
}

struct State<E> {
    calls: u64,
    faults: Vec<Fault<E>>,
}

struct Fault<E> {
    applies: Box<dyn Fn(u64) -> bool + Send>,
    error: Box<dyn Fn() -> E + Send>,
}

impl<E> Faults<E> {
    /// Makes the calls in `calls` fail. Of several faults the first applies.
    pub(crate) fn add(
        &self,
        calls: impl RangeBounds<u64> + Send + 'static,
        error: impl Fn() -> E + Send + 'static,
    ) {
        let applies = Box::new(move |call: u64| calls.contains(&call));
        self.with(|state| state.faults.push(Fault { applies, error: Box::new(error) }));
    }

    /// Counts a call, and fails it where it is to fail.
    pub(crate) fn call(&self) -> Result<(), E> {
        self.with(|state| {
            state.calls += 1;
            let call = state.calls;
            match state.faults.iter().find(|fault| (fault.applies)(call)) {
                Some(fault) => Err((fault.error)()),
                None => Ok(()),
            }
        })
    }

    /// How many calls there were.
    pub(crate) fn calls(&self) -> u64 {
        self.with(|state| state.calls)
    }

    fn with<T>(&self, work: impl FnOnce(&mut State<E>) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<E> Default for Faults<E> {
    fn default() -> Self {
        Self { state: Mutex::new(State { calls: 0, faults: Vec::new() }) }
    }
}

impl<E> fmt::Debug for Faults<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (calls, faults) = self.with(|state| (state.calls, state.faults.len()));
        f.debug_struct("Faults").field("calls", &calls).field("faults", &faults).finish()
    }
}
