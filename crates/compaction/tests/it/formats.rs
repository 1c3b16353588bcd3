//! Files of providers: read, pruned, written back, and given a summary.

mod corpus;
mod pruning;
