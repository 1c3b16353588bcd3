//! The order of a history, through reverts and summaries.
//!
//! Responsible for what is active at each position of a log. A history is a
//! chain from its last entry back to its first; to go back to a position is to
//! take up the chain that was there, so that every event costs the same, but
//! for what a summary keeps.

/// One entry of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    /// All that a fork inherits.
    Inherited,
    /// A call was made: which of the calls.
    Called(usize),
    /// A call ended: which of the calls.
    Ended(usize),
    /// Another item: which of the items.
    Said(usize),
    /// A summary: which of the summaries.
    Summary(usize),
}

/// What is active, and what was.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Timeline {
    links: Vec<Link>,
    /// The last link before each event, by the position of the event.
    heads: Vec<(u64, Option<usize>)>,
    head: Option<usize>,
    summaries: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
struct Link {
    position: u64,
    entry: Entry,
    before: Option<usize>,
    /// Whether it stands for everything before it.
    is_summary: bool,
}

impl Timeline {
    /// An event begins at `position`; what follows is of it.
    pub(super) fn begin(&mut self, position: u64) {
        self.heads.push((position, self.head));
    }

    /// Adds to the history.
    pub(super) fn add(&mut self, entry: Entry) {
        let position = self.heads.last().map_or(0, |(position, _)| *position);
        self.link(position, entry, false);
    }

    /// Adds what stands for everything before it.
    pub(super) fn add_summary(&mut self, entry: Entry) {
        let position = self.heads.last().map_or(0, |(position, _)| *position);
        self.link(position, entry, true);
    }

    fn link(&mut self, position: u64, entry: Entry, is_summary: bool) {
        self.links.push(Link { position, entry, before: self.head, is_summary });
        self.head = Some(self.links.len() - 1);
    }

    /// The history is what it was before the first event at or after `to`.
    pub(super) fn revert(&mut self, to: u64) {
        let index = self.heads.partition_point(|(position, _)| *position < to);
        if let Some((_, head)) = self.heads.get(index) {
            self.head = *head;
        }
    }

    /// A summary stands for what begins before `retained_from`.
    pub(super) fn compact(&mut self, summary: String, retained_from: u64) {
        let active = self.active();
        // The entries that stay are the last ones, after any summary before.
        let replaced = |(position, entry): &(u64, Entry)| {
            *position < retained_from || matches!(entry, Entry::Summary(_))
        };
        let start = active.iter().rposition(replaced).map_or(0, |last| last + 1);
        self.summaries.push(summary);
        self.add_summary(Entry::Summary(self.summaries.len() - 1));
        for (position, entry) in &active[start..] {
            self.link(*position, *entry, false);
        }
    }

    /// Whether nothing was ever in the history.
    pub(super) fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// The active entries, first to last, with where they begin in the log.
    pub(super) fn active(&self) -> Vec<(u64, Entry)> {
        let mut active: Vec<_> = Vec::new();
        for link in self.chain() {
            active.push((link.position, link.entry));
            if link.is_summary {
                break;
            }
        }
        active.reverse();
        active
    }

    /// The entries that were not reverted, last to first, those that a summary
    /// stands for included. What a summary kept comes twice.
    pub(super) fn kept(&self) -> impl Iterator<Item = Entry> {
        self.chain().map(|link| link.entry)
    }

    fn chain(&self) -> impl Iterator<Item = &Link> {
        let before = |link: &&Link| link.before.map(|index| &self.links[index]);
        std::iter::successors(self.head.map(|index| &self.links[index]), before)
    }

    pub(super) fn summary(&self, index: usize) -> &str {
        &self.summaries[index]
    }
}
