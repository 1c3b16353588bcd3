//! The program `overspill`: the composition root, and the only crate that names
//! concrete backends.
//!
//! `main` parses a command line and runs it. The rest is one module a concern:
//! [`cli`] says what there is, [`config`] and [`home`] where things are, and
//! each file of `commands` does one command. Errors go up as they are and are
//! printed once, with their causes.
//!
//! Unix only.

pub mod cli;
mod commands;
pub mod config;
mod exit;
pub mod home;
mod nowhere;
mod opened;
mod progress;
mod spilling;
mod terminal;
mod upkeep;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};
use tracing::level_filters::LevelFilter;

use crate::cli::{Cli, Command};

/// The signal for a file that grew past `RLIMIT_FSIZE`.
const SIGXFSZ: i32 = rustix::process::Signal::XFSZ.as_raw();

/// Runs the program with these arguments, the program's name first.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    let of_run = arguments.iter().skip(1).find(|a| !is_flag(a)).is_some_and(|a| a == "run");
    let failure = if of_run { exit::RUN_FAILED } else { exit::FAILED };
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let shown = error.print();
            let asked_for_help = !error.use_stderr() && shown.is_ok();
            return ExitCode::from(match (asked_for_help, of_run) {
                (true, _) => exit::OK,
                (false, true) => exit::RUN_FAILED,
                (false, false) => exit::USAGE,
            });
        }
    };
    start_logging(&cli);
    // A thread that cannot be had is a panic of the executor, and must not look
    // like an exit code of the command.
    let executed = std::panic::catch_unwind(|| execute(cli));
    match executed.unwrap_or_else(|_| Err(anyhow::anyhow!("ended by a panic; this is a bug"))) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            terminal::note(&format!("overspill: {error:#}"));
            ExitCode::from(failure)
        }
    }
}

fn is_flag(argument: &OsString) -> bool {
    argument.as_encoded_bytes().starts_with(b"-")
}

fn execute(cli: Cli) -> anyhow::Result<u8> {
    // One thread: what blocks and what is heavy, writing, hashing and waiting
    // for the command, has threads of its own. More would only hand over.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let code = runtime.block_on(async {
        // A limit on file sizes is an error of the write, as a full disk is,
        // and no reason to die. The command gets its default again.
        let _file_size = signal(SignalKind::from_raw(SIGXFSZ))?;
        match cli.command {
            Command::Run(args) => commands::run::run(args).await,
            Command::Read(args) => commands::read::run(args).await,
            Command::Ls(args) => commands::ls::run(args).await,
            Command::Show(args) => commands::show::run(args).await,
            Command::Rm(args) => commands::rm::run(args).await,
            Command::Spill(args) => commands::spill::run(args).await,
            Command::Gc(args) => commands::gc::run(args).await,
            Command::Compact(args) => commands::compact::run(args).await,
            Command::Stat(args) => commands::stat::run(args).await,
            Command::Verify(args) => commands::verify::run(args).await,
            Command::Config => commands::config::run(),
            Command::Completions(args) => commands::completions::run(&args),
            Command::Man(args) => commands::man::run(&args),
        }
    });
    // A thread may still wait for our standard input; it has nothing to lose.
    runtime.shutdown_background();
    code
}

fn start_logging(cli: &Cli) {
    let level = match cli.verbose {
        // Why a text is not spilled is said nowhere else.
        0 if matches!(cli.command, Command::Spill(_)) => LevelFilter::WARN,
        // What goes wrong is in the result, or printed by the command.
        0 => return,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .with_target(false)
        .without_time()
        .init();
}
