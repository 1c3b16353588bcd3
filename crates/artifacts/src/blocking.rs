//! Where blocking work is done.

/// Where the asynchronous face of something that blocks does its work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BlockingWork {
    /// On threads that are there for it, so that nothing else waits.
    #[default]
    OnThreads,
    /// Where it is asked for. Nothing is handed over, and everything else that
    /// the executor has to run waits: for a program that does one thing.
    InPlace,
}
