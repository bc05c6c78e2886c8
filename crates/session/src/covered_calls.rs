//! Ends a run once a call of each function that is to be covered has a test.

use crate::observer::{Observer, PathEnd};
use pleach_state::{Cut, End};
use pleach_verify::called;
use std::collections::BTreeSet;

/// Functions without a covered call so far; with none from the beginning it stops nothing.
pub struct CoveredCalls {
    left: BTreeSet<String>,
    any: bool,
}

impl CoveredCalls {
    pub fn new(functions: &[String]) -> CoveredCalls {
        CoveredCalls { left: functions.iter().cloned().collect(), any: !functions.is_empty() }
    }
}

impl Observer for CoveredCalls {
    fn ended(&mut self, path: PathEnd) {
        if let End::Error(_) = path.end
            && let Some(name) = called(&path.machine.program, path.state)
        {
            self.left.remove(name);
        }
    }

    fn stop(&mut self) -> Option<Cut> {
        (self.any && self.left.is_empty()).then(|| Cut::Stopped("what was to be covered is covered".into()))
    }
}
