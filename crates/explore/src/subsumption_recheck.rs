//! Subsumed states explored anyway, to check whether the subsuming subtree reached everything.
//!
//! *Idea*: the subtree is explored in a sub-exploration: it gets no nodes, counts as no path, covers no line and
//! teaches the pruner nothing. It stops at a limit of instructions; what is left then is counted. *Invariant*: every
//! block entered and every error found in it was also reached below the subsuming node, else the run ends with an
//! internal error.

use crate::run::{Run, RunContext};
use crate::sink::Ended;
use crate::step::{Step, Stepper};
use pleach_state::reached_set::{Blocks, Reached};
use pleach_state::{Cut, End, NodeId, State, Trace};

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
        let Some((blocks, known)) = ctx.pruner.known_below(by) else { return };
        let (blocks, known) = (blocks.clone(), known.clone());
        ctx.machine.sub_exploration(true);
        let before = ctx.machine.instructions();
        let found = self.explore_subtree(state, before + limit, &blocks, &known, ctx);
        self.counters.rechecked.instructions += ctx.machine.instructions() - before;
        ctx.machine.sub_exploration(false);
        self.counters.rechecked.subtrees += 1;
        if let Some(Unknown { state: at, end, what }) = found {
            let span = ctx.machine.span(state);
            let program = ctx.machine.logic().program();
            let place = format!("{}:{}", program.path(span), span.line);
            let words = format!(
                "unsound pruning: state at {place} (node {}) was subsumed by node {}, which never reached {what}",
                state.node.0, by.0
            );
            let end = end.unwrap_or(End::Cut(Cut::Stopped("the check of the pruning failed".into())));
            let ended = Ended { state: &at, end: &end, node: state.node, skip_test: false };
            ctx.sink.on_unsound(ctx.machine, ended, &words);
            self.counters.rechecked.failures.push(words);
            self.stop.get_or_insert(Cut::Stopped("the check of the pruning failed".into()));
        }
    }

    /// The first thing found that is not known.
    fn explore_subtree<M: Stepper>(
        &mut self,
        from: &State,
        limit: u64,
        blocks: &Blocks,
        known: &Reached,
        ctx: &mut RunContext<M>,
    ) -> Option<Unknown> {
        let program = ctx.machine.logic().program();
        let unknown = |state: &State, end: Option<&End>| {
            let mut here = Reached::new(blocks);
            here.note(&program, blocks, state);
            end.iter().for_each(|e| here.note_end(&program, state, e));
            if let Some((kind, func, inst)) = here.errors.difference(&known.errors).next() {
                let f = program.function(*func);
                let line = f.spans.get(inst.index()).map_or(0, |s| s.line);
                return Some(format!("error `{}` in `{}` at line {line}", kind.as_str(), f.name));
            }
            here.blocks.subtract(&known.blocks);
            here.blocks.iter().next().map(|n| {
                let (func, block) = blocks.block(n);
                let f = program.function(func);
                let line = f.spans.get(f.blocks[block.index()].first.index()).map_or(0, |s| s.line);
                format!("block {} of `{}` at line {line}", block.0, f.name)
            })
        };
        let mut waiting = vec![from.clone()];
        let mut cut = false;
        while let Some(mut state) = waiting.pop() {
            if ctx.machine.instructions() >= limit || self.halt.reason().is_some() {
                cut = true;
                break;
            }
            state.at_join = false;
            state.origin = None;
            state.trace = Trace { from: state.inst, ..Trace::default() };
            let found: Vec<(State, Option<End>)> = match ctx.machine.step(&mut state, self.config.step_blocks) {
                Step::Next => vec![(state, None)],
                Step::End(end) => vec![(state, Some(end))],
                Step::Deferred => {
                    cut = true;
                    continue;
                }
                Step::Fork(children) => children.into_iter().map(|c| (c.state, c.end)).collect(),
            };
            for (state, end) in found {
                if let Some(what) = unknown(&state, end.as_ref()) {
                    return Some(Unknown { state, end, what });
                }
                match end {
                    None => waiting.push(state),
                    Some(end) => {
                        self.counters.rechecked.paths += 1;
                        cut |= matches!(end, End::Cut(_));
                    }
                }
            }
        }
        self.counters.rechecked.unfinished += u64::from(cut);
        None
    }
}
