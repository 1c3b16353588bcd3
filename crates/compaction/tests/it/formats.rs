//! Files of providers: read, pruned, written back, and given a summary.

mod artifact_reads;
mod compacting;
mod corpus;
mod damage;
mod properties;
mod pruning;
mod recorded;
