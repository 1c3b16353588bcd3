//! The live display of a running command, on a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use output_contract::LiveEvent;
use tokio::task::JoinHandle;
use tool_runtime::Subscription;

use crate::terminal::cell;

/// Shows what a call writes while it runs, on standard error where that is a
/// terminal, and leaves nothing behind.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    follower: JoinHandle<()>,
}

impl Progress {
    pub(crate) fn start(mut events: Subscription, title: &str) -> Self {
        let bar = ProgressBar::new_spinner().with_prefix(short(title));
        let style = ProgressStyle::with_template("{spinner} {elapsed} {prefix:.bold} {wide_msg}")
            .expect("the template is valid");
        bar.set_style(style);
        bar.enable_steady_tick(Duration::from_millis(100));
        let shown = bar.clone();
        let follower = tokio::spawn(async move {
            let mut line = String::new();
            while let Some(event) = events.next().await {
                if let LiveEvent::Display { text, .. } = event {
                    shown.set_message(newest_line(&mut line, &text).to_owned());
                }
            }
        });
        Self { bar, follower }
    }

    pub(crate) fn finish(self) {
        self.follower.abort();
        self.bar.finish_and_clear();
    }
}

/// As much of a title as leaves room for what the command says.
fn short(title: &str) -> String {
    const LONGEST: usize = 32;
    let title = cell(title);
    match title.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &title[..end]),
        None => title,
    }
}

/// Adds text to the line that is being written; the newest line that is not
/// empty is shown.
fn newest_line<'a>(line: &'a mut String, text: &str) -> &'a str {
    const LONGEST: usize = 1024;
    for piece in text.split_inclusive('\n') {
        if line.ends_with('\n') && !piece.trim().is_empty() {
            line.clear();
        }
        if line.len() + piece.len() <= LONGEST {
            line.push_str(piece);
        }
    }
    line.trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_line_with_something_in_it_is_shown() {
        let mut line = String::new();
        assert_eq!(newest_line(&mut line, "one"), "one");
        assert_eq!(newest_line(&mut line, " more\n"), "one more");
        assert_eq!(newest_line(&mut line, "\n"), "one more");
        assert_eq!(newest_line(&mut line, "two\nthree"), "three");
    }
}
