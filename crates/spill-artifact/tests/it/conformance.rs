//! The clauses of the seam, over a store in memory and over one on disk.

use spill::conformance;

use crate::harness::World;

macro_rules! clauses {
    ($($clause:ident),* $(,)?) => {$(
        #[tokio::test]
        async fn $clause() {
            conformance::$clause(&World::in_memory()).await;
            conformance::$clause(&World::on_disk()).await;
        }
    )*};
}

clauses! {
    a_dropped_save_leaves_nothing_in_part,
    a_failed_save_leaves_nothing,
    any_name_is_taken,
    references_stay_within_their_bound,
    saves_at_once_do_not_mix,
    sessions_are_kept_apart,
    texts_are_kept_verbatim,
    texts_of_one_name_have_locators_of_their_own,
    what_was_saved_stays_when_more_is_saved,
}
