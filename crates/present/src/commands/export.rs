//! `pleach export`: unpacks the packed tests of a run.

use clap::Args;
use pleach::number_format;
use pleach_command::{CliError, Code};
use pleach_report::RunDir;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct ExportArgs {
    /// The run's directory
    pub run: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: ExportArgs) -> Result<Code, CliError> {
    let dir = RunDir::open(&args.run)?;
    let written = dir.export_all()?;
    if args.json {
        println!("{}", serde_json::json!({ "written": written }));
    } else {
        println!("Wrote {} to {}.", number_format::count(written, "test"), args.run.display());
    }
    Ok(Code::Fine)
}
