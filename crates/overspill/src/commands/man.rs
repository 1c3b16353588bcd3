//! `overspill man`: the manual pages, one for the program and one a command.

use anyhow::Context;
use clap::CommandFactory;
use clap_mangen::Man;

use crate::cli::{Cli, ManArgs};
use crate::exit;
use crate::home::PROGRAM;
use crate::terminal;

pub(crate) fn run(args: &ManArgs) -> anyhow::Result<u8> {
    let mut page = Vec::new();
    Man::new(command(args.command.as_deref())?)
        .source(format!("{PROGRAM} {}", env!("CARGO_PKG_VERSION")))
        .manual("Overspill manual")
        .render(&mut page)?;
    terminal::print_bytes(&page)?;
    Ok(exit::OK)
}

/// What a page is about, under the name that its page has.
fn command(name: Option<&str>) -> anyhow::Result<clap::Command> {
    let mut program = Cli::command();
    // Fills in what commands inherit: the version and `--verbose`.
    program.build();
    let Some(name) = name else { return Ok(program) };
    let command = program
        .find_subcommand(name)
        .with_context(|| format!("there is no command {name}; `{PROGRAM} --help` lists them"))?;
    Ok(command.clone())
}
