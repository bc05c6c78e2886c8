//! The configuration of a finished run, from its command line.

use crate::args::{Cli, Command};
use crate::{argv, commands};
use clap::Parser;
use pleach_command::CliError;
use pleach_present::Traces;
use pleach_report::RunInfo;
use pleach_session::SessionConfig;
use std::path::Path;

/// What the run's flags say. Its files are relative to the run's directory, which must be the current one.
pub fn of_run(info: &RunInfo) -> Result<SessionConfig, CliError> {
    let other = |what: &str| CliError::Usage(format!("a run of `{what}` cannot be executed again"));
    let args = argv::normalize(info.command.iter().map(Into::into));
    let cli = Cli::try_parse_from(args).map_err(|_| other(&info.command.join(" ")))?;
    match cli.command {
        Command::Test(mut args) => {
            args.run.entry = entry(args.run.entry, info, args.all_entries);
            commands::test::configuration(&mut args)
        }
        Command::Verify(args) => commands::verify::configuration(*args),
        _ => Err(other(info.command.get(1).map_or("?", String::as_str))),
    }
}

/// The paths of the errors of a run, for its page.
pub fn traces(run: &Path) -> Traces {
    pleach_inspect::traces(run, of_run)
}

/// One of several runs of a command has its own entry.
fn entry(given: Option<String>, info: &RunInfo, each: bool) -> Option<String> {
    if each { Some(info.entry.clone()) } else { given }
}
