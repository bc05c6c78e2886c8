//! Which places of the program the back ends' time goes to.

use pleach_ir::{FuncId, InstId, Program};
use pleach_state::StackLine;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::time::Duration;

/// What the queries of a place took.
#[derive(Clone, Copy, Default, Debug)]
pub struct QueryCost {
    pub queries: u64,
    pub time: Duration,
}

/// By function and instruction of the program; queries in the C library count for its caller.
#[derive(Default)]
pub struct QueryCosts(FxHashMap<(FuncId, InstId), QueryCost>);

/// A line of the program with the queries that its instructions put to a back end.
pub struct CostlyLine<'a> {
    pub function: &'a str,
    pub file: &'a str,
    pub line: u32,
    pub cost: QueryCost,
}

impl QueryCosts {
    pub(crate) fn add(&mut self, place: StackLine, time: Duration) {
        let cost = self.0.entry((place.func, place.inst)).or_default();
        cost.queries += 1;
        cost.time += time;
    }

    /// The lines whose queries took the most time, at most `count` of them.
    pub fn costliest<'a>(&self, program: &'a Program, count: usize) -> Vec<CostlyLine<'a>> {
        let mut lines: BTreeMap<(FuncId, &str, u32), QueryCost> = BTreeMap::new();
        for (&(func, inst), cost) in &self.0 {
            let span = program.function(func).spans.get(inst.index()).copied().unwrap_or_default();
            let line = lines.entry((func, program.path(span), span.line)).or_default();
            line.queries += cost.queries;
            line.time += cost.time;
        }
        let mut lines: Vec<_> = lines.into_iter().collect();
        lines.sort_by_key(|(_, cost)| std::cmp::Reverse(cost.time));
        let named =
            |((func, file, line), cost)| CostlyLine { function: &program.function(func).name, file, line, cost };
        lines.into_iter().take(count).map(named).collect()
    }
}
