//! Which targets were reached, and by which path.

use crate::observer::{Observer, PathEnd};
use pleach::inputs::Types;
use pleach_exec::{Arrived, Machine, Step, TargetHit};
use pleach_ir::{BlockId, FuncId, Inst, InstId, Program};
use pleach_replay::Line;
use pleach_report::{Prediction, TestCase, TestId};
use pleach_state::{Cut, End, ErrorKind, State};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

/// Once every target is reached, paths may go on for at most this many instructions to show how they end.
const MAX_INSTRUCTIONS_TO_END: u64 = 1_000_000;

/// A target after the blocks were split: the blocks that begin with it, or the call that fails.
#[derive(Clone, Debug, Default)]
pub struct TargetWatch {
    pub blocks: BTreeSet<(FuncId, BlockId)>,
    pub failing: Option<(FuncId, InstId)>,
}

/// By target: a test that leads there, as soon as there is one. For the thread that may have to end the run.
pub type Reached = Arc<Mutex<Vec<Option<TestCase>>>>;

/// What a test predicts that was made before its path came to an end.
const UNFINISHED: &str = "the run had to end before the path did";

#[derive(Default)]
struct Row {
    watch: TargetWatch,
    /// the first states that got there
    arrived: Vec<State>,
    test: Option<TestCase>,
}

#[derive(Default)]
pub struct TargetTracker {
    rows: Vec<Row>,
    instructions: u64,
    /// instructions executed when the last target was reached
    last: u64,
    reached: Reached,
}

impl TargetTracker {
    pub fn new(watches: Vec<TargetWatch>) -> TargetTracker {
        let row = |watch| Row { watch, ..Row::default() };
        let reached = Arc::new(Mutex::new(vec![None; watches.len()]));
        TargetTracker { rows: watches.into_iter().map(row).collect(), reached, ..TargetTracker::default() }
    }

    /// What is known of the targets at any time.
    pub fn reached(&self) -> Reached {
        self.reached.clone()
    }

    /// The test that reaches a target.
    pub fn test(&self, target: usize) -> Option<&TestCase> {
        self.rows[target].test.as_ref()
    }

    /// The blocks that begin with a target to which no path has come; `None` if one has.
    pub fn never_reached(&self, target: usize) -> Option<&BTreeSet<(FuncId, BlockId)>> {
        let row = &self.rows[target];
        let known = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        (row.arrived.is_empty() && row.test.is_none() && known[target].is_none()).then_some(&row.watch.blocks)
    }

    /// The lines of the places that a target stands for. None of them if it has only jumps: the native build may have
    /// no code for those, or only for one of several.
    pub fn lines(&self, target: usize, program: &Program) -> Vec<Line> {
        let watch = &self.rows[target].watch;
        let firsts = watch.blocks.iter().map(|(f, b)| (*f, program.function(*f).blocks[b.index()].first));
        let is_jump = |(f, i): &(FuncId, InstId)| matches!(program.function(*f).insts[i.index()], Inst::Jump { .. });
        let all: Vec<_> = firsts.chain(watch.failing).collect();
        if all.iter().all(is_jump) {
            return Vec::new();
        }
        let spans = all.into_iter().filter_map(|(f, i)| program.function(f).spans.get(i.index()).copied());
        let known = spans.filter(|s| s.is_known());
        known.map(|s| Line { file: program.path(s).to_owned(), line: s.line }).collect()
    }

    fn take(&mut self, machine: &mut Machine) {
        self.instructions = machine.instructions;
        for TargetHit { func, block, state } in machine.target_hits.drain(..) {
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

impl Observer for TargetTracker {
    fn targets(&self) -> BTreeSet<(FuncId, BlockId)> {
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
            // A path that was cut shows no end.
            let through = !state.passed.is_disjoint(&row.watch.blocks);
            if through && !matches!(path.end, End::Cut(_)) {
                row.test = Some(path.test.clone());
                row.arrived.truncate(1);
            }
        }
        let mut known = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        for (known, row) in known.iter_mut().zip(&self.rows).filter(|(_, row)| row.test.is_some()) {
            if known.as_ref().is_none_or(|t| t.id.0 == 0) {
                known.clone_from(&row.test);
            }
        }
    }

    fn arrived(&self, program: &Rc<Program>, argv: &[String]) -> Option<Arrived> {
        let watches: Vec<TargetWatch> = self.rows.iter().map(|r| r.watch.clone()).collect();
        let (reached, program, args) = (self.reached.clone(), program.clone(), argv.to_vec());
        let mut types = Types::new(&program);
        Some(Box::new(move |func, block, inputs| {
            let mut known = reached.lock().unwrap_or_else(PoisonError::into_inner);
            let here = known.iter_mut().zip(&watches).filter(|(_, w)| w.blocks.contains(&(func, block)));
            for (known, _) in here.filter(|(known, _)| known.is_none()) {
                *known = Some(TestCase {
                    // Numbers are given when it is written.
                    id: TestId(0),
                    inputs: inputs.iter().map(|i| types.input(&program, i.clone())).collect(),
                    predicted: Prediction::Cut { reason: UNFINISHED.into() },
                    covers_new: true,
                    given: false,
                    path: 0,
                    instructions: 0,
                    args: args.clone(),
                });
            }
        }))
    }

    fn progress(&mut self, machine: &mut Machine) -> Option<String> {
        self.take(machine);
        let reached = self.rows.iter().filter(|r| !r.arrived.is_empty()).count();
        Some(format!("{reached} of {} reached", pleach::number_format::count(self.rows.len() as u64, "target")))
    }

    fn stop(&mut self) -> Option<Cut> {
        let reached = self.rows.iter().all(|r| !r.arrived.is_empty());
        let ended =
            self.rows.iter().all(|r| r.test.is_some()) || self.instructions > self.last + MAX_INSTRUCTIONS_TO_END;
        (reached && ended).then(|| Cut::Stopped("all targets are reached".into()))
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
    while machine.instructions - start < MAX_INSTRUCTIONS_TO_END {
        match machine.step(&mut state, 4096) {
            Step::Next => {}
            Step::End(End::Cut(_) | End::Silent) | Step::Deferred => return None,
            Step::End(end) => return Some((state, end)),
            Step::Fork(mut children) => {
                children.retain(|c| !matches!(c.end, Some(End::Cut(_) | End::Silent)));
                forks += 1;
                // Now the one side, now the other: a loop with a symbolic number of iterations comes to its end.
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
