//! Searching for integers that satisfy all forms, or for the reasons why there are none.
//!
//! *Idea*: bounds go into the graph at once; disequalities and disjunctions wait until the values at hand violate them,
//! and only then is a case distinction made. A conflict that does not depend on the latest decision skips its other
//! cases. *Invariant*: `Unsat(R)`: the constraints in R have no common solution. `Sat` says only that the values
//! satisfy the forms.

use super::forms::{AtomId, Form, Forms, ZERO};
use super::graph::Graph;
use super::reasons::{ALWAYS, DEPTH, Reasons, decision};
use rustc_hash::FxHashMap;

/// Case distinctions for one query: at most, and where they lead nowhere again and again.
const MAX_SPLITS: u32 = 96;
const MIN_SPLITS: u32 = 12;
/// Atoms of one query.
const MAX_ATOMS: usize = 160;

pub(super) enum RewriteResult {
    Sat,
    Unsat(Reasons),
    GivenUp,
}

pub(super) struct Search {
    graph: Graph,
    /// atoms of the query, in the order of their nodes
    pub atoms: Vec<AtomId>,
    nodes: FxHashMap<AtomId, u16>,
    waiting: Vec<(Form, u8)>,
    pub splits: u32,
    /// case distinctions that are allowed now
    splits_left: u32,
}

impl Search {
    pub fn new() -> Search {
        Search {
            graph: Graph::default(),
            atoms: Vec::new(),
            nodes: FxHashMap::default(),
            waiting: Vec::new(),
            splits: 0,
            splits_left: MAX_SPLITS,
        }
    }

    /// A search of a query came to an end: was it worth it?
    pub fn learn(&mut self, answered: bool) {
        if !answered {
            self.splits_left = (self.splits_left / 2).max(MIN_SPLITS);
        } else if self.splits > 0 {
            self.splits_left = (self.splits_left + 4).min(MAX_SPLITS);
        }
    }

    /// Can the forms hold together? Each has its reason.
    pub fn run(&mut self, forms: &Forms, all: &[(Form, u8)]) -> RewriteResult {
        self.graph.clear();
        self.atoms.clear();
        self.nodes.clear();
        self.waiting.clear();
        self.splits = 0;
        self.introduce(forms, ZERO);
        for (form, _) in all {
            self.mention(forms, form);
        }
        if self.atoms.len() > MAX_ATOMS {
            return RewriteResult::GivenUp;
        }
        for (form, reason) in all {
            if let Err(reasons) = self.assert(form, *reason) {
                return RewriteResult::Unsat(reasons);
            }
        }
        self.decide(0)
    }

    /// The integer found for an atom of the query.
    pub fn value(&self, atom: AtomId) -> i128 {
        self.of(atom) - self.of(ZERO)
    }

    fn of(&self, atom: AtomId) -> i128 {
        self.graph.value[usize::from(self.nodes[&atom])]
    }

    fn mention(&mut self, forms: &Forms, form: &Form) {
        match form {
            Form::Truth(_) | Form::Open => {}
            Form::AtMost(a, b, _) | Form::Same(a, b, _) | Form::Distinct(a, b, _) => {
                self.introduce(forms, *a);
                self.introduce(forms, *b);
            }
            Form::All(parts) | Form::Any(parts) => parts.iter().for_each(|p| self.mention(forms, p)),
        }
    }

    /// A node for the atom, with its range and its ties to other atoms.
    fn introduce(&mut self, forms: &Forms, mut atom: AtomId) {
        while !self.nodes.contains_key(&atom) && self.atoms.len() <= MAX_ATOMS {
            let node = self.graph.node();
            self.nodes.insert(atom, node);
            self.atoms.push(atom);
            let a = forms.atom(atom);
            // A range is not empty: these two edges alone cannot be in conflict.
            let _ = self.graph.add(0, node, a.high, ALWAYS);
            let _ = self.graph.add(node, 0, -a.low, ALWAYS);
            if let Some((twin, tie)) = forms.readings(atom)
                && self.nodes.contains_key(&twin)
            {
                self.waiting.push((tie, ALWAYS));
            }
            let (Some(tie), Some(base)) = (forms.definition(atom), forms.base(atom)) else { return };
            self.waiting.push((tie, ALWAYS));
            atom = base;
        }
    }

    fn assert(&mut self, form: &Form, reason: u8) -> Result<(), Reasons> {
        match form {
            Form::Truth(true) | Form::Open => Ok(()),
            Form::Truth(false) => Err(Reasons::one(reason)),
            Form::AtMost(a, b, c) => self.graph.add(self.nodes[b], self.nodes[a], *c, reason),
            Form::Same(a, b, c) => {
                self.graph.add(self.nodes[b], self.nodes[a], *c, reason)?;
                self.graph.add(self.nodes[a], self.nodes[b], -*c, reason)
            }
            Form::All(parts) => parts.iter().try_for_each(|p| self.assert(p, reason)),
            Form::Any(parts) if parts.len() == 1 => self.assert(&parts[0], reason),
            Form::Distinct(..) | Form::Any(_) => {
                self.waiting.push((form.clone(), reason));
                Ok(())
            }
        }
    }

    fn holds(&self, form: &Form) -> bool {
        let difference = |a: &AtomId, b: &AtomId| self.of(*a) - self.of(*b);
        match form {
            Form::Truth(b) => *b,
            Form::Open => true,
            Form::AtMost(a, b, c) => difference(a, b) <= *c,
            Form::Same(a, b, c) => difference(a, b) == *c,
            Form::Distinct(a, b, c) => difference(a, b) != *c,
            Form::All(parts) => parts.iter().all(|p| self.holds(p)),
            Form::Any(parts) => parts.iter().any(|p| self.holds(p)),
        }
    }

    fn decide(&mut self, depth: usize) -> RewriteResult {
        let violated = self.waiting.iter().find(|(form, _)| !self.holds(form)).cloned();
        let Some((form, reason)) = violated else { return RewriteResult::Sat };
        if depth == DEPTH || self.splits >= self.splits_left {
            return RewriteResult::GivenUp;
        }
        let mut core = Reasons::one(reason);
        let cases: &[Form] = match &form {
            Form::Distinct(a, b, c) => &[Form::AtMost(*a, *b, c - 1), Form::AtMost(*b, *a, -c - 1)],
            Form::Any(parts) => parts,
            _ => return RewriteResult::GivenUp,
        };
        let this = decision(depth);
        for case in cases {
            self.splits += 1;
            let (graph, waiting) = (self.graph.mark(), self.waiting.len());
            let outcome = match self.assert(case, this) {
                Err(reasons) => RewriteResult::Unsat(reasons),
                Ok(()) => self.decide(depth + 1),
            };
            match outcome {
                RewriteResult::Unsat(mut reasons) => {
                    self.graph.undo(&graph);
                    self.waiting.truncate(waiting);
                    // SOUND: what is contradictory without this decision is so in every other case.
                    if !reasons.contains(this) {
                        return RewriteResult::Unsat(reasons);
                    }
                    reasons.remove(this);
                    core.union(&reasons);
                }
                other => return other,
            }
        }
        RewriteResult::Unsat(core)
    }
}
