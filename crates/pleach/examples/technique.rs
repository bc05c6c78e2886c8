//! A pruning technique of one's own, unsound on purpose, and the check that catches it.
//!
//! The technique subsumes a state if the hash of its memory equals that of a complete node at the same instruction. It
//! forgets the registers. `check_pruning` explores every pruned subtree anyway and finds what was lost.
//!
//! `cargo run --example technique -- FILE.c`

use pleach::explore::RunConfig;
use pleach::state::pruner::{Interpolator, PruneDecision, Pruner, Subsumption};
use pleach::state::seams::PathOracle;
use pleach::state::{NodeId, State, Status, Tree};
use pleach::{CompileOptions, Engine};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// Function, instruction and hash of the memory.
type Point = (u32, u32, u64);

fn point(state: &State) -> Point {
    let mut hash = DefaultHasher::new();
    for (id, object) in state.memory.live() {
        (id.0, object.size()).hash(&mut hash);
        format!("{:?}", object.contents).hash(&mut hash);
    }
    (state.frame.func.0, state.inst, hash.finish())
}

/// Subsumes states by an equal hash of their memory.
#[derive(Default)]
struct EqualMemory {
    open: BTreeMap<NodeId, Point>,
    complete: BTreeMap<Point, NodeId>,
}

impl Subsumption for EqualMemory {
    fn check_subsumed(&mut self, state: &mut State, _: &Tree, _: &mut dyn PathOracle) -> PruneDecision {
        if !state.history.take_at_join() {
            return PruneDecision::Continue;
        }
        match self.complete.get(&point(state)) {
            Some(by) => PruneDecision::Subsumed(*by),
            None => PruneDecision::NewNode,
        }
    }
}

impl Interpolator for EqualMemory {
    fn open(&mut self, node: NodeId, state: &mut State, _: &Tree) {
        state.history.restart(state.inst);
        self.open.insert(node, point(state));
    }
    fn close(&mut self, node: NodeId, tree: &Tree, _: &mut dyn PathOracle) {
        if let Some(point) = self.open.remove(&node).filter(|_| tree.node(node).status == Status::Inner) {
            self.complete.entry(point).or_insert(node);
        }
    }
}

impl Pruner for EqualMemory {}

fn main() -> Result<(), pleach::Error> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/two_choices.c");
    let file = std::env::args().nth(1).unwrap_or_else(|| default.into());
    let program = Rc::new(pleach::load(&[file], &CompileOptions::default())?);
    let mut technique = EqualMemory::default();
    let check = RunConfig { check_pruning: Some(10_000), ..RunConfig::default() };
    let found = Engine::builder(program).pruner(&mut technique).run_config(check).explore()?;
    println!("{:?}: {} states subsumed", found.verdict, found.counters.pruned);
    for failure in &found.counters.rechecked.failures {
        println!("caught: {failure}");
    }
    Ok(())
}
