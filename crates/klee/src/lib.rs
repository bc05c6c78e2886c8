//! `pleach klee`, also under the name `klee`: KLEE's command lines, messages and files. See
//! `docs/klee-compatibility.md`.
//!
//! ```
//! use pleach_command::Code;
//!
//! let args = ["--version"].map(Into::into);
//! assert_eq!(pleach_klee::main(args.into_iter()).ok(), Some(Code::Fine), "KLEE's exit status");
//! ```

#[macro_use(print, println, eprint, eprintln)]
extern crate pleach_command;

mod alias;
mod command_line;
mod directory;
mod error_text;
mod messages;
mod options;
mod run;
mod run_stats;
mod sink;
mod tools;

use command_line::CommandLine;
use options::{OptionArity, OptionSupport};
use pleach_command::{CliError, Code};
use std::ffi::OsString;

/// `args`: what follows the command's name: KLEE's command line, or the name of a tool and that tool's.
pub fn main(args: impl Iterator<Item = OsString>) -> Result<Code, CliError> {
    let real: Vec<OsString> = args.collect();
    let mut args = real.iter().map(|a| a.to_string_lossy().into_owned()).peekable();
    if let Some(tool) = args.peek().and_then(|a| tools::find(a)) {
        return tool(args.skip(1).collect());
    }
    let line = match CommandLine::parse(args) {
        Ok(mut line) => {
            // Options are text; the program's path may be any bytes.
            let same =
                |a: &&OsString| line.program.as_ref().is_some_and(|p| a.to_string_lossy() == p.to_string_lossy());
            line.program = real.iter().find(same).map(Into::into).or(line.program);
            line
        }
        Err(why) => {
            eprintln!("klee: {why}");
            return Ok(Code::Found);
        }
    };
    if line.value("version").is_some() {
        println!("Pleach {}, with the command line of KLEE 3.2", env!("CARGO_PKG_VERSION"));
        return Ok(Code::Fine);
    }
    if line.value("help").is_some() || line.value("help-list").is_some() {
        print!("{}", help());
        return Ok(Code::Fine);
    }
    Ok(run::run(&line))
}

fn help() -> String {
    let mut text = String::from("USAGE: klee [options] <input bytecode> <program arguments>...\n");
    for (support, head) in [
        (OptionSupport::Works, "Options, as in KLEE 3.2 (docs/klee-compatibility.md):"),
        (OptionSupport::Harmless, "Accepted; they tune something that is not there:"),
        (OptionSupport::Ignored, "Accepted with a warning; they have no effect:"),
    ] {
        text.push_str(&format!("\n{head}\n"));
        for (name, takes, _) in options::all().filter(|(_, _, f)| *f == support) {
            text.push_str(&format!("  --{name}{}\n", if takes == OptionArity::Value { "=<value>" } else { "" }));
        }
    }
    text
}
