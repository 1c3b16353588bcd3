//! Upkeep of the store, which nobody has to remember.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use artifact_store::LocalStore;
use camino::Utf8Path;

use crate::home::now;

/// How often it is done at most.
const EVERY: Duration = Duration::from_secs(3600);

/// Starts `overspill gc` in the background where nobody collected for an hour,
/// and waits for nothing. What goes wrong is tried again in an hour.
pub(crate) fn start(store: &LocalStore, home: &Utf8Path) {
    if !store.is_collection_due(now(), EVERY).unwrap_or(false) {
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    let started = Command::new(program)
        .arg("gc")
        .env("OVERSPILL_HOME", home)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // What ends us, such as Ctrl-C, is not meant for it.
        .process_group(0)
        .spawn();
    match started {
        Ok(child) => tracing::debug!(process = child.id(), "collecting in the background"),
        Err(error) => tracing::debug!(%error, "no collection in the background"),
    }
}
