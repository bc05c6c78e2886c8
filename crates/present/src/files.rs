//! The files that a command writes besides the run directory: flags for them, and the writing.

use crate::formats::{annotations, cobertura, code_quality, fingerprint, junit, sarif};
use crate::run::{self, Trace};
use crate::{Run, page};
use clap::Args;
use pleach_report::{ErrorRecord, ReportError, RunDir, write_atomically};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Which files are wanted.
#[derive(Args, Clone, Debug, Default)]
pub struct Files {
    /// Write a page to look at in a browser: one file, no network
    #[arg(long, value_name = "FILE", help_heading = "Output", hide_short_help = true)]
    pub html: Option<PathBuf>,
    /// Write errors with their paths, and what was not explored, as SARIF 2.1.0
    #[arg(long, value_name = "FILE", help_heading = "Output", hide_short_help = true)]
    pub sarif: Option<PathBuf>,
    /// Write the result as JUnit XML: a failed case per error
    #[arg(long, value_name = "FILE", help_heading = "Output", hide_short_help = true)]
    pub junit: Option<PathBuf>,
    /// Write coverage as Cobertura XML (coverage.info of the run is for lcov)
    #[arg(long, value_name = "FILE", help_heading = "Output", hide_short_help = true)]
    pub cobertura: Option<PathBuf>,
    /// Write errors as a code quality report of GitLab
    #[arg(long, value_name = "FILE", help_heading = "Output", hide_short_help = true)]
    pub gitlab: Option<PathBuf>,
    /// Print errors as annotations of GitHub Actions
    #[arg(long, help_heading = "Output", conflicts_with = "json", hide_short_help = true)]
    pub github: bool,
    /// An earlier run: its errors are left out of these files (not of the page), and do not make `test` fail
    ///
    /// Errors are the same if their kind, file, function and message are; lines may differ.
    #[arg(long, value_name = "RUN", help_heading = "Output", hide_short_help = true)]
    pub baseline: Option<PathBuf>,
}

/// How a format is made.
type Render = fn(&Run) -> String;

impl Files {
    /// Writes what is wanted of the run in a directory; the files written. `trace` executes the paths of its errors
    /// again, for the page.
    pub fn write(&self, run: &Path, trace: Option<Trace>) -> Result<Vec<PathBuf>, ReportError> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let place = run;
        let mut run = Run::open(place)?;
        let mut written = Vec::new();
        if let Some(file) = &self.html {
            run.traces = trace.map(|trace| trace(place)).unwrap_or_default();
            write_atomically(file, page::render(&run).as_bytes())?;
            written.push(file.clone());
        }
        run.summary.errors = self.new_errors(&run.summary.errors)?;
        for (file, render) in self.wanted() {
            write_atomically(file, render(&run).as_bytes())?;
            written.push(file.clone());
        }
        if self.github {
            print!("{}", annotations::render(&run));
        }
        Ok(written)
    }

    pub fn is_empty(&self) -> bool {
        self.html.is_none() && self.wanted().is_empty() && !self.github
    }

    /// Those that the baseline does not have; all without a baseline.
    pub fn new_errors(&self, errors: &[ErrorRecord]) -> Result<Vec<ErrorRecord>, ReportError> {
        let Some(baseline) = &self.baseline else { return Ok(errors.to_vec()) };
        let old = run::account(&RunDir::open(baseline)?)?.summary.errors;
        let known: BTreeSet<String> = old.iter().map(fingerprint).collect();
        Ok(errors.iter().filter(|e| !known.contains(&fingerprint(e))).cloned().collect())
    }

    fn wanted(&self) -> Vec<(&PathBuf, Render)> {
        let all: [(&Option<PathBuf>, Render); 4] = [
            (&self.sarif, sarif::render),
            (&self.junit, junit::render),
            (&self.cobertura, cobertura::render),
            (&self.gitlab, code_quality::render),
        ];
        all.into_iter().filter_map(|(file, render)| Some((file.as_ref()?, render))).collect()
    }
}
