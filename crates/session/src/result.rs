//! What an exploration found, and the files of the run directory that are written at its end.

use crate::explanations::LoopInC;
use pleach_command::Code;
use pleach_explore::Counters;
use pleach_report::{Coverage, Interpolant, RunDir, Summary, Timing};
use pleach_state::{Assumption, Cut};
use std::any::Any;
use std::time::Duration;

/// What an exploration found; nothing of it is printed yet.
pub struct ExplorationResult {
    pub dir: RunDir,
    pub summary: Summary,
    pub counters: Counters,
    pub elapsed: Duration,
    /// nodes of the execution tree
    pub nodes: u64,
    /// every path was followed to its end, or to the bound on rounds
    pub finished: bool,
    /// ends in undefined behaviour that the property does not cover, in sentences
    pub undefined: Vec<String>,
    /// an internal error ended it
    pub crashed: bool,
    /// the assumptions about the program's environment
    pub assumptions: Vec<Assumption>,
    /// the signal that interrupted it
    pub signal: Option<u8>,
    pub coverage: Coverage,
    pub timing: Timing,
    pub interpolants: Option<Vec<Interpolant>>,
    /// what is known of states of the entry, if targets were looked for and the exploration is not complete
    pub learned: Option<pleach_prune::EntryInterpolants>,
    /// what of the invariants of loops can be said in C
    pub loops_in_c: Vec<LoopInC>,
    pub failure: Option<String>,
    /// what the exploration leaves in memory: dropping it takes longer than writing the results
    pub left: Option<Box<dyn Any>>,
}

impl ExplorationResult {
    /// No limit and no signal ended it: paths may be executed again.
    pub fn may_go_on(&self) -> bool {
        let ends = |cut: &Cut| matches!(cut, Cut::Time | Cut::Processor | Cut::Memory | Cut::Interrupted);
        !self.crashed && !self.counters.cuts.keys().any(ends)
    }

    /// Ends it without dropping what it left: the process ends.
    pub fn forget(self) {
        std::mem::forget(self.left);
    }

    /// Writes the account of the run, and says so if something could not be written: then the status of `code` is that
    /// of a failure, unless errors were found.
    pub fn write(&mut self) {
        let interpolants = self.interpolants.as_ref().map_or(Ok(()), |all| self.dir.write_interpolants(all));
        let written = [
            self.dir.write_summary(&self.summary),
            interpolants,
            self.dir.write_coverage(&self.coverage),
            self.dir.write_timing(&self.timing),
        ];
        let failed = written.into_iter().find_map(Result::err).map(|why| why.to_string());
        self.failure = self.failure.take().or(failed);
        if let Some(why) = &self.failure {
            eprintln!("pleach: results are incomplete: {why}");
        }
        if self.crashed {
            let path = self.dir.path().display();
            eprintln!("pleach: this is an internal error; what was found until then is in {path}");
        }
    }

    /// Prints the result, as text or as JSON, and keeps the text for those who look at the run later.
    pub fn say(&self, text: &str, json: bool) {
        // The text is only for reading: a full disk was reported by `write` already.
        let text = pleach_report::names::readable(text);
        let _ = self.dir.write_result_text(&text);
        if json {
            println!("{}", serde_json::to_string_pretty(&self.summary).unwrap_or_default());
        } else {
            print!("{text}");
        }
    }

    /// Something else was written for the run, or could not be: then it says so.
    pub fn keep<T, E: std::fmt::Display>(&mut self, written: Result<T, E>) {
        if let Err(why) = written {
            eprintln!("pleach: results are incomplete: {why}");
            self.failure.get_or_insert(why.to_string());
        }
    }

    /// This status, if everything was written.
    pub fn code(&self, code: Code) -> Code {
        if self.failure.is_some() && code != Code::Found && code != Code::Bug { Code::Input } else { code }
    }

    /// Human-readable location of the results.
    pub fn place(&self) -> String {
        self.dir.path().display().to_string()
    }
}
