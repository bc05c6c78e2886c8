//! States that are held inside a loop, at the start of a block, so that others with the same store can join them.
//!
//! *Paper*: Memory §6.3, incremental merging. *Idea*: `a || b` in a loop doubles the states with each round, although
//! both ways go on alike. States whose stores are equal in what is live become one before they leave the loop.
//! *Invariant*: a held state is inside of its region and is not stepped. *Deviations*: the paper keeps snapshots of
//! inner nodes, merges a new leaf with such a snapshot and discards what was explored below it. Here nothing is explored
//! twice: a state is held behind the next branch as long as others are in the loop. When nobody runs in it one goes on,
//! such that those which may still come to where others wait come first. So counters and coverage have nothing to
//! forget, and pruning sees an ordinary merged node. *Direction*: merges less where that order is wrong; loses no path
//! and adds none.

use crate::fields::same_callers;
use crate::loops::ProgramFacts;
use pleach_expr::Terms;
use pleach_ir::bitset::BitSet;
use pleach_ir::{BlockId, FuncId};
use pleach_memory::merge::Choice;
use pleach_memory::{AddressSpace, Value};
use pleach_state::{NodeId, PathConstraint, State};
use rustc_hash::FxHashMap;

/// With more of them, states are no longer compared.
const MAX_COMPARED: usize = 64;

/// The path constraints of the parents of held states, by leaf.
pub(crate) type Parents = FxHashMap<NodeId, PathConstraint>;

pub(crate) type HeldStates = Vec<Box<State>>;

/// The header of the loop in which states are held, its function, and the depth of the call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldIn {
    pub func: FuncId,
    pub depth: u32,
    pub header: BlockId,
}

/// Takes out one that goes on now, and those at the same place.
pub(crate) fn release(held: &mut HeldStates, of: Option<HeldIn>, facts: &mut ProgramFacts) -> HeldStates {
    let Some(next) = choose(held, of, facts) else { return Vec::new() };
    let mut group = vec![held.remove(next)];
    if held.len() <= MAX_COMPARED {
        let position = |s: &State| (s.frame.func, s.block, s.inst);
        let here = position(&group[0]);
        let others = held.extract_if(.., |h| position(h) == here);
        group.extend(others);
    }
    group
}

/// The block of the call with the loop in which a state is; who is in a function that it called is at the block of that
/// call.
fn block_in(state: &State, of: HeldIn) -> Option<BlockId> {
    let above = state.call_depth().checked_sub(of.depth)?;
    let callers = std::iter::successors(state.callers.as_deref(), |c| c.below.as_deref());
    let (func, block) = match above.checked_sub(1) {
        None => (state.frame.func, state.block),
        Some(n) => callers.map(|c| (c.frame.func, c.frame.block)).nth(n as usize)?,
    };
    (func == of.func).then_some(block)
}

/// The newest of those at which no other can arrive in the same round of the loop.
fn choose(held: &HeldStates, of: Option<HeldIn>, facts: &mut ProgramFacts) -> Option<usize> {
    let newest = held.len().checked_sub(1);
    let Some(of) = of.filter(|_| held.len() <= MAX_COMPARED) else { return newest };
    let facts = facts.of(of.func);
    let mut from: Vec<(BlockId, BitSet)> = Vec::new();
    for block in held.iter().filter_map(|h| block_in(h, of)) {
        if from.iter().all(|f| f.0 != block) {
            from.push((block, facts.reachable_without(block, of.header)));
        }
    }
    let may_come = |to: BlockId| from.iter().any(|(b, reached)| *b != to && reached.contains(to.index()));
    let free = |h: &State| h.call_depth() != of.depth || h.frame.func != of.func || !may_come(h.block);
    (0..held.len()).rev().find(|i| free(&held[*i])).or(newest)
}

/// A path constraint that the group and the other extend: that of the parent of one of them (the lowest common
/// ancestor of the paper).
pub(crate) fn shared_before(
    group: &HeldStates,
    before: &PathConstraint,
    other: &State,
    parents: &Parents,
) -> Option<PathConstraint> {
    if other.path.since(before).is_some() {
        return Some(before.clone());
    }
    let above = parents.get(&other.node)?;
    group.iter().all(|m| m.path.since(above).is_some()).then(|| above.clone())
}

/// At the same place, with equal values wherever something may still look.
pub(crate) fn is_same_store(a: &State, b: &State, facts: &mut ProgramFacts, terms: &mut Terms) -> bool {
    if !same_callers(&a.callers, &b.callers) || !a.inputs.is_same(&b.inputs) || !same_registers(a, b, facts) {
        return false;
    }
    let mut compared = Compared { differ: false };
    AddressSpace::merge(&[&a.memory, &b.memory], false, terms, &mut compared).is_ok() && !compared.differ
}

fn same_registers(a: &State, b: &State, facts: &mut ProgramFacts) -> bool {
    let program = facts.program.clone();
    let f = program.function(a.frame.func);
    let live = facts.of(a.frame.func).liveness.live_at(f, pleach_ir::InstId(a.inst));
    let mut pairs = a.frame.regs.iter().zip(b.frame.regs.iter()).enumerate();
    pairs.all(|(slot, (x, y))| x == y || !live.contains(slot))
}

/// Makes no value, and notes whether one would be needed.
struct Compared {
    differ: bool,
}

impl Choice for Compared {
    fn choose(&mut self, _: &mut Terms, values: &[Value], _: u16) -> Value {
        self.differ |= values.iter().any(|v| *v != values[0]);
        values[0]
    }
}
