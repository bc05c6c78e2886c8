//! The statistics of a link that decides some queries and passes on the others.

use crate::answer::Answer;
use crate::stats::Stats;

#[derive(Default)]
pub(super) struct Decided {
    queries: u64,
    sat: u64,
    unsat: u64,
}

impl Decided {
    /// A query came; what the link says to it, if it does.
    pub fn count(&mut self, found: Option<Answer>) -> Option<Answer> {
        self.queries += 1;
        match &found {
            Some(Answer::Sat(_)) => self.sat += 1,
            Some(Answer::Unsat(_)) => self.unsat += 1,
            _ => {}
        }
        found
    }

    /// Under the names for queries, satisfiable and unsatisfiable ones.
    pub fn stats(&self, names: [&'static str; 3], out: &mut Stats) {
        let statistics = [self.queries, self.sat, self.unsat];
        names.into_iter().zip(statistics).for_each(|(name, n)| out.add(name, n));
    }
}
