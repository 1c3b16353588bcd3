//! The store: what an output costs, what waits for the medium, collecting, and opening.

mod collection;
mod open;
mod outputs;
mod populated;
mod syncs;
mod worker;

use anyhow::Result;

use crate::scratch::Scratch;

pub(crate) use self::worker::{Job, work};

pub(crate) fn run(memory: &Scratch, disk: &Scratch, runs: usize) -> Result<()> {
    outputs::fast(memory, runs)?;
    outputs::fast(disk, runs)?;
    syncs::run(disk)?;
    outputs::durable(disk, runs)?;
    let records = collection::records(memory)?;
    collection::speed(memory, &records, runs)?;
    collection::speed(disk, &records, runs)?;
    collection::memory(memory, &records, runs)?;
    open::run(memory, runs)
}
