//! The test that a path names.

use pleach_command::CliError;
use pleach_report::{KTest, RunDir, TestCase, TestId};
use std::path::Path;

/// The test that `path` names, when it is in the run's archive and not a file.
pub fn packed(path: &Path) -> Result<Option<(RunDir, TestCase)>, CliError> {
    let whole = path.exists() && path.with_extension("json").exists();
    if whole {
        return Ok(None);
    }
    if path.exists() {
        // The prediction is in the archive, unless the file is someone else's.
        return Ok(find(path).filter(|(_, test)| same_input(path, test)));
    }
    let missing = || CliError::Usage(format!("{}: no such file", path.display()));
    find(path).map(Some).ok_or_else(missing)
}

/// The test of that name in the run that the path is in.
fn find(path: &Path) -> Option<(RunDir, TestCase)> {
    let id = path.file_name().and_then(|n| TestId::from_file_name(&n.to_string_lossy()))?;
    let run = run_of(path).ok()?;
    let test = run.tests().ok()?.into_iter().find(|t| t.id == id)?;
    Some((run, test))
}

/// The run that a test is in.
pub fn run_of(path: &Path) -> Result<RunDir, CliError> {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok(RunDir::open(parent)?)
}

/// Nobody has changed the file by hand.
fn same_input(path: &Path, test: &TestCase) -> bool {
    std::fs::read(path).is_ok_and(|bytes| bytes == KTest::from(test).to_bytes())
}
