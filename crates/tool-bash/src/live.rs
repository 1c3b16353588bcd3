//! What a person sees of a command: live, and in the end.
//!
//! Responsible for the display text of a process: the newest of both outputs in
//! the order in which they were read, at a bounded rate and in bounded memory,
//! however fast the process writes. It never holds the capture back: observing
//! only remembers, and a future of its own sends.

use std::convert::Infallible;
use std::fmt::Write;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use output_contract::limits::MAX_DELTA_DISPLAY_BYTES;
use output_contract::{Delta, Exit, Status, split_text};
use output_retention::{Tail, Utf8Decoder};
use tokio::sync::Notify;
use tokio::time::sleep;
use tool_api::StreamingSink;

use crate::process::{OutputObserver, OutputStream};

/// How much is sent at once, in bytes: the newest.
const FRESH_BYTES: usize = 4 * MAX_DELTA_DISPLAY_BYTES;
/// The least time between two sendings.
const INTERVAL: Duration = Duration::from_millis(50);
/// How much the final display keeps, in bytes: the last.
const LAST_BYTES: usize = 4 * 1024;
/// How much of one read is looked at, in bytes: enough to fill what is kept,
/// whatever is cut off at its start.
const LOOK_BYTES: usize = LAST_BYTES + 64;
/// Stands for text that is left out.
const GAP: &str = "…\n";

/// The display of one process.
#[derive(Debug)]
pub(crate) struct Live {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug)]
struct State {
    decoders: [Utf8Decoder; 2],
    /// What was not sent yet.
    fresh: Tail,
    /// All, for the final display.
    all: Tail,
}

/// How the call ended, for the final display.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ending {
    pub(crate) status: Status,
    pub(crate) exit: Option<Exit>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) pipe_held: bool,
}

impl Live {
    pub(crate) fn new() -> Self {
        let state = State {
            decoders: Default::default(),
            fresh: Tail::new(FRESH_BYTES),
            all: Tail::new(LAST_BYTES),
        };
        Self { state: Mutex::new(state), changed: Notify::new() }
    }

    /// Sends what is new, for ever.
    pub(crate) async fn send_to(&self, sink: &StreamingSink) -> Infallible {
        loop {
            self.changed.notified().await;
            let fresh = text_of(mem::replace(&mut self.state().fresh, Tail::new(FRESH_BYTES)));
            for piece in split_text(&fresh, MAX_DELTA_DISPLAY_BYTES) {
                // Display that nobody takes is no loss: the final one follows.
                let _ = sink.send(Delta::display(piece)).await;
            }
            sleep(INTERVAL).await;
        }
    }

    /// The final display: the title, the end of the output, and how it ended.
    pub(crate) fn finish(&self, title: &str, ending: &Ending) -> String {
        let mut display = format!("$ {title}\n{}", self.state().finish());
        for line in ending.lines() {
            if !display.ends_with('\n') {
                display.push('\n');
            }
            display.push_str(&line);
        }
        display
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OutputObserver for Live {
    fn output(&self, from: OutputStream, bytes: &[u8]) {
        self.state().push(from, bytes);
        self.changed.notify_one();
    }
}

impl State {
    fn push(&mut self, from: OutputStream, bytes: &[u8]) {
        let decoder = &mut self.decoders[from as usize];
        let mut bytes = bytes;
        if let Some(skip) = bytes.len().checked_sub(LOOK_BYTES).filter(|&skip| skip > 0) {
            *decoder = Utf8Decoder::default();
            bytes = &bytes[skip..];
            // At most three bytes of a character that begins before.
            let inside = bytes.iter().take(3).take_while(|&&byte| byte & 0xc0 == 0x80).count();
            bytes = &bytes[inside..];
        }
        let mut text = String::new();
        decoder.push(bytes, &mut text);
        self.fresh.push(text.as_bytes());
        self.all.push(text.as_bytes());
    }

    fn finish(&mut self) -> String {
        let mut rest = String::new();
        for decoder in mem::take(&mut self.decoders) {
            decoder.finish(&mut rest);
        }
        self.all.push(rest.as_bytes());
        text_of(mem::replace(&mut self.all, Tail::new(LAST_BYTES)))
    }
}

/// What was kept; where something is left out before it, from the next line on.
fn text_of(tail: Tail) -> String {
    let kept = tail.finish();
    if kept.omitted == 0 {
        return kept.head;
    }
    let lines = kept.tail.split_once('\n').map(|(_, lines)| lines);
    format!("{GAP}{}", lines.filter(|lines| !lines.is_empty()).unwrap_or(&kept.tail))
}

impl Ending {
    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.pipe_held {
            lines.push("[output incomplete: pipe held open by a background process]".to_owned());
        }
        match self.status {
            Status::Completed => {}
            Status::TimedOut => {
                let mut line = "[timed out".to_owned();
                if let Some(timeout) = self.timeout {
                    let _ = write!(line, " after {timeout:?}");
                }
                lines.push(line + "]");
            }
            Status::Failed => lines.push(match self.exit {
                Some(Exit::Code(code)) => format!("[exit code: {code}]"),
                Some(Exit::Signal(signal)) => format!("[killed by signal {signal}]"),
                None => "[failed]".to_owned(),
            }),
            Status::Cancelled | Status::Interrupted => lines.push(format!("[{}]", self.status)),
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DONE: Ending =
        Ending { status: Status::Completed, exit: None, timeout: None, pipe_held: false };

    fn final_display(reads: &[(OutputStream, &[u8])], ending: &Ending) -> String {
        let live = Live::new();
        for (from, bytes) in reads {
            live.output(*from, bytes);
        }
        live.finish("cmd", ending)
    }

    #[test]
    fn both_outputs_are_shown_as_they_come() {
        use OutputStream::{Stderr, Stdout};
        let reads: [(_, &[u8]); 4] = [
            (Stdout, b"a\xc3"),
            (Stderr, b"\xe2\x82"),
            (Stdout, b"\xa9 "),
            (Stderr, b"\xac\n\xff"),
        ];
        assert_eq!(final_display(&reads, &DONE), "$ cmd\naé €\n\u{fffd}");
        assert_eq!(final_display(&[(Stdout, b"a\xe2\x82")], &DONE), "$ cmd\na\u{fffd}");
        assert_eq!(final_display(&[], &DONE), "$ cmd\n");
    }

    #[test]
    fn only_the_last_lines_are_kept() {
        let lines: String = (0..5_000).map(|line| format!("line {line}\n")).collect();
        for size in [7, 4_096, 1_000_000] {
            let reads: Vec<_> =
                lines.as_bytes().chunks(size).map(|read| (OutputStream::Stdout, read)).collect();
            let display = final_display(&reads, &DONE);
            assert!(display.starts_with("$ cmd\n…\nline 4"), "{size}: {display:.40}");
            assert!(display.ends_with("line 4998\nline 4999\n"), "{size}");
            assert!(display.len() <= LAST_BYTES + 20, "{size}");
        }
    }

    #[test]
    fn a_long_read_is_cut_on_a_character() {
        let long = "€".repeat(10_000);
        for lead in ["", "x", "xy"] {
            let text = format!("{lead}{long}");
            let display = final_display(&[(OutputStream::Stdout, text.as_bytes())], &DONE);
            assert!(!display.contains('\u{fffd}'), "{lead}");
            assert!(display.starts_with("$ cmd\n…\n€"), "{lead}");
        }
    }

    #[test]
    fn the_ending_is_on_a_line_of_its_own() {
        let after = |output: &'static str, ending: &Ending| {
            final_display(&[(OutputStream::Stdout, output.as_bytes())], ending)
        };
        let failed = |exit| Ending { status: Status::Failed, exit: Some(exit), ..DONE };
        assert_eq!(after("x", &failed(Exit::Code(3))), "$ cmd\nx\n[exit code: 3]");
        assert_eq!(after("x\n", &failed(Exit::Signal(9))), "$ cmd\nx\n[killed by signal 9]");
        let late = Ending {
            status: Status::TimedOut,
            timeout: Some(Duration::from_millis(1_500)),
            pipe_held: true,
            ..DONE
        };
        assert_eq!(
            after("", &late),
            "$ cmd\n[output incomplete: pipe held open by a background process]\n[timed out after 1.5s]"
        );
        let cancelled = Ending { status: Status::Cancelled, ..DONE };
        assert_eq!(after("x", &cancelled), "$ cmd\nx\n[cancelled]");
    }
}
