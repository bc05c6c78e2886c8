//! A native build with the input of one test laid out, to be started by a debugger.

use std::fs;
use std::path::PathBuf;

use pleach_report::{KTest, RunInfo, TestCase};

use crate::error::{ReplayError, Result};

/// What a debugger needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DebugBuild {
    /// The executable.
    pub program: PathBuf,
    /// Its arguments, the name first.
    pub arguments: Vec<String>,
    /// Its environment.
    pub environment: Vec<(String, String)>,
    /// A new, empty directory to start it in.
    pub directory: PathBuf,
    /// The function in which the program begins.
    pub entry: String,
    scratch: PathBuf,
}

impl DebugBuild {
    pub(crate) fn make(program: PathBuf, scratch: PathBuf, test: &TestCase, info: &RunInfo) -> Result<Self> {
        let (input, directory) = (scratch.join("input.ktest"), scratch.join("work"));
        fs::create_dir_all(&directory).map_err(ReplayError::io("create", &directory))?;
        fs::write(&input, KTest::from(test).to_bytes()).map_err(ReplayError::io("write", &input))?;
        let given = if test.args.is_empty() { &info.argv } else { &test.args };
        let mut arguments = given.clone();
        if arguments.is_empty() {
            arguments.push(program.display().to_string());
        }
        let environment = vec![("PLEACH_KTEST".to_owned(), input.display().to_string())];
        Ok(Self { program, arguments, environment, directory, entry: info.entry.clone(), scratch })
    }

    /// Removes the directory and the input.
    pub fn remove(&self) {
        let _ = fs::remove_dir_all(&self.scratch);
    }
}
