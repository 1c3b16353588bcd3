//! Which result belongs to which call.
//!
//! By id and never by position: results may come in any order. The n-th call of
//! an id belongs to the n-th result of that id, wherever each of them is, so
//! that an id that was used twice pairs twice. Where ids are missing, the same
//! holds for the calls and results that have none. What finds no partner is an
//! orphan, and stays one.

use std::collections::{HashMap, VecDeque};

use crate::item::{Item, ItemView};

/// The partner of each item, by index; `None` for what is no call and no
/// result, and for orphans.
#[derive(Debug)]
pub(crate) struct Pairs {
    partners: Vec<Option<usize>>,
}

/// What of one id has no partner yet.
#[derive(Default)]
struct Open {
    calls: VecDeque<usize>,
    results: VecDeque<usize>,
}

/// The ids of which something has no partner yet, and no others: however long a
/// history is, few calls are open at once.
#[derive(Default)]
struct OpenIds<'a>(HashMap<Option<&'a str>, Open>);

impl<'a> OpenIds<'a> {
    /// The partner of what is of this id, where it is there already.
    fn meet(
        &mut self,
        id: Option<&'a str>,
        index: usize,
        as_what: impl Fn(&mut Open, usize) -> Option<usize>,
    ) -> Option<usize> {
        let open = self.0.entry(id).or_default();
        let partner = as_what(open, index);
        if open.calls.is_empty() && open.results.is_empty() {
            self.0.remove(&id);
        }
        partner
    }
}

impl Open {
    fn call(&mut self, index: usize) -> Option<usize> {
        let partner = self.results.pop_front();
        if partner.is_none() {
            self.calls.push_back(index);
        }
        partner
    }

    fn result(&mut self, index: usize) -> Option<usize> {
        let partner = self.calls.pop_front();
        if partner.is_none() {
            self.results.push_back(index);
        }
        partner
    }
}

impl Pairs {
    pub(crate) fn of<I: Item>(items: &[I]) -> Self {
        let mut partners = vec![None; items.len()];
        let mut open = OpenIds::default();
        for (index, item) in items.iter().enumerate() {
            let partner = match item.view() {
                ItemView::Call(call) => open.meet(call.id, index, Open::call),
                ItemView::Result(result) => open.meet(result.call, index, Open::result),
                ItemView::Instructions | ItemView::User | ItemView::Summary | ItemView::Other => {
                    None
                }
            };
            if let Some(partner) = partner {
                partners[index] = Some(partner);
                partners[partner] = Some(index);
            }
        }
        Self { partners }
    }

    /// The partner of the item at `index`.
    pub(crate) fn partner(&self, index: usize) -> Option<usize> {
        self.partners[index]
    }
}
