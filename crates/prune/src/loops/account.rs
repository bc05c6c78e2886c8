//! What is said of each loop: how often it was unrolled, its invariants, and what waits there.

use crate::explain::Explained;
use crate::pruner::Interpolation;
use pleach_ir::cfg::Cfg;
use pleach_ir::dominators::Dominators;
use pleach_ir::loops::Loops;
use pleach_ir::{FuncId, Program, Span};
use pleach_state::access_path::frames;
use pleach_state::seams::PathOracle;
use pleach_state::{NodeId, State};
use std::collections::BTreeMap;

/// A place where states came back to.
#[derive(Default)]
pub(super) struct LoopAccount {
    span: Span,
    /// states that came back and were explored after all
    unrolled: u64,
    /// most rounds on one path
    rounds: usize,
    invariants: BTreeMap<NodeId, Found>,
}

/// An invariant, and whether it was found at the header itself.
struct Found {
    what: Explained,
    at_header: bool,
}

/// What of an invariant can be said in C, over variables of the innermost function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvariantInC {
    pub at_header: bool,
    pub conjuncts: Vec<String>,
}

/// By function and header.
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
    /// different states at the header, if one was there again; see [`super::visited`]
    pub states: u64,
    /// one for each state of the header that was enough; each as conjuncts
    pub invariants: Vec<Vec<String>>,
    /// the same in C, where something of it can be said there
    pub in_c: Vec<InvariantInC>,
}

impl super::Loops {
    pub(crate) fn natural_loops(&mut self, func: FuncId, program: &Program) -> &Loops {
        self.natural.entry(func.0).or_insert_with(|| {
            let cfg = Cfg::new(program.function(func));
            Loops::new(&cfg, &Dominators::new(&cfg))
        })
    }
}

impl Interpolation {
    /// Of the innermost loop around a state, which one came back to.
    fn account(&mut self, state: &State) -> Option<&mut LoopAccount> {
        let key = self.loop_of(state)?;
        self.loops.accounts.get_mut(&key)
    }

    /// The innermost loop around the state, by function and header: around its block, or around the call of its
    /// function. Of a cycle without one, the block itself.
    fn loop_of(&self, state: &State) -> Option<(u32, u32)> {
        for (_, frame) in frames(state) {
            let natural = self.loops.natural.get(&frame.func.0)?;
            let block = if std::ptr::eq(frame, &state.frame) { state.block } else { frame.block };
            if let Some(l) = natural.innermost(block) {
                return Some((frame.func.0, natural.get(l).header.0));
            }
        }
        Some((state.frame.func.0, state.block.0))
    }

    /// The state came back to its loop.
    pub(crate) fn note_round(&mut self, state: &State, rounds: usize, program: &Program) {
        for (_, frame) in frames(state) {
            self.loops.natural_loops(frame.func, program);
        }
        let Some(key) = self.loop_of(state) else { return };
        let f = program.function(FuncId(key.0));
        let account = self.loops.accounts.entry(key).or_default();
        // The first instructions of a header may come from no line.
        let first = f.blocks[key.1 as usize].first.0 as usize;
        account.span = f.spans.iter().skip(first).find(|s| s.line != 0).copied().unwrap_or_default();
        account.rounds = account.rounds.max(rounds);
    }

    pub(super) fn note_unrolled(&mut self, state: &State) {
        if let Some(account) = self.account(state) {
            account.unrolled += 1;
        }
    }

    pub(crate) fn note_invariant(&mut self, node: NodeId, state: &State, invariant: Explained) {
        let here = (state.frame.func.0, state.block.0);
        let at_header = self.loop_of(state) == Some(here);
        if let Some(account) = self.account(state) {
            account.invariants.insert(node, Found { what: invariant, at_header });
        }
    }

    /// The loops that states came back to, in the order of the program.
    pub fn loops(&self, oracle: &mut dyn PathOracle) -> Vec<LoopExplanation> {
        let program = oracle.program();
        let of = |(&(func, header), l): (&(u32, u32), &LoopAccount)| {
            let mut invariants: Vec<Vec<String>> = Vec::new();
            let mut in_c: Vec<InvariantInC> = Vec::new();
            for (node, Found { what: e, at_header }) in &l.invariants {
                let conjuncts = e.in_c(oracle.terms(), &program, &self.locs);
                let said = InvariantInC { at_header: *at_header, conjuncts };
                if !in_c.contains(&said) {
                    in_c.push(said);
                }
                let mut lines = e.explanation(*node, oracle.terms(), &program, &self.locs).conjuncts;
                if e.span.line != 0 && e.span.line != l.span.line {
                    lines.insert(0, format!("at line {}", e.span.line));
                }
                if !invariants.contains(&lines) {
                    invariants.push(lines);
                }
            }
            let here = |s: &State| self.loop_of(s) == Some((func, header));
            let waiting = self.loops.assumptions.values().filter(|a| here(&a.state)).count() as u64;
            LoopExplanation {
                func: FuncId(func),
                span: l.span,
                unrolled: l.unrolled,
                rounds: l.rounds as u64,
                waiting,
                states: self.loops.visited.states(func, header),
                invariants,
                in_c,
            }
        };
        self.loops.accounts.iter().map(of).collect()
    }
}
