//! What of a history is active, and what of that is kept after its summary.
//!
//! Pure: items in, indexes out, in time linear in the items.

use crate::item::{Item, ItemView};
use crate::pairing::Pairs;

/// The active history: from its last summary on.
pub fn active<I: Item>(history: &[I]) -> &[I] {
    &history[active_start(history)..]
}

/// The first item of the active history: the last summary, which stands for
/// all before it. What it stands for is never looked at again.
pub(crate) fn active_start<I: Item>(history: &[I]) -> usize {
    history.iter().rposition(|item| matches!(item.view(), ItemView::Summary)).unwrap_or(0)
}

/// The first item of the suffix that is kept: the last `keep_turns` turns, and
/// as much before them as it takes that
///
/// - no call is parted from its result, nor an item from its message;
/// - calls at the very end that still wait for their results are kept.
pub(crate) fn suffix_start<I: Item>(active: &[I], pairs: &Pairs, keep_turns: usize) -> usize {
    let mut start = turns_start(active, keep_turns).min(pending_start(active, pairs));
    let mut index = active.len();
    loop {
        while start > 0 && start < active.len() && active[start].continues() {
            start -= 1;
        }
        if index == start {
            return start;
        }
        index -= 1;
        if let Some(partner) = pairs.partner(index) {
            start = start.min(partner);
        }
    }
}

/// Where the last `keep` turns begin; 0 where there are not so many.
fn turns_start<I: Item>(active: &[I], keep: usize) -> usize {
    let Some(skip) = keep.checked_sub(1) else { return active.len() };
    let is_turn = |item: &I| matches!(item.view(), ItemView::User);
    let mut turns = active.iter().enumerate().rev().filter(|(_, item)| is_turn(item));
    turns.nth(skip).map_or(0, |(index, _)| index)
}

/// The first call without a result among the calls and results that end the
/// history; its end where there is none.
fn pending_start<I: Item>(active: &[I], pairs: &Pairs) -> usize {
    let mut start = active.len();
    for (index, item) in active.iter().enumerate().rev() {
        match item.view() {
            ItemView::Call(_) if pairs.partner(index).is_none() => start = index,
            ItemView::Call(_) | ItemView::Result(_) => {}
            ItemView::Instructions | ItemView::User | ItemView::Summary | ItemView::Other => break,
        }
    }
    start
}
