//! `pleach ir`: the lowered program as text.

use crate::args::IrArgs;
use crate::assemble;
use pleach_command::{CliError, Code};

pub fn run(args: IrArgs) -> Result<Code, CliError> {
    let program = pleach::load(&args.files, &assemble::compile(&args.compile, false))?;
    let text = match &args.function {
        None => pleach_ir::text::print(&program),
        Some(name) => {
            let id = program.function_named(name);
            let id = id.ok_or_else(|| CliError::Usage(format!("the program has no function `{name}`")))?;
            pleach_ir::text::print_function(&program, id)
        }
    };
    print!("{text}");
    Ok(Code::Fine)
}
