//! The runtime composed in process, from crates, as an agent composes it.

mod agent;
mod calls;
mod hints;
mod paths;
mod plugins;
mod subscription;
