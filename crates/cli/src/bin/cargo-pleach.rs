//! The subcommand of cargo.

use std::process::ExitCode;

fn main() -> ExitCode {
    pleach_cc::cargo::main()
}
