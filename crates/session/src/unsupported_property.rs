//! The answer about a property that is not verified: nothing is known, and the run directory says so.

use pleach_command::CliError;
use pleach_report::{Cut, RunDir, RunInfo, Summary, Timing};
use pleach_verify::Answer;
use std::path::{Path, PathBuf};

/// Writes and prints it; no program is loaded.
pub fn answer(property: &str, files: &[PathBuf], to: Option<&Path>, json: bool) -> Result<RunDir, CliError> {
    let dir = RunDir::create(to)?;
    let command: Vec<String> = std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect();
    let directory = std::env::current_dir().unwrap_or_default();
    dir.write_run_info(&RunInfo { sources: files.to_vec(), directory, command, ..RunInfo::default() })?;
    let reason = format!("{property} cannot be verified yet");
    let text = format!("Unknown: {reason}.\nunknown\n");
    let summary = Summary {
        verdict: Answer::Unknown.as_str().into(),
        property: property.into(),
        svcomp: "unknown".into(),
        cut: vec![Cut { reason: "unsupported".into(), count: 0, detail: reason.clone() }],
        reasons: vec![reason],
        version: env!("CARGO_PKG_VERSION").into(),
        sources: files.iter().map(|f| f.display().to_string()).collect(),
        ..Summary::default()
    };
    dir.write_summary(&summary)?;
    dir.write_timing(&Timing::default())?;
    dir.write_result_text(&text)?;
    match json {
        true => println!("{}", serde_json::to_string_pretty(&summary).unwrap_or_default()),
        false => print!("{text}"),
    }
    Ok(dir)
}
