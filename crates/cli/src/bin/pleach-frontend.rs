//! The front end as an executable of its own, next to `pleach`: the only one that contains LLVM.

use std::process::ExitCode;

fn main() -> ExitCode {
    pleach_frontend::serve()
}
