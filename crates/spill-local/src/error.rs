//! What makes a root or a hint unusable.

/// Why there is no such store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LocalSpillError {
    /// A relative root, which would mean another place for whoever reads.
    #[error("the spill root must be an absolute path, not {root:?}")]
    RelativeRoot {
        /// The root.
        root: String,
    },
    /// A root or a hint that would not stay on one line.
    #[error("the {what} must not have control characters")]
    Control {
        /// Which.
        what: &'static str,
    },
    /// A hint that says nothing.
    #[error("the retrieval hint must say something")]
    EmptyHint,
}
