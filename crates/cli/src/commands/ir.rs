//! `pleach ir`: the lowered program as text.

use crate::args::IrArgs;
use crate::assemble;
use crate::error::{CliError, Code};
use std::io::Write;

pub fn run(args: IrArgs) -> Result<Code, CliError> {
    let program = assemble::load(&args.files, &args.compile, &[], &[])?;
    let text = match &args.function {
        None => pleach_ir::text::print(&program),
        Some(name) => {
            let id = program.function_named(name);
            let id = id.ok_or_else(|| CliError::Usage(format!("the program has no function `{name}`")))?;
            pleach_ir::text::print_function(&program, id)
        }
    };
    // A closed pipe, as with `| head`, is no failure.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(Code::Fine)
}
