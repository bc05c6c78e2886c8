//! Interpolation over the execution tree.
//!
//! *Paper*: HeapInterp §III–V, TracerX §3–5. *Idea*: when everything below a node is explored without loss, walking back over the paths gives a condition on
//! the node's state under which nothing else can happen below it; a state at the same point that satisfies it is covered.
//! *Invariant*: for an entry (p, Ψ): every state at p with Ψ reaches no error location and no block that the explored
//! subtree did not reach. *Deviations*: conditions are kept over locations (registers, cells of objects) and not over the first path's
//! unknowns, so that matching needs no quantifiers. *Direction*: may miss prunings, loses no path.
//! *Checked by*: the tests that compare runs with and without `--prune`.

use crate::explain::{Explained, Explanation};
use crate::matching::{Matcher, Miss};
use crate::point::Point;
use crate::table::{Entry, SubsumptionTable};
use pleach_ir::Program;
use pleach_state::seams::{Logic, Look, Pruner};
use pleach_state::{End, Exit, ForkKind, Leaks, NodeId, State, Status, Trace, Tree};
use pleach_wp::{Condition, GiveUp, Locs, Walked};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

pub(crate) struct Open {
    pub(crate) parent: NodeId,
    pub(crate) point: Point,
    /// the state at the node
    pub(crate) state: Rc<State>,
    /// from the parent's fork (or its point, if it did not fork) to this node
    pub(crate) entry: Trace,
    pub(crate) fork: ForkKind,
    /// the parent's state at its fork; `None` for a node with one child
    pub(crate) origin: Option<Rc<State>>,
    /// what the children need, at this node's fork or at its point
    pub(crate) needs: Walked<Condition>,
    /// the children were made by a fork whose state is this one
    pub(crate) forked: Option<Rc<State>>,
    /// by which edges children left a branch or switch
    pub(crate) exits: Vec<Exit>,
    /// the node that covers it
    pub(crate) by: Option<NodeId>,
}

/// How a branch is crossed on the way back, and what a node keeps.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Method {
    /// weakest preconditions: a literal that needs the branch is guarded by it
    #[default]
    Wp,
    /// conjunctions only: a literal that needs the branch is replaced by the context that implies it
    Abduction,
    /// what the path knew, less everything that the subtree does not depend on
    Deletion,
}

/// Which errors the machine looks for beside those it always does.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Checks {
    /// signed overflow
    pub overflow: bool,
    pub leaks: Leaks,
}

#[derive(Default)]
pub struct Figures {
    pub looked: u64,
    pub covered: u64,
    pub missed_binding: u64,
    pub missed_literal: u64,
    pub literals: u64,
    pub largest: u64,
    pub gave_up: BTreeMap<&'static str, u64>,
}

pub struct Interpolation {
    pub(crate) locs: Locs,
    pub(crate) open: FxHashMap<NodeId, Open>,
    pub(crate) table: SubsumptionTable,
    /// the condition of a covered state, from its look until `covered`
    pub(crate) covering: Option<Condition>,
    pub(crate) fixed: u32,
    pub(crate) checks: Checks,
    pub(crate) method: Method,
    pub figures: Figures,
    /// interpolants by node, kept when asked for
    pub explain: Option<BTreeMap<NodeId, Explained>>,
}

impl Interpolation {
    pub fn new(program: &Program, checks: Checks, method: Method) -> Interpolation {
        Interpolation {
            locs: Locs::new(program),
            open: FxHashMap::default(),
            table: SubsumptionTable::default(),
            covering: None,
            fixed: (program.globals.len() + program.functions.len()) as u32,
            checks,
            method,
            figures: Figures::default(),
            explain: None,
        }
    }

    /// What was kept for explanation, in words.
    pub fn explanations(&self, logic: &mut dyn Logic) -> Vec<Explanation> {
        let program = logic.program();
        let kept = self.explain.iter().flatten();
        kept.map(|(n, e)| e.explanation(*n, logic.terms(), &program, &self.locs)).collect()
    }
}

impl Pruner for Interpolation {
    fn look(&mut self, state: &mut State, _: &Tree, logic: &mut dyn Logic) -> Look {
        if !state.at_join || !state.recording {
            return Look::Go;
        }
        state.at_join = false;
        if !Point::is_comparable(state) {
            return Look::Go;
        }
        self.figures.looked += 1;
        let point = Point::of(state);
        for entry in self.table.candidates(&point, state) {
            let mut matcher = Matcher::new(state, &self.locs, self.fixed);
            match matcher.check(logic, &entry.condition) {
                Ok(()) => {
                    let binding = std::mem::take(&mut matcher.binding);
                    self.figures.covered += 1;
                    self.covering = Some(self.rename(logic, &binding, state, &entry.condition));
                    return Look::Covered(entry.node);
                }
                Err(Miss::Binding) => self.figures.missed_binding += 1,
                Err(Miss::Literal) => self.figures.missed_literal += 1,
            }
        }
        if state.trace.is_empty() { Look::Go } else { Look::Open }
    }

    fn open(&mut self, node: NodeId, state: &mut State, tree: &Tree) {
        if !state.recording {
            return;
        }
        let origin = state.origin.take();
        let entry = std::mem::take(&mut state.trace);
        state.trace.from = state.inst;
        let info = Open {
            parent: tree.node(node).parent,
            point: Point::of(state),
            entry,
            fork: state.fork,
            origin,
            needs: Ok(Condition::default()),
            forked: None,
            exits: Vec::new(),
            by: None,
            state: Rc::new(state.clone()),
        };
        self.open.insert(node, info);
    }

    fn ended(&mut self, state: &mut State, end: &End, logic: &mut dyn Logic) {
        if !self.open.contains_key(&state.node) {
            return;
        }
        state.trace.leave(state.frame.func, state.inst, state.call_depth(), Exit::Fall, state.inst);
        let trace = std::mem::take(&mut state.trace);
        let last = self.at_end(logic, state, end, trace.is_empty());
        let psi = match last {
            Ok(c) => self.walk_trace(logic, c, &trace),
            Err(why) => Err(why),
        };
        if let Err(why) = psi {
            *self.figures.gave_up.entry(why.0).or_default() += 1;
        }
        if let Some(o) = self.open.get_mut(&state.node) {
            o.needs = psi;
        }
    }

    fn covered(&mut self, state: &mut State, by: NodeId, logic: &mut dyn Logic) {
        let Some(condition) = self.covering.take() else { return };
        let trace = std::mem::take(&mut state.trace);
        let psi = self.walk_trace(logic, condition, &trace);
        if let Some(o) = self.open.get_mut(&state.node) {
            o.needs = psi;
            o.by = Some(by);
        }
    }

    fn close(&mut self, node: NodeId, tree: &Tree, logic: &mut dyn Logic) {
        let Some(mut info) = self.open.remove(&node) else { return };
        let psi = match tree.node(node).tainted {
            true => Err(GiveUp("a path below was lost")),
            false => self.interpolant(logic, &mut info),
        };
        if let Some(e) = &mut self.explain {
            e.insert(node, Explained::new(&logic.program(), &info.state, psi.clone(), info.by));
        }
        if let Ok(c) = &psi {
            self.figures.literals += c.len() as u64;
            self.figures.largest = self.figures.largest.max(c.len() as u64);
            // A covered leaf adds nothing that its coverer does not have.
            if tree.node(node).status != Status::Pruned && Point::is_comparable(&info.state) {
                let depth = info.state.call_depth();
                let entry = Entry { node, condition: c.clone() };
                self.table.insert(logic.terms(), &self.locs, info.point.clone(), depth, entry);
            }
        }
        self.pass_to_parent(logic, info, psi);
    }

    fn figures(&self) -> Vec<(String, u64)> {
        let f = &self.figures;
        let mut v = vec![
            ("looked".to_string(), f.looked),
            ("covered".into(), f.covered),
            ("missed-binding".into(), f.missed_binding),
            ("missed-literal".into(), f.missed_literal),
            ("entries".into(), self.table.len() as u64),
            ("literals".into(), f.literals),
            ("largest".into(), f.largest),
        ];
        v.extend(f.gave_up.iter().map(|(k, n)| (format!("gave-up: {k}"), *n)));
        v
    }
}
