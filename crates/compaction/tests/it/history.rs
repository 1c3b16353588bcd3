//! The items of this house: what is seen of them, and what a pruned copy keeps.

use compaction::{Item as _, ItemView, NewOutput};
use output_contract::{HistoryItem, MessageRole};

#[test]
fn what_is_no_result_is_never_changed() {
    let item = HistoryItem::Message { role: MessageRole::User, content: vec![] };
    assert_eq!(item.view(), ItemView::User);
    assert_eq!(item.with_output(NewOutput::Omitted("x")), item);
    assert_eq!(item.bytes(), serde_json::to_string(&item).unwrap().len());
}
