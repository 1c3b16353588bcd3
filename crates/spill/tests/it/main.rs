//! The conformance suite on a backend of a few lines, and that each clause can
//! fail.

mod clauses;
