//! The clauses that every store keeps, one function each.
