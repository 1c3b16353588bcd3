//! The version of what other programs read: the wire types.

/// The version of the wire types and saved events that this crate writes.
///
/// The types only ever gain optional fields and kinds, which readers ignore,
/// so the version stays the same through that. It is raised when a reader of
/// the version before would misread what is written. It stands in the schemas'
/// `$id`, in the TypeScript module and in `overspill --version`, and in no
/// event or result: those are read by their fields.
///
/// History:
/// - 1: results, live and saved events, history items, pages.
pub const PROTOCOL_VERSION: u32 = 1;
