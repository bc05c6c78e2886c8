//! What a command adds to the writer: it looks at the ends of paths and may stop the run.

use pleach_exec::Machine;
use pleach_report::{ErrorRecord, RunDir, TestCase};
use pleach_state::{Cut, State};
use pleach_verify::Goal;

/// A path that has ended, its test being on disk.
pub struct PathEnd<'a> {
    pub machine: &'a mut Machine,
    pub state: &'a State,
    /// the error, if it violates the property and is the first of its kind and place
    pub violation: Option<(Option<Goal>, ErrorRecord)>,
    pub test: &'a TestCase,
    pub dir: &'a RunDir,
}

pub trait Observer {
    fn ended(&mut self, _path: PathEnd) {}
    /// A few words for the progress line.
    fn progress(&mut self, _machine: &Machine) -> Option<String> {
        None
    }
    /// The reason why the rest of the exploration is not needed.
    fn stop(&mut self) -> Option<Cut> {
        None
    }
}

/// Adds nothing.
pub struct Nobody;
impl Observer for Nobody {}
