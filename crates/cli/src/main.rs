//! Flags to typed configuration to the assembly of the engine: the only place that names concrete techniques together.

#[macro_use(print, println, eprintln)]
extern crate pleach_command;

mod args;
mod argv;
mod assemble;
mod commands;
mod exploration_settings;

use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: pleach_command::allocator::LimitedAllocator = pleach_command::allocator::LimitedAllocator;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|a| a == pleach_replay::foreign::COMMAND) {
        return pleach_replay::foreign::serve().into();
    }
    pleach_command::huge_pages::avoid();
    let args: Vec<_> = std::env::args_os().collect();
    if let Some((compiler, args)) = pleach_cc::asked(&args) {
        return pleach_cc::run(compiler, args).unwrap_or_else(complain);
    }
    if let Some(args) = argv::for_klee(args.iter().cloned()) {
        return end(pleach_klee::main(args));
    }
    let cli = Cli::parse_from(argv::normalize(args.into_iter()));
    let result = match cli.command {
        Command::Test(args) => commands::test::run(*args),
        Command::Verify(args) => commands::verify::run(*args),
        Command::Reach(args) => commands::reach::run(*args),
        Command::Replay(args) => pleach_inspect::replay(args, commands::configuration::of_run),
        Command::Explain(args) => commands::explain::run(args),
        Command::Report(args) => pleach_present::commands::report(args, commands::configuration::traces),
        Command::View(args) => pleach_inspect::view(args, commands::configuration::of_run),
        Command::Export(args) => pleach_present::commands::export(args),
        Command::When(args) => pleach_present::commands::when(&args),
        Command::Init(args) => commands::init::run(args),
        Command::Ir(args) => commands::ir::run(args),
        Command::Version(args) => commands::version::run(args),
        Command::Completions(args) => pleach_present::commands::completions(&args, Cli::command()),
        Command::Man(args) => pleach_present::commands::man(&args, Cli::command()),
        Command::Flags => {
            print!("{}", args::reference());
            Ok(pleach_command::Code::Fine)
        }
    };
    end(result)
}

fn end(result: Result<pleach_command::Code, pleach_command::CliError>) -> ExitCode {
    match (result, pleach_command::stdio::failure()) {
        (Err(error), _) => complain(error),
        (Ok(_), Some(why)) => complain(pleach_command::CliError::Usage(format!("the output cannot be written: {why}"))),
        (Ok(code), None) => code.into(),
    }
}

fn complain(error: pleach_command::CliError) -> ExitCode {
    eprintln!("pleach: {}", pleach_report::names::readable(&error.to_string()));
    error.exit_code().into()
}
