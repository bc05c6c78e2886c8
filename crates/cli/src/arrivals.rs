//! Which targets were reached, by which path, and what a native run of that path's input shows.

use crate::counterexample::first_line;
use crate::observer::{Observer, PathEnd};
use pleach_exec::{Arrival, Machine, Step};
use pleach_ir::{BlockId, FuncId, InstId};
use pleach_replay::{Options, Replayer, Verdict};
use pleach_report::{RunDir, TestCase, TestId};
use pleach_state::{Cut, End, ErrorKind, State};
use std::collections::{BTreeMap, BTreeSet};

/// How the note on a native run begins that did something else than was predicted.
pub const CONTRADICTS: &str = "native replay contradicts";

/// Once everything is reached, paths may go on for so many instructions to show how they end.
const PATIENCE: u64 = 1_000_000;

/// A target after the blocks were split: the blocks that begin with it, or the call that fails.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    pub blocks: BTreeSet<(FuncId, BlockId)>,
    pub failing: Option<(FuncId, InstId)>,
}

#[derive(Default)]
struct Row {
    watch: Watch,
    /// the first states that got there
    arrived: Vec<State>,
    test: Option<TestCase>,
}

#[derive(Default)]
pub struct Arrivals {
    rows: Vec<Row>,
    instructions: u64,
    /// instructions executed when the last target was reached
    last: u64,
}

impl Arrivals {
    pub fn new(watches: Vec<Watch>) -> Arrivals {
        let row = |watch| Row { watch, ..Row::default() };
        Arrivals { rows: watches.into_iter().map(row).collect(), ..Arrivals::default() }
    }

    /// The test that reaches a target.
    pub fn test(&self, target: usize) -> Option<&TestCase> {
        self.rows[target].test.as_ref()
    }

    fn take(&mut self, machine: &mut Machine) {
        self.instructions = machine.instructions;
        for Arrival { func, block, state } in machine.arrivals.drain(..) {
            let reached = |r: &&mut Row| r.test.is_none() && r.watch.blocks.contains(&(func, block));
            for row in self.rows.iter_mut().filter(reached) {
                if row.arrived.is_empty() {
                    self.last = self.instructions;
                }
                row.arrived.push(state.clone());
            }
        }
    }
}

impl Observer for Arrivals {
    fn watched(&self) -> BTreeSet<(FuncId, BlockId)> {
        self.rows.iter().flat_map(|r| r.watch.blocks.iter().copied()).collect()
    }

    fn ended(&mut self, path: PathEnd) {
        self.take(path.machine);
        let (state, at) = (path.state, (path.state.frame.func, InstId(path.state.inst)));
        let fails = matches!(path.end, End::Error(e) if e.kind == ErrorKind::Assert);
        for row in self.rows.iter_mut().filter(|r| r.test.is_none()) {
            if fails && row.watch.failing == Some(at) {
                row.arrived.push(state.clone());
                row.test = Some(path.test.clone());
            }
            // The path went on from where the target was reached; one that was cut shows no end.
            let through = row.arrived.iter().any(|a| state.goes_on_from(a));
            if through && !matches!(path.end, End::Cut(_)) {
                row.test = Some(path.test.clone());
                row.arrived.truncate(1);
            }
        }
    }

    fn progress(&mut self, machine: &mut Machine) -> Option<String> {
        self.take(machine);
        let reached = self.rows.iter().filter(|r| !r.arrived.is_empty()).count();
        Some(format!("{reached} of {} reached", crate::text::count(self.rows.len() as u64, "target")))
    }

    fn stop(&mut self) -> Option<Cut> {
        let reached = self.rows.iter().all(|r| !r.arrived.is_empty());
        let shown = self.rows.iter().all(|r| r.test.is_some()) || self.instructions > self.last + PATIENCE;
        (reached && shown).then(|| Cut::Stopped("all targets are reached".into()))
    }

    fn without_test(&mut self, machine: &mut Machine) -> Option<(usize, State, End)> {
        self.take(machine);
        let (i, row) = self.rows.iter().enumerate().find(|(_, r)| r.test.is_none() && !r.arrived.is_empty())?;
        let state = row.arrived[0].clone();
        let ended = to_its_end(machine, state.clone());
        Some(ended.map_or_else(
            || (i, state, End::Cut(Cut::Stopped("the target is reached".into()))),
            |(state, end)| (i, state, end),
        ))
    }

    fn give_test(&mut self, number: usize, test: TestCase) {
        self.rows[number].test = Some(test);
    }
}

/// Follows one path from a state to its end; none if that takes too long or cannot be followed.
fn to_its_end(machine: &mut Machine, mut state: State) -> Option<(State, End)> {
    let start = machine.instructions;
    let mut forks = 0;
    while machine.instructions - start < PATIENCE {
        match machine.step(&mut state, 4096) {
            Step::Next => {}
            Step::End(End::Cut(_) | End::Silent) => return None,
            Step::End(end) => return Some((state, end)),
            Step::Fork(mut children) => {
                children.retain(|c| !matches!(c.end, Some(End::Cut(_) | End::Silent)));
                forks += 1;
                // Now the one side, now the other: a loop with an unknown number of rounds comes to its end.
                let count = children.len();
                let chosen = children.into_iter().nth(forks % count.max(1))?;
                match chosen.end {
                    Some(end) => return Some((chosen.state, end)),
                    None => state = chosen.state,
                }
            }
        }
    }
    None
}

/// What native runs of the tests show, each test once.
pub fn replay<'a>(dir: &RunDir, tests: impl Iterator<Item = &'a TestCase>) -> BTreeMap<TestId, String> {
    let mut shown = BTreeMap::new();
    let replayer = match Replayer::new(dir, Options::default()) {
        Ok(replayer) => replayer,
        Err(why) => return tests.map(|t| (t.id, format!("native replay is not possible: {why}"))).collect(),
    };
    for test in tests {
        shown.entry(test.id).or_insert_with(|| match replayer.replay(test).map(|r| r.verdict) {
            Ok(Verdict::Agrees) => "replayed natively: the program ended as predicted".into(),
            Ok(Verdict::Disagrees { expected, observed }) => {
                format!("{CONTRADICTS}: expected {expected}, but {observed}")
            }
            Ok(Verdict::Undetermined { why }) => format!("native replay does not decide it: {why}"),
            Err(why) => format!("native replay is not possible: {}", first_line(&why.to_string())),
        });
    }
    shown
}
