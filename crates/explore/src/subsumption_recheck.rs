//! Subsumed states explored anyway, to check whether the subsuming subtree reached everything.
//!
//! *Idea*: the subtree is explored in a sub-exploration: it gets no nodes, counts as no path, covers no line and
//! teaches the pruner nothing. It stops at a limit of instructions; what is left then is counted. *Invariant*: every
//! block entered and every error found in it was also reached below the subsuming node, else the run ends with an
//! internal error.

use crate::run::{Run, RunContext};
use crate::sink::Ended;
use crate::step::{Child, Stepper};
use crate::sub_exploration::{Admission, Origin, SubExploration};
use pleach_ir::Program;
use pleach_state::reached_set::{Blocks, Reached};
use pleach_state::{Cut, End, NodeId, State};
use std::rc::Rc;

/// What was checked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rechecked {
    /// subsumed states whose subtree was explored
    pub subtrees: u64,
    pub paths: u64,
    pub instructions: u64,
    /// subtrees of which a part was left because of the limit, or because a path was cut
    pub unfinished: u64,
    /// what the subsuming subtree did not reach, as text
    pub failures: Vec<String>,
}

/// Something that the subsuming subtree did not reach.
struct Unknown {
    state: State,
    end: Option<End>,
    what: String,
}

impl Run {
    pub(crate) fn recheck<M: Stepper>(&mut self, state: &State, by: NodeId, limit: u64, ctx: &mut RunContext<M>) {
        let Some((blocks, known)) = ctx.learners.reached.as_ref().and_then(|r| r.known(by)) else { return };
        ctx.machine.sub_exploration(true);
        let before = ctx.machine.instructions();
        let program = ctx.machine.logic().program();
        let (blocks, known, limit) = (&*blocks, &known, before + limit);
        let mut check = Recheck { program, limit, blocks, known, paths: 0, cut: false, found: None };
        self.drive_outside(state.clone(), &mut check, ctx);
        let Recheck { paths, cut, found, .. } = check;
        self.counters.rechecked.paths += paths;
        self.counters.rechecked.unfinished += u64::from(cut && found.is_none());
        self.counters.rechecked.instructions += ctx.machine.instructions() - before;
        ctx.machine.sub_exploration(false);
        self.counters.rechecked.subtrees += 1;
        if let Some(Unknown { state: at, end, what }) = found {
            let span = ctx.machine.span(state);
            let program = ctx.machine.logic().program();
            let place = format!("{}:{}", program.path(span), span.line);
            let message = format!(
                "unsound pruning: state at {place} (node {}) was subsumed by node {}, which never reached {what}",
                state.node.0, by.0
            );
            let end = end.unwrap_or(End::Cut(Cut::Stopped("the check of the pruning failed".into())));
            let ended = Ended { state: &at, end: &end, node: state.node, skip_test: false };
            ctx.sink.on_unsound(ctx.machine, ended, &message);
            self.counters.rechecked.failures.push(message);
            self.stop.get_or_insert(Cut::Stopped("the check of the pruning failed".into()));
        }
    }
}

/// An exploration of a pruned subtree, up to the first thing that the subsuming subtree did not reach.
struct Recheck<'a> {
    program: Rc<Program>,
    /// the instruction count at which it is given up
    limit: u64,
    blocks: &'a Blocks,
    known: &'a Reached,
    paths: u64,
    /// something was left
    cut: bool,
    found: Option<Unknown>,
}

impl Recheck<'_> {
    /// What the subsuming subtree did not reach.
    fn unknown(&self, state: &State, end: Option<&End>) -> Option<String> {
        let mut here = Reached::new(self.blocks);
        here.note(&self.program, self.blocks, state);
        end.iter().for_each(|e| here.note_end(&self.program, state, e));
        if let Some((kind, func, inst)) = here.errors.difference(&self.known.errors).next() {
            let f = self.program.function(*func);
            let line = f.spans.get(inst.index()).map_or(0, |s| s.line);
            return Some(format!("error `{}` in `{}` at line {line}", kind.as_str(), f.name));
        }
        here.blocks.subtract(&self.known.blocks);
        here.blocks.iter().next().map(|n| {
            let (func, block) = self.blocks.block(n);
            let f = self.program.function(func);
            let line = f.spans.get(f.blocks[block.index()].first.index()).map_or(0, |s| s.line);
            format!("block {} of `{}` at line {line}", block.0, f.name)
        })
    }

    /// Compares what a state has reached; it is returned if it goes on.
    fn compare(&mut self, state: State, end: Option<End>) -> Option<State> {
        if let Some(what) = self.unknown(&state, end.as_ref()) {
            self.found.get_or_insert(Unknown { state, end, what });
            return None;
        }
        let Some(end) = end else { return Some(state) };
        self.paths += 1;
        self.cut |= matches!(end, End::Cut(cut) if !matches!(cut, Cut::Unwind(_)));
        None
    }
}

impl<M: Stepper> SubExploration<M> for Recheck<'_> {
    fn before_step(&mut self, run: &mut Run, state: &mut State, ctx: &mut RunContext<M>) -> Admission {
        if self.found.is_some() {
            return Admission::Stop;
        }
        if ctx.machine.instructions() >= self.limit || run.halt.reason().is_some() {
            self.cut = true;
            return Admission::Stop;
        }
        state.history.restart(state.inst);
        Admission::Step
    }
    fn on_next(&mut self, _: &mut Run, state: State, _: &mut RunContext<M>) -> Option<State> {
        self.compare(state, None)
    }
    fn on_end(&mut self, _: &mut Run, state: State, end: End, _: &mut RunContext<M>) {
        self.compare(state, Some(end));
    }
    fn on_deferred(&mut self, _: &mut Run, _: State, _: &mut RunContext<M>) -> Option<State> {
        self.cut = true;
        None
    }
    fn on_fork(&mut self, _: &mut Run, _: Origin, _: State, children: Vec<Child>, _: &mut RunContext<M>) -> Vec<State> {
        let mut going = Vec::new();
        for child in children {
            going.extend(self.compare(child.state, child.end));
            if self.found.is_some() {
                break;
            }
        }
        going
    }
}
