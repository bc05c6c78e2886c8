//! Iterative deepening: bounds 1, 2, 3, … on the rounds of loops, each with a fresh exploration, until no path goes
//! beyond the bound.
//!
//! *Paper*: Unbounded §6, the base line of its comparison. *Direction*: a program that some input lets loop for ever is
//! not decided; the time limit ends the run, and the answer says so.

use crate::observer::Observer;
use crate::result::ExplorationResult;
use crate::session::{Conclude, Session};
use pleach_command::CliError;
use pleach_exec::LoopBound;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

impl Session {
    pub(crate) fn deepen(
        &self,
        observer: &mut dyn Observer,
        to: Option<&Path>,
        conclude: &Conclude,
    ) -> Result<ExplorationResult, CliError> {
        let (start, limit) = (Instant::now(), self.config.run.limits.max_time);
        let mut to: Option<PathBuf> = to.map(Path::to_owned);
        let mut bound = 1;
        loop {
            let left = limit.map(|all| all.saturating_sub(start.elapsed()).max(Duration::from_millis(1)));
            let mut found = self.with_bound(bound, left).explore_once(observer, to.as_deref(), conclude, None)?;
            let beyond = found.finished && found.counters.rounds().is_some();
            if !beyond || found.crashed || !found.summary.errors.is_empty() || !found.undefined.is_empty() {
                found.summary.pruning.insert("deepening-bound".into(), u64::from(bound));
                found.elapsed = start.elapsed();
                return Ok(found);
            }
            let dir = found.dir.path().to_owned();
            found.dir.remove()?;
            to = Some(dir);
            bound += 1;
        }
    }

    fn with_bound(&self, bound: u32, left: Option<Duration>) -> Session {
        let mut one = self.again();
        one.config.exec.loop_bound = Some(LoopBound::Cut(bound));
        one.config.run.limits.max_time = left;
        if let Some(prune) = &mut one.config.prune {
            prune.always = true;
        }
        one
    }
}
