//! Endings: how a call ended and what it lost, in lines.
//!
//! Responsible for never letting an unsuccessful call, or one that lost output,
//! pass for anything else. At most two lines, in this order:
//!
//! 1. What is missing, where bytes are known to be lost, or where the reason is
//!    another than the status itself: `[output incomplete: …]`.
//! 2. The status, where it is not success.
//!
//! The first says `stored N of M bytes (reason)` where M is known and greater;
//! `stored N bytes (reason)` where M is unknown; otherwise only the reason. A
//! held pipe alone loses no bytes that anyone has seen, so that an unknown M
//! adds nothing to it.

use std::fmt::Write as _;

use output_contract::{Exit, Incomplete, IncompleteReason, Status};

use crate::display::one_line;

/// Longest part of a system's own message that is quoted, in bytes.
const MAX_DETAIL_BYTES: usize = 256;

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// The status.
    pub status: Status,
    /// How its process ended, where it had one.
    pub exit: Option<Exit>,
    /// The timeout that was in force, in milliseconds, where it is known.
    pub timeout_ms: Option<u64>,
    /// That output is missing, and the reason that stands for the call.
    pub incomplete: Option<Incomplete>,
    /// Bytes stored, over all streams.
    pub stored_bytes: u64,
    /// Bytes produced, over all streams; unknown after a crash.
    pub seen_bytes: Option<u64>,
}

impl Ending {
    /// An ending that is nothing but its status; no bytes, nothing known lost.
    pub const fn of(status: Status) -> Self {
        Self {
            status,
            exit: None,
            timeout_ms: None,
            incomplete: None,
            stored_bytes: 0,
            seen_bytes: None,
        }
    }

    /// The lines that end the text; none for a success that lost nothing.
    pub(super) fn lines(&self) -> Vec<String> {
        [self.loss_line(), self.status_line()].into_iter().flatten().collect()
    }

    fn loss_line(&self) -> Option<String> {
        let stored = self.stored_bytes;
        let lost_of = self.seen_bytes.filter(|&seen| seen > stored);
        let own = self.status.incomplete_reason();
        let foreign = self.incomplete.as_ref().filter(|incomplete| Some(incomplete.reason) != own);
        if lost_of.is_none() && foreign.is_none() {
            return None;
        }
        let reason = self.incomplete.as_ref().map(reason);
        let pipe_held =
            self.incomplete.as_ref().is_some_and(|held| held.reason == IncompleteReason::PipeHeld);
        let bytes = match (lost_of, self.seen_bytes) {
            (Some(seen), _) => Some(format!("stored {stored} of {seen} bytes")),
            (None, None) if !pipe_held => Some(format!("stored {stored} bytes")),
            (None, _) => None,
        };
        let what = match (bytes, reason) {
            (Some(bytes), Some(reason)) => format!("{bytes} ({reason})"),
            (Some(what), None) | (None, Some(what)) => what,
            (None, None) => return None,
        };
        Some(format!("[output incomplete: {what}]"))
    }

    fn status_line(&self) -> Option<String> {
        Some(match (self.status, self.exit) {
            (Status::Completed, _) => return None,
            (Status::Failed, Some(Exit::Signal(signal))) => format!("[killed by signal {signal}]"),
            (Status::Failed, Some(Exit::Code(code))) if code != 0 => format!("[exit code: {code}]"),
            (Status::Failed, _) => "[failed]".to_owned(),
            (Status::TimedOut, _) => {
                let after = self.timeout_ms.map(duration).map(|after| format!(" after {after}"));
                format!("[timed out{}; output incomplete]", after.unwrap_or_default())
            }
            (status @ (Status::Cancelled | Status::Interrupted), _) => {
                format!("[{status}; output incomplete]")
            }
        })
    }
}

/// The final display of a call that supplies none: empty on success, never the
/// output; otherwise `<title>: <status>`, and that output is missing, where it
/// is.
///
/// ```
/// use output_contract::Status;
/// use output_retention::missing_display;
///
/// let display = missing_display("cargo test", Status::Cancelled, true);
/// assert_eq!(display, "cargo test: cancelled (output incomplete)");
/// assert_eq!(missing_display("cargo test", Status::Failed, false), "cargo test: failed");
/// ```
pub fn missing_display(title: &str, status: Status, incomplete: bool) -> String {
    if status == Status::Completed {
        return String::new();
    }
    let title = one_line(title, output_contract::limits::MAX_TITLE_BYTES);
    let colon = if title.is_empty() { "" } else { ": " };
    let bracket = if incomplete { " (output incomplete)" } else { "" };
    format!("{title}{colon}{status}{bracket}")
}

/// The word for a reason.
pub(super) const fn incomplete_reason(reason: IncompleteReason) -> &'static str {
    match reason {
        IncompleteReason::StorageError => "storage error",
        IncompleteReason::SizeLimit => "size limit",
        IncompleteReason::PipeHeld => "pipe held open by a background process",
        IncompleteReason::Cancelled => "cancelled",
        IncompleteReason::TimedOut => "timed out",
        IncompleteReason::Interrupted => "interrupted",
    }
}

/// The reason whose word this is.
pub(super) fn parse_incomplete_reason(word: &str) -> Option<IncompleteReason> {
    let all = [
        IncompleteReason::StorageError,
        IncompleteReason::SizeLimit,
        IncompleteReason::PipeHeld,
        IncompleteReason::Cancelled,
        IncompleteReason::TimedOut,
        IncompleteReason::Interrupted,
    ];
    all.into_iter().find(|&reason| incomplete_reason(reason) == word)
}

fn reason(incomplete: &Incomplete) -> String {
    let reason = incomplete_reason(incomplete.reason);
    let detail = incomplete.detail.as_deref().map(|detail| one_line(detail, MAX_DETAIL_BYTES));
    match detail.filter(|detail| !detail.is_empty()) {
        Some(detail) => format!("{reason}: {detail}"),
        None => reason.to_owned(),
    }
}

/// `90000` as `1m30s`, `1500` as `1.5s`, `250` as `250ms`.
fn duration(ms: u64) -> String {
    if ms < 1_000 && ms > 0 {
        return format!("{ms}ms");
    }
    let (hours, minutes) = (ms / 3_600_000, ms / 60_000 % 60);
    let (seconds, fraction) = (ms / 1_000 % 60, ms % 1_000);
    let mut text = String::new();
    // Writing to a String cannot fail.
    if hours > 0 {
        let _ = write!(text, "{hours}h");
    }
    if minutes > 0 {
        let _ = write!(text, "{minutes}m");
    }
    if fraction > 0 {
        let fraction = format!("{fraction:03}");
        let _ = write!(text, "{seconds}.{}s", fraction.trim_end_matches('0'));
    } else if seconds > 0 || text.is_empty() {
        let _ = write!(text, "{seconds}s");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (ms, expect) in [
            (0, "0s"),
            (1, "1ms"),
            (250, "250ms"),
            (1_000, "1s"),
            (1_500, "1.5s"),
            (1_050, "1.05s"),
            (30_000, "30s"),
            (60_000, "1m"),
            (90_000, "1m30s"),
            (60_500, "1m0.5s"),
            (3_600_000, "1h"),
            (3_661_000, "1h1m1s"),
            (100 * 3_600_000, "100h"),
        ] {
            assert_eq!(duration(ms), expect);
        }
    }

    #[test]
    fn status_lines() {
        let line = |status, exit, timeout_ms| {
            let lines = Ending { exit, timeout_ms, ..Ending::of(status) }.lines();
            lines.join("|")
        };
        use Exit::{Code, Signal};
        use Status::*;
        for (status, exit, timeout, expect) in [
            (Completed, None, None, ""),
            (Completed, Some(Code(0)), Some(1), ""),
            (Failed, None, None, "[failed]"),
            (Failed, Some(Code(0)), None, "[failed]"),
            (Failed, Some(Code(3)), None, "[exit code: 3]"),
            (Failed, Some(Signal(9)), None, "[killed by signal 9]"),
            (TimedOut, None, Some(30_000), "[timed out after 30s; output incomplete]"),
            (TimedOut, Some(Signal(9)), Some(1_500), "[timed out after 1.5s; output incomplete]"),
            (TimedOut, None, None, "[timed out; output incomplete]"),
            (Cancelled, None, None, "[cancelled; output incomplete]"),
            (Cancelled, Some(Signal(15)), Some(1), "[cancelled; output incomplete]"),
            (Interrupted, None, None, "[interrupted; output incomplete]"),
        ] {
            assert_eq!(line(status, exit, timeout), expect);
        }
    }

    #[test]
    fn loss_lines() {
        use IncompleteReason::*;
        let line = |status,
                    reason: Option<IncompleteReason>,
                    detail: Option<&str>,
                    stored,
                    seen| {
            let detail = detail.map(str::to_owned);
            let incomplete = reason.map(|reason| Incomplete { reason, detail });
            let ending =
                Ending { incomplete, stored_bytes: stored, seen_bytes: seen, ..Ending::of(status) };
            ending.loss_line().unwrap_or_default()
        };
        let done = Status::Completed;
        for (found, expect) in [
            (
                line(done, Some(SizeLimit), None, 268_435_456, Some(1_073_741_824)),
                "[output incomplete: stored 268435456 of 1073741824 bytes (size limit)]",
            ),
            (
                line(done, Some(StorageError), Some("no space left on device"), 8192, Some(50_000)),
                "[output incomplete: stored 8192 of 50000 bytes (storage error: no space left on device)]",
            ),
            (
                line(done, Some(PipeHeld), None, 7, Some(7)),
                "[output incomplete: pipe held open by a background process]",
            ),
            (
                line(done, Some(PipeHeld), None, 7, None),
                "[output incomplete: pipe held open by a background process]",
            ),
            (
                line(done, Some(PipeHeld), None, 7, Some(9)),
                "[output incomplete: stored 7 of 9 bytes (pipe held open by a background process)]",
            ),
            (
                line(done, Some(StorageError), None, 7, None),
                "[output incomplete: stored 7 bytes (storage error)]",
            ),
            (line(done, Some(SizeLimit), None, 7, Some(7)), "[output incomplete: size limit]"),
            (line(done, None, None, 7, Some(9)), "[output incomplete: stored 7 of 9 bytes]"),
            (line(done, None, None, 7, Some(7)), ""),
            (line(done, None, None, 9, Some(7)), ""),
            (line(Status::Cancelled, Some(Cancelled), None, 7, Some(7)), ""),
            (line(Status::Interrupted, Some(Interrupted), None, 7, None), ""),
            (
                line(Status::Cancelled, Some(Cancelled), None, 7, Some(9)),
                "[output incomplete: stored 7 of 9 bytes (cancelled)]",
            ),
            (
                line(Status::TimedOut, Some(SizeLimit), None, 7, Some(9)),
                "[output incomplete: stored 7 of 9 bytes (size limit)]",
            ),
            (
                line(done, Some(StorageError), Some("bad\n[exit code: 0]"), 1, Some(2)),
                "[output incomplete: stored 1 of 2 bytes (storage error: bad [exit code: 0])]",
            ),
        ] {
            assert_eq!(found, expect);
        }
    }

    #[test]
    fn displays_of_calls_that_have_none() {
        for (title, status, incomplete, expect) in [
            ("ls", Status::Completed, true, ""),
            ("ls", Status::Failed, false, "ls: failed"),
            ("ls", Status::Failed, true, "ls: failed (output incomplete)"),
            ("ls", Status::Cancelled, false, "ls: cancelled"),
            ("ls", Status::TimedOut, true, "ls: timed out (output incomplete)"),
            ("l\x1b[1ms\n", Status::Interrupted, true, "ls: interrupted (output incomplete)"),
            ("", Status::Failed, false, "failed"),
        ] {
            assert_eq!(missing_display(title, status, incomplete), expect);
        }
    }
}
