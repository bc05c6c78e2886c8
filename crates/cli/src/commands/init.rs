//! `pleach init`: a harness for one function, to edit.

use crate::args::InitArgs;
use crate::assemble;
use pleach::inputs::parameters;
use pleach_command::{CliError, Code};
use pleach_present::harness::{self, Argument};
use std::io::Write;

pub fn run(mut args: InitArgs) -> Result<Code, CliError> {
    let mut project = String::new();
    if let Some(build) = &args.compile_commands {
        let flags = pleach_cc::compile_commands::read(build, std::slice::from_ref(&args.file))?.flags;
        args.compile.cc_arg.extend(flags);
        project = format!("-p {} ", build.display());
    }
    let program = pleach::load(std::slice::from_ref(&args.file), &assemble::compile(&args.compile, false))?;
    let id = program.function_named(&args.function).filter(|f| !program.function(*f).is_declaration());
    let id =
        id.ok_or_else(|| CliError::Usage(format!("{} has no function `{}`", args.file.display(), args.function)))?;
    let arguments: Vec<Argument> = parameters(&program, id).into_iter().map(Argument::from).collect();
    let command = format!("pleach test {project}{}", args.output.display());
    let text = harness::render(&args.function, &arguments, &args.file.display().to_string(), &command);
    // A harness may have been edited: it is never overwritten.
    let made = std::fs::File::create_new(&args.output).and_then(|mut f| f.write_all(text.as_bytes()));
    made.map_err(|why| CliError::Usage(format!("cannot create {}: {why}", args.output.display())))?;
    println!("Wrote {}. Edit it, then: {command}", args.output.display());
    Ok(Code::Fine)
}
