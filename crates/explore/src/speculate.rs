//! States explored in a sub-exploration without their path constraint, to learn more general interpolants.
//!
//! *Idea*: an interpolant keeps what decided the branches below it, because the other sides were not explored. Often
//! they lead nowhere new. A state that is not subsumed is therefore explored in a sub-exploration as if nothing were
//! known about its inputs. If that reaches only blocks and errors that the run has reached already, the interpolant
//! found for it does not constrain the inputs. It subsumes the state and all others at its point that differ only in
//! their path constraints. *Invariant*: a node of a speculation that is complete and not tainted has below it no block
//! and no error that the run had not reached; so whatever its interpolant subsumes adds nothing to the run.
//! *Direction*: given up at the first thing that is new, at a cut and at a limit, which taints its open nodes. That
//! costs time, never a path. *Checked by*: `--check-pruning`, and the tests that compare runs with and without it.

use crate::run::{Run, RunContext, bounded};
use crate::step::{Child, Stepper};
use crate::sub_exploration::{Admission, Origin, SubExploration};
use pleach_expr::Terms;
use pleach_state::reached_set::place_of;
use pleach_state::{End, ErrorKind, Interpolator as _, NodeId, ProgramError, PruneDecision, State, Status};

/// Speculations within speculations, at most.
const NESTED: u32 = 100;

/// How speculations went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Speculated {
    pub tried: u64,
    /// those that reached nothing new
    pub known: u64,
    pub instructions: u64,
}

/// Where speculation stands.
#[derive(Default)]
pub(crate) struct Speculation {
    nested: u32,
    /// the instruction count at which the outermost one is given up
    end: u64,
}

/// An exploration without the path constraint, given up at the first thing that is new. What is given up closes its
/// nodes as cut, so all waiting states are still visited.
struct Unconstrained {
    /// blocks covered before
    covered: u64,
    known: bool,
}

impl Unconstrained {
    /// Notes whether the last step covered a new block, and closes the node if the speculation is given up.
    fn is_new<M: Stepper>(&mut self, run: &mut Run, node: NodeId, ctx: &mut RunContext<M>) -> bool {
        // A path may enter a new block and end in one step: nothing is learned from it.
        self.known &= ctx.machine.blocks_covered() == self.covered;
        if !self.known {
            run.close(node, Status::Cut, 0, ctx);
        }
        !self.known
    }
}

impl<M: Stepper> SubExploration<M> for Unconstrained {
    fn before_step(&mut self, run: &mut Run, state: &mut State, ctx: &mut RunContext<M>) -> Admission {
        self.known &= ctx.machine.instructions() < run.speculation.end && run.halt.reason().is_none();
        if !self.known {
            run.close(state.node, Status::Cut, 0, ctx);
            return Admission::Done;
        }
        if run.check_subsumed_in_speculation(state, ctx) { Admission::Done } else { Admission::Step }
    }
    fn on_next(&mut self, run: &mut Run, state: State, ctx: &mut RunContext<M>) -> Option<State> {
        (!self.is_new(run, state.node, ctx)).then_some(state)
    }
    fn on_end(&mut self, run: &mut Run, mut state: State, end: End, ctx: &mut RunContext<M>) {
        if !self.is_new(run, state.node, ctx) {
            self.known &= run.end_in_speculation(&mut state, &end, ctx);
        }
    }
    /// Not worth a longer search.
    fn on_deferred(&mut self, run: &mut Run, state: State, ctx: &mut RunContext<M>) -> Option<State> {
        self.known = false;
        run.close(state.node, Status::Cut, 0, ctx);
        None
    }
    fn on_fork(
        &mut self,
        run: &mut Run,
        Origin { node, depth }: Origin,
        mut parent: State,
        mut children: Vec<Child>,
        ctx: &mut RunContext<M>,
    ) -> Vec<State> {
        if self.is_new(run, node, ctx) {
            return Vec::new();
        }
        match &children[..] {
            [] => {
                self.known &= run.end_in_speculation(&mut parent, &End::Silent, ctx);
                Vec::new()
            }
            [Child { end: None, state: only, .. }] if only.history.origin().is_none() => {
                children.pop().map(|c| State { node, ..c.state }).into_iter().collect()
            }
            _ => {
                let (going, known) = run.fork_in_speculation(node, depth, children, ctx);
                self.known &= known;
                going
            }
        }
    }
}

impl Run {
    /// Whether everything below the state is known, whatever its inputs are.
    pub(crate) fn speculate<M: Stepper>(&mut self, state: &State, limit: u64, ctx: &mut RunContext<M>) -> bool {
        let outermost = self.speculation.nested == 0;
        if outermost {
            ctx.machine.sub_exploration(true);
        }
        let before = ctx.machine.instructions();
        let outer = if outermost { u64::MAX } else { self.speculation.end };
        self.speculation.end = outer.min(before.saturating_add(limit));
        self.speculation.nested += 1;
        let known = self.speculation.nested <= NESTED && self.explore_unconstrained(state, ctx);
        self.speculation.nested -= 1;
        self.speculation.end = outer;
        let cost = ctx.machine.instructions() - before;
        let counted = &mut self.counters.speculated;
        counted.tried += 1;
        counted.known += u64::from(known);
        if outermost {
            counted.instructions += cost;
            ctx.machine.sub_exploration(false);
        }
        ctx.learners.pruner.speculated(state, known, cost);
        known
    }

    /// Explores the state without its path constraint; false if that was given up.
    fn explore_unconstrained<M: Stepper>(&mut self, from: &State, ctx: &mut RunContext<M>) -> bool {
        let covered = ctx.machine.blocks_covered();
        let mut root = from.unconstrained();
        root.node = self.tree.new_root(ctx.machine.span(from));
        self.shares.push(0.0);
        ctx.learners.open(root.node, &mut root, &self.tree);
        let mut speculation = Unconstrained { covered, known: true };
        self.drive_outside(root, &mut speculation, ctx);
        speculation.known
    }

    /// Subsumed, or a node of its own where that is worth it. True if the state is done.
    fn check_subsumed_in_speculation<M: Stepper>(&mut self, state: &mut State, ctx: &mut RunContext<M>) -> bool {
        match self.check_subsumed(state, ctx) {
            PruneDecision::Subsumed(by) => {
                ctx.learners.on_subsumed(state, by, ctx.machine.logic());
                self.close(state.node, Status::Pruned, 0, ctx);
                true
            }
            PruneDecision::NewNode => {
                self.open(state, 0.0, ctx);
                false
            }
            PruneDecision::Continue
            | PruneDecision::Speculate(_)
            | PruneDecision::Assumed(_)
            | PruneDecision::Visited(_) => false,
        }
    }

    fn fork_in_speculation<M: Stepper>(
        &mut self,
        node: NodeId,
        depth: u32,
        children: Vec<Child>,
        ctx: &mut RunContext<M>,
    ) -> (Vec<State>, bool) {
        let span = children.first().map_or_else(Default::default, |c| ctx.machine.span(&c.state));
        let (mut ended, mut going) = (Vec::new(), Vec::new());
        for Child { mut state, condition, end, .. } in children {
            state.node = self.tree.grow(node, condition, span);
            self.shares.push(0.0);
            state.depth = depth + 1;
            ctx.learners.open(state.node, &mut state, &self.tree);
            match end {
                None => going.push(state),
                Some(end) => ended.push((state, end)),
            }
        }
        ctx.sink.on_fork(node, &self.tree);
        going.reverse();
        let mut known = true;
        for (mut state, end) in ended {
            known &= self.end_in_speculation(&mut state, &end, ctx);
        }
        (going, known)
    }

    /// A path of a speculation has ended; false if in a way that the run does not know.
    fn end_in_speculation<M: Stepper>(&mut self, state: &mut State, end: &End, ctx: &mut RunContext<M>) -> bool {
        let program = ctx.machine.logic().program();
        let known = |e: &ProgramError| {
            e.kind != ErrorKind::Leak && self.error_sites.contains(&place_of(&program, state, e.kind))
        };
        let status = match end {
            End::Exit(_) => Status::Exit,
            End::Silent => Status::Silent,
            End::Error(e) if known(e) => Status::Error,
            End::Error(_) | End::Cut(_) => bounded(end, &*ctx.learners.pruner).unwrap_or(Status::Cut),
        };
        if status != Status::Cut {
            ctx.learners.ended(state, end, ctx.machine.logic());
        }
        self.close(state.node, status, 0, ctx);
        status != Status::Cut
    }

    /// The pruner's decision for a state, after a speculation if it requests one.
    pub(crate) fn check_subsumed<M: Stepper>(&mut self, state: &mut State, ctx: &mut RunContext<M>) -> PruneDecision {
        let first = ctx.learners.pruner.check_subsumed(state, &self.tree, ctx.machine.logic());
        let PruneDecision::Speculate(limit) = first else { return first };
        self.recheck_after_speculation(state, limit, ctx)
    }

    /// What it says after a speculation.
    pub(crate) fn recheck_after_speculation<M: Stepper>(
        &mut self,
        state: &mut State,
        limit: u64,
        ctx: &mut RunContext<M>,
    ) -> PruneDecision {
        if !self.speculate(state, limit, ctx) {
            return PruneDecision::NewNode;
        }
        state.history.set_at_join();
        match ctx.learners.pruner.check_subsumed(state, &self.tree, ctx.machine.logic()) {
            PruneDecision::Speculate(_) => PruneDecision::NewNode,
            look => look,
        }
    }

    /// A node where paths meet.
    pub(crate) fn open<M: Stepper>(&mut self, state: &mut State, share: f64, ctx: &mut RunContext<M>) {
        let above = state.node;
        state.node = self.tree.grow(above, Terms::TRUE, ctx.machine.span(state));
        self.shares.push(share);
        ctx.learners.open(state.node, state, &self.tree);
        ctx.sink.on_fork(above, &self.tree);
    }
}
