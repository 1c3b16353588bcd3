//! Disks that are full, read-only or broken: the command keeps its exit status
//! and its preview, and what is stored is whole.

mod broken;
mod full;
mod mounting;
mod outcome;
