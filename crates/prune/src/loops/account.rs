//! What is said of each loop: how often it was unrolled, its invariants, and what waits there.

use crate::explain::Explained;
use crate::pruner::Interpolation;
use pleach_ir::{FuncId, Span};
use pleach_state::seams::PathOracle;
use pleach_state::{NodeId, State};
use std::collections::BTreeMap;

/// A place where states came back to.
#[derive(Default)]
pub(super) struct LoopAccount {
    span: Span,
    /// states taken as subsumed
    assumed: u64,
    /// of these, explored after all
    unrolled: u64,
    /// most rounds on one path
    rounds: usize,
    invariants: BTreeMap<NodeId, Explained>,
}

/// By function and instruction.
pub(super) type LoopAccounts = BTreeMap<(u32, u32), LoopAccount>;

/// A loop, as text.
pub struct LoopExplanation {
    pub func: FuncId,
    pub span: Span,
    /// how often a state that came back was explored after all
    pub unrolled: u64,
    /// the most rounds on one path
    pub rounds: u64,
    /// states that came back and are neither subsumed nor explored yet
    pub waiting: u64,
    /// one for each state of the header that was enough; each as conjuncts
    pub invariants: Vec<Vec<String>>,
}

impl Interpolation {
    fn account(&mut self, state: &State) -> &mut LoopAccount {
        self.loops.accounts.entry((state.frame.func.0, state.inst)).or_default()
    }

    /// The state came back to its loop.
    pub(super) fn note_round(&mut self, state: &State, rounds: usize, span: Span) {
        let account = self.account(state);
        account.assumed += 1;
        account.span = span;
        account.rounds = account.rounds.max(rounds);
    }

    pub(super) fn note_unrolled(&mut self, state: &State) {
        self.account(state).unrolled += 1;
    }

    pub(super) fn note_invariant(&mut self, node: NodeId, state: &State, invariant: Explained) {
        self.account(state).invariants.insert(node, invariant);
    }

    /// The loops that states came back to, in the order of the program.
    pub fn loops(&self, oracle: &mut dyn PathOracle) -> Vec<LoopExplanation> {
        let program = oracle.program();
        let of = |(&(func, inst), l): (&(u32, u32), &LoopAccount)| {
            let mut invariants: Vec<Vec<String>> = Vec::new();
            for (node, e) in &l.invariants {
                let lines = e.explanation(*node, oracle.terms(), &program, &self.locs).conjuncts;
                if !invariants.contains(&lines) {
                    invariants.push(lines);
                }
            }
            let here = |s: &State| (s.frame.func.0, s.inst) == (func, inst);
            let waiting = self.loops.assumptions.values().filter(|a| here(&a.state)).count() as u64;
            LoopExplanation {
                func: FuncId(func),
                span: l.span,
                unrolled: l.unrolled,
                rounds: l.rounds as u64,
                waiting,
                invariants,
            }
        };
        self.loops.accounts.iter().map(of).collect()
    }
}
