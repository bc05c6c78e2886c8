//! What a command adds to the writer: it looks at the ends of paths and may stop the run.

use pleach_exec::{Arrived, Machine};
use pleach_ir::{BlockId, FuncId, Program};
use pleach_report::{ErrorRecord, RunDir, TestCase};
use pleach_state::{Cut, End, State};
use pleach_verify::Goal;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A path that has ended, its test being on disk.
pub struct PathEnd<'a> {
    pub machine: &'a mut Machine,
    pub state: &'a State,
    pub end: &'a End,
    /// the error, if it violates the property and is the first of its kind and place
    pub violation: Option<(Option<Goal>, ErrorRecord)>,
    pub test: &'a TestCase,
    pub dir: &'a RunDir,
}

/// Blocks whose first entries are noted.
pub type Targets = BTreeSet<(FuncId, BlockId)>;

pub trait Observer {
    fn ended(&mut self, _path: PathEnd) {}
    /// Blocks whose first entries it wants to know of.
    fn targets(&self) -> Targets {
        Targets::new()
    }
    /// Wants to know of them at once: the run may be ended in the middle of a step.
    fn arrived(&self, _program: &Rc<Program>, _argv: &[String]) -> Option<Arrived> {
        None
    }
    /// A few words for the progress line.
    fn progress(&mut self, _machine: &mut Machine) -> Option<String> {
        None
    }
    /// At the end of the run, again and again: a path that is worth a test of its own, with a number to give the test
    /// under.
    fn without_test(&mut self, _machine: &mut Machine) -> Option<(usize, State, End)> {
        None
    }
    fn give_test(&mut self, _number: usize, _test: TestCase) {}
    /// The reason why the rest of the exploration is not needed.
    fn stop(&mut self) -> Option<Cut> {
        None
    }
}

/// Adds nothing.
pub struct NoObserver;
impl Observer for NoObserver {}
