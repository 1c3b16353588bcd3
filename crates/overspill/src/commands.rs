//! The commands, one file each.

pub(crate) mod config;
pub(crate) mod gc;
pub(crate) mod ls;
pub(crate) mod read;
pub(crate) mod rm;
pub(crate) mod run;
pub(crate) mod show;

use std::io::{self, Write};

use serde::Serialize;

/// Writes to standard output. A reader that went away is no error.
fn print_bytes(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Writes text and sees that it ends its line.
fn print_text(text: &str) -> io::Result<()> {
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    print_bytes(format!("{text}{end}").as_bytes())
}

fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut json = serde_json::to_string_pretty(value)?;
    json.push('\n');
    print_bytes(json.as_bytes())?;
    Ok(())
}
