//! `pleach completions` and `pleach man`: what a shell and `man` know about the program.

use clap::{Args, Command};
use clap_complete::Shell;
use pleach_command::{CliError, Code};
use pleach_report::ReportError;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

#[derive(Args, Debug)]
pub struct ManArgs {
    /// Directory for the pages, for instance ~/.local/share/man/man1
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

/// Prints the script that completes the command line.
pub fn completions(args: &CompletionsArgs, mut command: Command) -> Result<Code, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "pleach", &mut script);
    print!("{}", String::from_utf8_lossy(&script));
    Ok(Code::Fine)
}

/// Writes `pleach.1` and a page for each command.
pub fn man(args: &ManArgs, command: Command) -> Result<Code, CliError> {
    let failed = |action| move |source| ReportError::Io { action, path: args.directory.clone(), source };
    std::fs::create_dir_all(&args.directory).map_err(failed("create"))?;
    clap_mangen::generate_to(command, &args.directory).map_err(failed("write"))?;
    println!("Wrote the manual pages to {}.", args.directory.display());
    Ok(Code::Fine)
}
