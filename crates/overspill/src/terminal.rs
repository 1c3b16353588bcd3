//! Writing to standard output and standard error.

use std::io::{self, Write};

use anyhow::Context;
use output_retention::one_line;
use serde::Serialize;

/// Longest title or name in a row of a listing, in bytes.
const MAX_CELL_BYTES: usize = 200;

/// Writes to standard output. A reader that went away is no error.
pub(crate) fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("could not write to standard output"),
    }
}

/// Writes text and sees that it ends its line.
pub(crate) fn print_text(text: &str) -> anyhow::Result<()> {
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    print_bytes(format!("{text}{end}").as_bytes())
}

pub(crate) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut json = serde_json::to_string_pretty(value)?;
    json.push('\n');
    print_bytes(json.as_bytes())
}

/// Writes a line to standard error. Where that fails there is nobody to tell.
pub(crate) fn note(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// A name or title that someone else chose, as it may stand in a row.
pub(crate) fn cell(text: &str) -> String {
    one_line(text, MAX_CELL_BYTES)
}
