//! Exit codes.

use output_contract::{Exit, Status, ToolResult};

/// All went well.
pub(crate) const OK: u8 = 0;
/// The command failed.
pub(crate) const FAILED: u8 = 1;
/// The command line is wrong.
pub(crate) const USAGE: u8 = 2;
/// `compact`: the history is too long to be summarised; also what a summariser
/// says so with.
pub(crate) const CONTEXT_LENGTH: u8 = 75;
/// `run`: the command ran out of time.
pub(crate) const TIMED_OUT: u8 = 124;
/// `run`: overspill itself failed.
pub(crate) const RUN_FAILED: u8 = 125;

/// What `run` exits with: the child's own code, 128 + signal, or one of ours.
/// A cancelled run exits as if the signal that cancelled it had ended it.
pub(crate) fn of_run(result: &ToolResult, cancelled_by: Option<u8>) -> u8 {
    match (result.status, result.exit) {
        (Status::TimedOut, _) => TIMED_OUT,
        (Status::Cancelled, _) => 128 + cancelled_by.unwrap_or(15),
        (_, Some(Exit::Code(code))) => u8::try_from(code).unwrap_or(FAILED),
        (_, Some(Exit::Signal(signal))) => 128_u8.wrapping_add(u8::try_from(signal).unwrap_or(0)),
        (Status::Completed, None) => OK,
        (Status::Failed | Status::Interrupted, None) => RUN_FAILED,
    }
}
