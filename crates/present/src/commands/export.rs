//! `pleach export`: unpacks the packed tests of a run.

use crate::args::ExportArgs;
use pleach::number_format;
use pleach_command::{CliError, Code};
use pleach_report::RunDir;

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
