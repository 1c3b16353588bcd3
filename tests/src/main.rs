//! The program `overspill`, built where the integration tests can find it.

use std::process::ExitCode;

fn main() -> ExitCode {
    overspill::main(std::env::args_os().collect())
}
