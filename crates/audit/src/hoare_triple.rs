//! Forward from a node's general state to the next nodes.

use crate::AuditError;
use crate::abstract_state::generalise;
use crate::known_sides::KnownSides;
use crate::satisfaction::{describe, holds};
use pleach_exec::Machine;
use pleach_ir::bitset::BitSet;
use pleach_ir::{Edge, Inst, Program};
use pleach_prune::{AuditOutcome, AuditRecord, TracePosition};
use pleach_state::access_path::frames;
use pleach_state::seams::PathOracle;
use pleach_state::trace::Run;
use pleach_state::{Child, Cut, End, Exit, ForkKind, State, Step, StopPoints};
use pleach_wp::{Condition, Locs};
use std::rc::Rc;

/// An edge is followed over at most this many blocks.
const MAX_BLOCKS: u32 = 100_000;

pub(crate) fn point(state: &State) -> Vec<(u32, u32)> {
    let callers = frames(state).skip(1).map(|(_, f)| (f.func.0, f.inst));
    std::iter::once((state.frame.func.0, state.inst)).chain(callers).collect()
}

/// The edge by which a run left its block.
fn taken(program: &Program, run: &Run) -> Option<Edge> {
    let f = &program.functions[run.func as usize];
    match (&f.insts[run.to as usize - 1], run.exit) {
        (Inst::Branch { edges, .. }, Exit::Side(s)) => Some(f.edges[*edges as usize + usize::from(s)]),
        (Inst::Switch { .. }, Exit::Case(i)) => Some(f.cases[i as usize].edge),
        (Inst::Switch { default, .. }, Exit::Default) => Some(f.edges[*default as usize]),
        _ => None,
    }
}

fn describe_place(program: &Program, state: &State) -> String {
    let line = state.stack(program).first().map_or(0, |l| l.span.line);
    format!("`{}` line {line}", program.function(state.frame.func).name)
}

fn same_end(program: &Program, state: &State, end: &End, known: (&End, u32, u32)) -> Result<(), AuditError> {
    let alike = match (end, known.0) {
        // An assumption that cannot hold ends a path and reaches nothing.
        (End::Silent, _) | (End::Exit(_), End::Exit(_)) => true,
        (End::Error(a), End::Error(b)) => a.kind == b.kind && (state.frame.func.0, state.inst) == (known.1, known.2),
        // What is cut by the bound on rounds reaches nothing more.
        (End::Cut(Cut::Unwind(_)), _) => true,
        (End::Cut(_), _) => return Err(AuditError::Unchecked("a path was cut")),
        _ => false,
    };
    if alike {
        Ok(())
    } else {
        Err(AuditError::Wrong(format!(
            "ends with {} at {}, which the tree does not have",
            name(end),
            describe_place(program, state)
        )))
    }
}

fn name(end: &End) -> String {
    match end {
        End::Exit(_) => "an exit".into(),
        End::Silent => "a silent end".into(),
        End::Error(e) => format!("error `{}`", e.kind.as_str()),
        End::Cut(_) => "a cut".into(),
    }
}

/// How far a state came that forks now; `before`: blocks it left before its record began anew.
fn at(before: usize, child: &Child) -> TracePosition {
    let here = child.state.history.origin().map(|o| TracePosition::of(o.history.trace(), o));
    here.map_or(TracePosition { left: before, inst: 0 }, |w| TracePosition { left: before + w.left, ..w })
}

/// {Ψ} edge {Ψ of the children}. `Ok(false)`: no state satisfies Ψ.
pub(crate) fn check(
    machine: &mut Machine,
    locs: &Locs,
    a: &AuditRecord,
    children: &[&AuditRecord],
    sides: &KnownSides,
) -> Result<bool, AuditError> {
    // Which object a pointer is into was decided by the path, which a general state does not have.
    if children.iter().chain([&a]).any(|c| matches!(c.fork, Some(ForkKind::Target(_)))) {
        return Err(AuditError::Unchecked("a fork over the targets of a pointer"));
    }
    let stop = match children {
        [only] if only.merged => Some(stop_at(machine, &only.state)),
        _ => None,
    };
    let stops = stop.is_some();
    let program = machine.program();
    let ends_at = match &a.outcome {
        AuditOutcome::Subsumed { at, .. } => at,
        _ => &a.state,
    };
    machine.stop_at(stop.or_else(|| sides.stop_points(ends_at, &program)));
    let result = follow(machine, locs, a, children, stops, sides);
    machine.stop_at(None);
    // Where Ψ is stronger than the node's own state a check may be decided that the tree has both sides of: the way
    // goes on beyond it.
    let at_check = children.iter().any(|c| matches!(c.fork, Some(ForkKind::Check(_))));
    if at_check && matches!(result, Err(AuditError::Wrong(_))) && holds(machine, locs, &a.state, &a.psi).is_err() {
        return Err(AuditError::Unchecked("a check that the interpolant decides"));
    }
    result
}

/// Where a merged node stands, which need not be a place where paths meet: at the start of a block, or behind a call.
fn stop_at(machine: &Machine, state: &State) -> StopPoints {
    let (func, depth) = (state.frame.func, state.call_depth());
    let program = machine.program();
    let f = program.function(func);
    let mut blocks = BitSet::new(f.blocks.len());
    if f.blocks[state.block.index()].first.0 != state.inst {
        return StopPoints { func, depth: depth + 1, blocks: Rc::new(blocks) };
    }
    blocks.insert(state.block.index());
    StopPoints { func, depth, blocks: Rc::new(blocks) }
}

/// `stops`: steps end where the merged child stands.
fn follow(
    machine: &mut Machine,
    locs: &Locs,
    a: &AuditRecord,
    children: &[&AuditRecord],
    stops: bool,
    sides: &KnownSides,
) -> Result<bool, AuditError> {
    let Some(st) = generalise(machine, locs, &a.state, &a.psi)? else { return Ok(false) };
    if let AuditOutcome::Subsumed { at, psi, .. } = &a.outcome
        && at.instructions == a.state.instructions
        && point(at) == point(&st)
    {
        return arrives(machine, locs, &st, psi);
    }
    if let AuditOutcome::Ended { end: End::Cut(Cut::Unwind(max)), at_once: true, .. } = &a.outcome
        && st.frame.visits.get(&st.block).is_some_and(|n| n > max)
    {
        return Ok(true);
    }
    if let [only] = children
        && only.merged
        && only.entry.is_none()
    {
        return arrives(machine, locs, &st, &only.psi);
    }
    let forked = children.iter().any(|c| c.fork.is_some());
    let expected: Option<(&State, &Condition)> = match (&a.outcome, children) {
        (AuditOutcome::Subsumed { at, psi, .. }, _) => Some((at, psi)),
        (_, [only]) if !forked => Some((&only.state, &only.psi)),
        _ => None,
    };
    // The tree's fork, and how far this state came before forks of its own that the tree does not have.
    let fork = children.iter().find(|c| c.fork.is_some()).map(|c| c.way);
    let way = NextEdge { locs, a, children, forked, expected, fork, stops, sides };
    way.follow(machine, st, 0)
}

/// The way from a node to the next ones, as the tree has it.
struct NextEdge<'a> {
    locs: &'a Locs,
    a: &'a AuditRecord,
    children: &'a [&'a AuditRecord],
    forked: bool,
    /// where it ends, and what is needed there
    expected: Option<(&'a State, &'a Condition)>,
    fork: Option<TracePosition>,
    /// steps end where the merged child stands
    stops: bool,
    sides: &'a KnownSides<'a>,
}

impl NextEdge<'_> {
    /// From this state on, which left this many blocks before.
    fn follow(&self, machine: &mut Machine, mut st: State, mut before: usize) -> Result<bool, AuditError> {
        let NextEdge { locs, a, children, forked, expected, fork, stops, sides } = *self;
        let program = machine.program();
        let mut blocks = 0;
        loop {
            if blocks > MAX_BLOCKS {
                return Err(AuditError::Unchecked("a long way"));
            }
            st.history.take_at_join();
            blocks += 4096;
            match without_bounded(machine.step(&mut st, 4096)) {
                Step::Fork(next) if next.is_empty() => return Ok(true),
                Step::Deferred => return Err(AuditError::Unchecked("a query without an answer")),
                Step::Next if sides.has(machine, locs, &st) => return Ok(true),
                Step::Next if !st.history.is_at_join() && !stops => {}
                Step::Next => {
                    // Not every place where paths meet has a node; another way than the tree's shows where it ends.
                    if let Some((_, psi)) = expected.filter(|n| point(n.0) == point(&st)) {
                        return arrives(machine, locs, &st, psi);
                    }
                }
                Step::End(End::Cut(Cut::Unwind(_))) => return Ok(true),
                Step::End(end) => {
                    let here = TracePosition::of(st.history.trace(), &st);
                    if fork.is_some_and(|f| TracePosition { left: before + here.left, ..here } > f) {
                        return Err(AuditError::Unchecked("a fork that the interpolant decides"));
                    }
                    return ends(&program, a, &st, &end);
                }
                Step::Fork(next) if next.iter().any(|c| matches!(c.end, Some(End::Cut(_)))) => {
                    return Err(AuditError::Unchecked("a path was cut"));
                }
                // An error that is the only way left is no fork, but looks like one where its pointer is symbolic.
                Step::Fork(mut next) if !forked && matches!(&next[..], [Child { end: Some(_), .. }]) => {
                    let Some(Child { state, end: Some(end), .. }) = next.pop() else { continue };
                    return ends(&program, a, &state, &end);
                }
                // Nor is a switch with one way left.
                Step::Fork(mut next)
                    if next.len() == 1 && next[0].end.is_none() && fork.is_none_or(|f| at(before, &next[0]) < f) =>
                {
                    before = at(before, &next[0]).left;
                    st = next.remove(0).state;
                    st.history.take_origin();
                    if let Some((_, psi)) = expected.filter(|n| point(n.0) == point(&st)) {
                        return arrives(machine, locs, &st, psi);
                    }
                }
                // Where Ψ is stronger than the node's own state it may decide the tree's fork: the way goes on beyond it.
                Step::Fork(next) if next.iter().any(|c| fork.is_some_and(|f| at(before, c) > f)) => {
                    return Err(AuditError::Unchecked("a fork that the interpolant decides"));
                }
                // A pointer that is a symbolic number here was one of several addresses in the tree, and the state did not
                // split there.
                Step::Fork(next)
                    if !a.psi.choices.is_empty()
                        && next.iter().all(|c| {
                            c.end.is_none() && matches!(c.state.history.fork(), ForkKind::Target(Some(_)))
                        }) =>
                {
                    return Err(AuditError::Unchecked("a pointer of several parts"));
                }
                // A length behind a pointer that is symbolic here is decided by forks; with more than two values it is cut.
                Step::Fork(next)
                    if !forked && next.iter().all(|c| c.end.is_none() && c.state.history.fork() == ForkKind::Other) =>
                {
                    return Err(AuditError::Unchecked("a value that a fork decides"));
                }
                // Both sides of a branch may lead to where the tree's way ends, or one to where another node is known.
                Step::Fork(next)
                    if (!forked && expected.is_some() || sides.any(&next))
                        && next.iter().all(|c| fork.is_none_or(|f| at(before, c) < f))
                        && next.iter().all(|c| c.end.is_none() && c.state.history.fork() == ForkKind::Branch) =>
                {
                    for c in next {
                        let left = at(before, &c).left;
                        let mut st = c.state;
                        st.history.take_origin();
                        match expected.filter(|n| point(n.0) == point(&st)) {
                            Some((_, psi)) => arrives(machine, locs, &st, psi)?,
                            None if sides.has(machine, locs, &st) => true,
                            None => self.follow(machine, st, left)?,
                        };
                    }
                    return Ok(true);
                }
                Step::Fork(next) => {
                    if !forked {
                        let at = next.first().map_or_else(String::new, |c| describe_place(&program, &c.state));
                        return Err(AuditError::Wrong(format!("forks at {at}, which the tree does not")));
                    }
                    for c in next {
                        way(machine, locs, &program, c, children)?;
                    }
                    return Ok(true);
                }
            }
        }
    }
}

/// The sides that go on within the bound on rounds: the others reach nothing.
fn without_bounded(step: Step) -> Step {
    match step {
        Step::Fork(mut next) => {
            next.retain(|c| !matches!(c.end, Some(End::Cut(Cut::Unwind(_)))));
            Step::Fork(next)
        }
        other => other,
    }
}

fn ends(program: &Program, a: &AuditRecord, st: &State, end: &End) -> Result<bool, AuditError> {
    let known = match &a.outcome {
        AuditOutcome::Ended { end: known, func, inst, .. } => (known, *func, *inst),
        _ => (&End::Silent, u32::MAX, 0),
    };
    same_end(program, st, end, known).map(|()| true)
}

fn arrives(machine: &mut Machine, locs: &Locs, st: &State, psi: &Condition) -> Result<bool, AuditError> {
    match holds(machine, locs, st, psi) {
        Ok(()) => Ok(true),
        Err(AuditError::Wrong(what)) => {
            let psi = describe(machine, psi);
            let at = describe_place(&machine.program(), st);
            Err(AuditError::Wrong(format!("at {at}: {what}\n  wanted: {psi}")))
        }
        Err(other) => Err(other),
    }
}

/// One side of a fork: the tree has it, and its Ψ holds there.
fn way(
    machine: &mut Machine,
    locs: &Locs,
    program: &Program,
    c: Child,
    children: &[&AuditRecord],
) -> Result<(), AuditError> {
    let not_there =
        |st: &State| AuditError::Wrong(format!("goes to {}, which the tree does not", describe_place(program, st)));
    if let Some(end) = &c.end {
        let known = children.iter().filter_map(|a| match &a.outcome {
            AuditOutcome::Ended { end, func, inst, .. } => Some((end, *func, *inst)),
            _ => None,
        });
        let results: Vec<_> = known.map(|k| same_end(program, &c.state, end, k)).collect();
        let fine = results.iter().any(Result::is_ok);
        return if fine { Ok(()) } else { results.into_iter().next().unwrap_or_else(|| Err(not_there(&c.state))) };
    }
    let found = children.iter().find(|a| match a.fork {
        Some(ForkKind::Branch) => {
            let edges =
                [c.state.history.trace().runs.last(), a.entry.as_ref()].map(|r| r.and_then(|r| taken(program, r)));
            edges[0].is_some() && edges[0] == edges[1]
        }
        Some(ForkKind::Check(_)) => !a.by_edge() && point(&a.state) == point(&c.state),
        _ => false,
    });
    let Some(a) = found else { return Err(not_there(&c.state)) };
    arrives(machine, locs, &c.state, &a.psi).map(drop)
}
