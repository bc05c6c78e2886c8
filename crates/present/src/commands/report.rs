//! `pleach report`: what a run found and cost, on the terminal and as files.

use crate::{Run, figures, page, run};
use clap::Args;
use pleach_command::{CliError, Code};
use pleach_report::{RunDir, write_atomically};
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
pub struct ReportArgs {
    /// The run's directory
    pub run: PathBuf,
    /// Print the summary and the times as JSON
    #[arg(long)]
    pub json: bool,
    /// Write a page to look at in a browser: one file, no network
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

pub fn run(args: ReportArgs) -> Result<Code, CliError> {
    if let Some(file) = &args.html {
        let run = Run::open(&args.run)?;
        write(file, page::render(&run).as_bytes())?;
        println!("Wrote {}.", file.display());
        return Ok(Code::Fine);
    }
    let account = run::account(&RunDir::open(&args.run)?)?;
    let (summary, timing) = (&account.summary, &account.timing);
    if args.json {
        println!("{}", serde_json::json!({ "summary": summary, "timing": timing }));
    } else {
        print!("{}{}{}", account.state, figures::found(summary), figures::describe(summary, timing));
    }
    Ok(Code::Fine)
}

fn write(file: &Path, contents: &[u8]) -> Result<(), CliError> {
    Ok(write_atomically(file, contents)?)
}
