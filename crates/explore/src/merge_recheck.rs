//! Merged states explored next to their members, to check whether they behave alike.
//!
//! *Idea*: the merged state and each member are explored in sub-explorations, without merging and without nodes, up to
//! a limit of instructions each. *Invariant*: the blocks entered, the errors found and the ways to end are those of the
//! members together, else the run ends with an internal error. Where one of the two was not explored to the end, what it
//! did reach must have been reached by the other.

use crate::run::{Run, RunContext};
use crate::sink::Ended;
use crate::step::{Child, Stepper};
use crate::sub_exploration::{Admission, Origin, SubExploration};
use pleach_ir::Program;
use pleach_state::reached_set::{Blocks, Reached};
use pleach_state::{Cut, End, History, State};
use std::rc::Rc;

/// What was checked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecheckedMerges {
    pub groups: u64,
    /// groups of which a part was left because of the limit, or because a path was cut
    pub unfinished: u64,
    /// what only one of the two reached, as text
    pub failures: Vec<String>,
}

/// What is reached from a state.
struct Behaviour {
    program: Rc<Program>,
    blocks: Rc<Blocks>,
    /// the instruction count at which it is given up
    limit: u64,
    reached: Reached,
    exits: bool,
    /// something was left
    cut: bool,
}

impl Behaviour {
    fn note(&mut self, state: &State, end: Option<&End>) {
        self.reached.note(&self.program, &self.blocks, state);
        match end {
            None | Some(End::Silent) => {}
            Some(End::Exit(_)) => self.exits = true,
            Some(End::Cut(_)) => self.cut = true,
            Some(e @ End::Error(_)) => self.reached.note_end(&self.program, state, e),
        }
    }

    fn add(&mut self, other: &Behaviour) {
        self.reached.union_with(&other.reached);
        self.exits |= other.exits;
        self.cut |= other.cut;
    }

    /// Something that the other did not reach.
    fn beyond(&self, other: &Behaviour) -> Option<String> {
        if let Some((kind, func, inst)) = self.reached.errors.difference(&other.reached.errors).next() {
            let f = self.program.function(*func);
            let line = f.spans.get(inst.index()).map_or(0, |s| s.line);
            return Some(format!("error `{}` in `{}` at line {line}", kind.as_str(), f.name));
        }
        if self.exits && !other.exits {
            return Some("a normal end".into());
        }
        let mut blocks = self.reached.blocks.clone();
        blocks.subtract(&other.reached.blocks);
        let first = blocks.iter().next();
        first.map(|n| {
            let (func, block) = self.blocks.block(n);
            format!("block {} of `{}`", block.0, self.program.function(func).name)
        })
    }
}

impl Run {
    /// Explores a merged state and its members, each for itself, and compares.
    pub(crate) fn recheck_merge<M: Stepper>(
        &mut self,
        merged: &State,
        members: &[Box<State>],
        limit: u64,
        ctx: &mut RunContext<M>,
    ) {
        let blocks = Rc::new(Blocks::new(&ctx.machine.logic().program()));
        let together = self.behaviour(merged, &blocks, limit, ctx);
        let mut separate: Option<Behaviour> = None;
        for m in members {
            let one = self.behaviour(m, &blocks, limit, ctx);
            match &mut separate {
                Some(all) => all.add(&one),
                None => separate = Some(one),
            }
        }
        let Some(separate) = separate else { return };
        self.counters.rechecked_merges.groups += 1;
        self.counters.rechecked_merges.unfinished += u64::from(together.cut || separate.cut);
        let added = together.beyond(&separate).filter(|_| !separate.cut).map(|what| ("which no member reaches", what));
        let lost =
            || separate.beyond(&together).filter(|_| !together.cut).map(|what| ("which only a member reaches", what));
        let Some((who, what)) = added.or_else(lost) else { return };
        let span = ctx.machine.span(merged);
        let place = format!("{}:{}", ctx.machine.logic().program().path(span), span.line);
        let message = format!("unsound merging: {} states at {place}: {what}, {who}", members.len());
        let why = Cut::Stopped("the check of the merging failed".into());
        let end = End::Cut(why.clone());
        let ended = Ended { state: merged, end: &end, node: merged.node, skip_test: false };
        ctx.sink.on_unsound(ctx.machine, ended, &message);
        self.counters.rechecked_merges.failures.push(message);
        self.stop.get_or_insert(why);
    }

    fn behaviour<M: Stepper>(
        &mut self,
        state: &State,
        blocks: &Rc<Blocks>,
        limit: u64,
        ctx: &mut RunContext<M>,
    ) -> Behaviour {
        ctx.machine.sub_exploration(true);
        let program = ctx.machine.logic().program();
        let limit = ctx.machine.instructions() + limit;
        let (reached, blocks) = (Reached::new(blocks), blocks.clone());
        let mut found = Behaviour { program, blocks, limit, reached, exits: false, cut: false };
        // The trace has the blocks.
        let state = State { history: History::beginning(state.inst), ..state.clone() };
        self.drive_outside(state, &mut found, ctx);
        ctx.machine.sub_exploration(false);
        found
    }
}

impl<M: Stepper> SubExploration<M> for Behaviour {
    fn before_step(&mut self, run: &mut Run, state: &mut State, ctx: &mut RunContext<M>) -> Admission {
        if ctx.machine.instructions() >= self.limit || run.halt.reason().is_some() {
            self.cut = true;
            return Admission::Stop;
        }
        state.history.restart(state.inst);
        Admission::Step
    }
    fn on_next(&mut self, _: &mut Run, state: State, _: &mut RunContext<M>) -> Option<State> {
        self.note(&state, None);
        Some(state)
    }
    fn on_end(&mut self, _: &mut Run, state: State, end: End, _: &mut RunContext<M>) {
        self.note(&state, Some(&end));
    }
    fn on_deferred(&mut self, _: &mut Run, _: State, _: &mut RunContext<M>) -> Option<State> {
        self.cut = true;
        None
    }
    fn on_fork(&mut self, _: &mut Run, _: Origin, _: State, children: Vec<Child>, _: &mut RunContext<M>) -> Vec<State> {
        let mut going = Vec::new();
        for child in children {
            self.note(&child.state, child.end.as_ref());
            if child.end.is_none() {
                going.push(child.state);
            }
        }
        going
    }
}
