//! A text that is kept elsewhere: its ends, and where the whole of it is.
//!
//! Responsible for the marker of the gap, for the notice, and for showing as
//! much of the text as fits beside them. All sizes are bytes of UTF-8.
//!
//! ```text
//! <head>
//! [... 1549 bytes omitted ...]
//! <tail>
//!
//! (Omitted 1549 bytes. Full formatted result stored at: <locator>. <hint>)
//! [exit code: 3]
//! ```
//!
//! Head and tail are the text's own bytes, cut between characters. How the call
//! ended is said last, as in any rendering.

use super::Shown;
use super::ending::Ending;
use crate::preview::Position;

/// Bytes that a cut between characters may leave of the budgets of both ends.
const MAX_UNUSED_BYTES: usize = 6;

/// A text that is too long to be shown, and what it must fit into.
#[derive(Debug, Clone, Copy)]
pub struct SpilledView<'a> {
    /// The whole text.
    pub text: &'a str,
    /// How the call ended, where the text does not say so itself.
    pub ending: Option<&'a Ending>,
    /// Most bytes of all that is shown.
    pub max_bytes: usize,
}

/// What is shown of a text that is kept elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedSpill {
    /// Its ends, the notice, and how the call ended.
    pub text: String,
    /// How many bytes of the text are not shown.
    pub omitted_bytes: u64,
    /// What is shown of it.
    pub shown: Shown,
}

impl<'a> SpilledView<'a> {
    /// Whether the text, and how the call ended, need no spilling.
    pub fn fits_whole(&self) -> bool {
        let ending = self.ending_lines();
        let on_new_line = self.text.is_empty() || self.text.ends_with('\n');
        let ending = if on_new_line { ending.trim_start_matches('\n') } else { &ending };
        self.text.len() + ending.len() <= self.max_bytes
    }

    /// Whether the notice fits with a locator and a hint of so many bytes
    /// together, or fewer.
    pub fn fits_reference(&self, reference_bytes: usize) -> bool {
        self.cut(reference_bytes).is_some()
    }

    /// The longest ends of the text that fit with this reference, of equal
    /// length but for an odd byte, which the head gets. `None` where not even the
    /// notice fits.
    pub fn render(&self, locator: &str, hint: &str) -> Option<RenderedSpill> {
        let ends = self.cut(locator.len() + hint.len())?;
        let Ends { head, tail } = ends;
        let omitted = ends.omitted(self.text);
        let ending = self.ending_lines();
        let text = format!(
            "{head}\n[... {omitted} bytes omitted ...]\n{tail}\n\n(Omitted {omitted} bytes. Full \
             formatted result stored at: {locator}. {hint}){ending}"
        );
        let line_start = head.rfind('\n').map_or(0, |newline| newline + 1);
        let next = Position {
            line: memchr::memchr_iter(b'\n', head.as_bytes()).count() as u64,
            byte_offset: (head.len() - line_start) as u64,
        };
        let shown = Shown {
            shown_bytes: (head.len() + tail.len()) as u64,
            truncated: true,
            next: Some(next),
            binary: false,
        };
        Some(RenderedSpill { text, omitted_bytes: omitted as u64, shown })
    }

    /// The longest ends that fit. A digit less in the count makes room for two
    /// bytes, and a character that does not fit leaves some: so the budget is
    /// tried from the greatest that may do.
    fn cut(&self, reference_bytes: usize) -> Option<Ends<'a>> {
        let words = "\n[...  bytes omitted ...]\n".len()
            + "\n\n(Omitted  bytes. Full formatted result stored at: . )".len()
            + self.ending_lines().len();
        let around = |omitted: usize| words + 2 * digits(omitted) + reference_bytes;
        let greatest = self.max_bytes.saturating_add(MAX_UNUSED_BYTES).checked_sub(around(1))?;
        let greatest = greatest.min(self.text.len().checked_sub(1)?);
        (0..=greatest).rev().map(|budget| Ends::of(self.text, budget)).find(|ends| {
            let omitted = ends.omitted(self.text);
            ends.head.len() + ends.tail.len() + around(omitted) <= self.max_bytes
        })
    }

    /// How the call ended, each line after a newline.
    fn ending_lines(&self) -> String {
        let lines = self.ending.map(Ending::lines).unwrap_or_default();
        lines.iter().map(|line| format!("\n{line}")).collect()
    }
}

/// The ends of a text.
#[derive(Debug, Clone, Copy)]
struct Ends<'a> {
    head: &'a str,
    tail: &'a str,
}

impl<'a> Ends<'a> {
    /// At most `budget` bytes of `text`, which has more, as
    /// [`HeadTail`](crate::HeadTail) would keep them of a stream.
    fn of(text: &'a str, budget: usize) -> Self {
        let boundary = |at: &usize| text.is_char_boundary(*at);
        let (head, tail) = (budget.div_ceil(2), budget / 2);
        let head = (0..=head).rev().find(boundary).expect("a text begins at a boundary");
        let mut ahead = text.len() - tail..=text.len();
        let tail = ahead.find(boundary).expect("a text ends at a boundary");
        Self { head: &text[..head], tail: &text[tail..] }
    }

    fn omitted(&self, text: &str) -> usize {
        text.len() - self.head.len() - self.tail.len()
    }
}

fn digits(number: usize) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

#[cfg(test)]
mod tests {
    use output_contract::{Exit, Status};
    use proptest::prelude::*;

    use super::*;
    use crate::HeadTail;

    const LOCATOR: &str = "/spill/1.txt";

    fn view(text: &str, max_bytes: usize) -> SpilledView<'_> {
        SpilledView { text, ending: None, max_bytes }
    }

    /// A hint that makes a reference of so many bytes with [`LOCATOR`].
    fn hint(reference_bytes: usize) -> String {
        "h".repeat(reference_bytes - LOCATOR.len())
    }

    #[test]
    fn the_form_is_literal() {
        let text = "HEAD".repeat(200) + &"TAIL".repeat(200);
        let rendered = view(&text, 200).render(LOCATOR, "Use read.").unwrap();
        let expect = format!(
            "{}H\n[... 1510 bytes omitted ...]\n{}\n\n(Omitted 1510 bytes. Full formatted result \
             stored at: /spill/1.txt. Use read.)",
            "HEAD".repeat(11),
            "L".to_owned() + &"TAIL".repeat(11),
        );
        assert_eq!(rendered.text, expect);
        assert_eq!((rendered.text.len(), rendered.omitted_bytes), (200, 1510));
        let next = Position { line: 0, byte_offset: 45 };
        let shown = Shown { shown_bytes: 90, truncated: true, next: Some(next), binary: false };
        assert_eq!(rendered.shown, shown);
    }

    #[test]
    fn a_long_reference_takes_the_room_of_the_ends_and_then_does_not_fit() {
        let text = "HEAD".repeat(200) + &"TAIL".repeat(200);
        let view = view(&text, 200);
        for (bytes, shown) in
            [(60, Some(51)), (110, Some(1)), (111, Some(0)), (112, None), (120, None)]
        {
            let rendered = view.render(LOCATOR, &hint(bytes));
            assert_eq!(rendered.as_ref().map(|r| r.shown.shown_bytes), shown, "{bytes}");
            assert_eq!(view.fits_reference(bytes), shown.is_some(), "{bytes}");
            assert!(rendered.is_none_or(|rendered| rendered.text.len() <= 200));
        }
    }

    #[test]
    fn the_ending_is_last_and_inside_the_limit() {
        let text = "line\n".repeat(100);
        let ending = Ending { exit: Some(Exit::Code(3)), ..Ending::of(Status::Failed) };
        let view = SpilledView { text: &text, ending: Some(&ending), max_bytes: 200 };
        let rendered = view.render(LOCATOR, "Use read.").unwrap();
        assert!(rendered.text.ends_with(" Use read.)\n[exit code: 3]"), "{}", rendered.text);
        assert!(rendered.text.starts_with("line\nline\n"));
        assert_eq!(rendered.text.len(), 200);
        assert_eq!(rendered.shown.next, Some(Position { line: 7, byte_offset: 4 }));
    }

    #[test]
    fn what_fits_whole_is_counted_with_its_ending() {
        let failed = Ending::of(Status::Failed);
        for (text, ending, bytes) in [
            ("", None, 0),
            ("abc", None, 3),
            ("abc", Some(&failed), "abc\n[failed]".len()),
            ("abc\n", Some(&failed), "abc\n[failed]".len()),
            ("", Some(&failed), "[failed]".len()),
            ("é", None, 2),
        ] {
            let fits = |max_bytes| SpilledView { text, ending, max_bytes }.fits_whole();
            assert!(fits(bytes), "{text:?}");
            assert!(bytes == 0 || !fits(bytes - 1), "{text:?}");
        }
    }

    #[test]
    fn nothing_has_no_ends() {
        assert_eq!(view("", 1_000).render(LOCATOR, "h"), None);
    }

    proptest! {
        #[test]
        fn ends_are_those_of_the_text_exact_and_the_longest(
            text in "[a-z€😀é\n]{1,400}",
            max_bytes in 0_usize..900,
            reference_bytes in 13_usize..140,
            failed: bool,
        ) {
            let ending = failed.then(|| Ending::of(Status::Failed));
            let view = SpilledView { text: &text, ending: ending.as_ref(), max_bytes };
            let hint = hint(reference_bytes);
            let rendered = view.render(LOCATOR, &hint);
            prop_assert_eq!(rendered.is_some(), view.fits_reference(reference_bytes));

            // What any greater budget would take.
            let size = |budget: usize| {
                let mut retainer = HeadTail::new(budget.div_ceil(2), budget / 2);
                retainer.push(text.as_bytes());
                let kept = retainer.finish();
                let words = format!(
                    "\n[... {0} bytes omitted ...]\n\n\n(Omitted {0} bytes. Full formatted result \
                     stored at: {LOCATOR}. {hint}){1}",
                    kept.omitted,
                    if failed { "\n[failed]" } else { "" },
                );
                (kept.head.len() + kept.tail.len() + words.len(), kept)
            };
            let mut budgets = (0..text.len()).rev();
            let longest = budgets.find(|budget| size(*budget).0 <= max_bytes);
            let Some(rendered) = rendered else {
                prop_assert_eq!(longest, None);
                return Ok(());
            };
            let (bytes, kept) = size(longest.unwrap());
            prop_assert_eq!(rendered.text.len(), bytes);
            prop_assert!(rendered.text.len() <= max_bytes);
            prop_assert_eq!(rendered.omitted_bytes, kept.omitted);
            let gap = format!("{}\n[... {} bytes omitted ...]\n{}\n\n(", kept.head, kept.omitted, kept.tail);
            prop_assert!(rendered.text.starts_with(&gap), "{}", rendered.text);
            prop_assert!(text.starts_with(&kept.head) && text.ends_with(&kept.tail));
            prop_assert_eq!(rendered.shown.shown_bytes + kept.omitted, text.len() as u64);
        }
    }
}
