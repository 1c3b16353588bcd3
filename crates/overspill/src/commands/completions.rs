//! `overspill completions`: scripts that complete command lines.

use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArgs};
use crate::exit;
use crate::home::PROGRAM;
use crate::terminal;

pub(crate) fn run(args: &CompletionsArgs) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), PROGRAM, &mut script);
    terminal::print_bytes(&script)?;
    Ok(exit::OK)
}
