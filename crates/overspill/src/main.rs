//! The program `overspill`. All of it is in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    overspill::main(std::env::args_os().collect())
}
