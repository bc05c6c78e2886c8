//! `pleach report`: what a run found and cost, on the terminal and as files.

use crate::run::{self, Trace};
use crate::{Files, statistics};
use clap::Args;
use pleach_command::{CliError, Code};
use pleach_report::RunDir;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct ReportArgs {
    /// The run's directory
    pub run: PathBuf,
    /// Print the summary and the times as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub files: Files,
}

/// `trace` executes the paths of errors again, for the page.
pub fn run(args: ReportArgs, trace: Trace) -> Result<Code, CliError> {
    if !args.files.is_empty() {
        for file in args.files.write(&args.run, Some(trace))? {
            if !args.json && !args.files.github {
                println!("Wrote {}.", file.display());
            }
        }
        if !args.json {
            return Ok(Code::Fine);
        }
    }
    let mut account = run::account(&RunDir::open(&args.run)?)?;
    account.summary.errors = args.files.new_errors(&account.summary.errors)?;
    let (summary, timing) = (&account.summary, &account.timing);
    if args.json {
        println!("{}", serde_json::json!({ "summary": summary, "timing": timing }));
    } else {
        let text = format!("{}{}{}", account.state, statistics::found(summary), statistics::describe(summary, timing));
        print!("{}", pleach_report::names::readable(&text));
    }
    Ok(Code::Fine)
}
