//! The clauses that every store keeps, one function each.
//!
//! A backend's tests call each of them with a store of its own; [`all`] calls
//! all, each with a new one from a factory. They panic where a clause does not
//! hold.
//!
//! ```no_run
//! # async fn run(store: std::sync::Arc<dyn artifacts::ArtifactStore>) {
//! artifacts::conformance::published_bytes_read_back(&store).await;
//! # }
//! ```

mod making;
mod protecting;
mod reading;

use std::sync::Arc;

pub use self::protecting::{
    a_guard_protects_while_it_lives, borrowing_protects_the_closure,
    releasing_an_owner_releases_all_its_calls, releasing_what_is_not_there_succeeds,
    retained_artifacts_outlive_their_guard, retaining_twice_is_one_root,
    what_was_collected_has_expired,
};
pub use self::reading::{
    a_bare_uri_gives_the_manifest_itself, empty_streams_are_artifacts, errors_are_distinct,
    line_starts_are_those_of_the_bytes, manifests_must_name_published_blobs,
    pages_chain_over_block_borders, published_bytes_read_back, the_same_bytes_are_one_artifact,
    what_is_stored_is_known_by_name,
};
use crate::store::ArtifactStore;

/// Runs every clause, each on a store that `make` makes.
pub async fn all(make: impl Fn() -> Arc<dyn ArtifactStore>) {
    published_bytes_read_back(&make()).await;
    what_is_stored_is_known_by_name(&make()).await;
    the_same_bytes_are_one_artifact(&make()).await;
    a_bare_uri_gives_the_manifest_itself(&make()).await;
    manifests_must_name_published_blobs(&make()).await;
    errors_are_distinct(&make()).await;
    empty_streams_are_artifacts(&make()).await;
    line_starts_are_those_of_the_bytes(&make()).await;
    pages_chain_over_block_borders(&make()).await;
    a_guard_protects_while_it_lives(&make()).await;
    retained_artifacts_outlive_their_guard(&make()).await;
    retaining_twice_is_one_root(&make()).await;
    releasing_an_owner_releases_all_its_calls(&make()).await;
    releasing_what_is_not_there_succeeds(&make()).await;
    borrowing_protects_the_closure(&make()).await;
    what_was_collected_has_expired(&make()).await;
}
