//! What is known from elsewhere: states from which the goals are not reached.
//!
//! *Idea*: forward execution that has explored all that follows a state has an interpolant there: a condition under
//! which the goals are not reached. Backward execution leaves out the states that satisfy it, at the nodes of that
//! point of the entry, in whatever iteration. *Invariant*: an execution that reaches a goal is never left out.
//! *Direction*: a condition that speaks of memory that the graph does not have is not used.

use crate::graph::FrameId;
use crate::layout::AtomKind;
use crate::pointers::Group;
use crate::transfer::{Here, Translator, Value};
use pleach_expr::{Op, TermId, Terms};
use pleach_ir::{FuncId, GlobalId, InstId, Slot};
use rustc_hash::FxHashMap;

/// What a variable of a condition is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FactVariable {
    /// a number in a slot of the entry
    Slot(Slot),
    /// bytes of a global
    Global(GlobalId, u64, u64),
}

/// Conditions at points of the entry, over terms of their own.
pub struct Facts {
    pub terms: Terms,
    pub places: FxHashMap<TermId, FactVariable>,
    /// for each point, which is the start of a block: any of them holds, each a conjunction
    pub refuted: FxHashMap<(FuncId, InstId), Vec<Vec<TermId>>>,
}

impl std::fmt::Debug for Facts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "facts at {} points", self.refuted.len())
    }
}

impl Translator<'_> {
    /// At the start of a node: the goals may be reached from here.
    pub fn not_refuted(&mut self, here: &mut Here) -> TermId {
        let Some(facts) = self.facts.clone() else { return Terms::TRUE };
        let node = self.graph.node(here.n);
        let start = here.f.block_range(node.block).start;
        if here.frame != FrameId::ENTRY || node.insts.start != start {
            return Terms::TRUE;
        }
        let func = self.graph.frames[FrameId::ENTRY.index()].func;
        let Some(all) = facts.refuted.get(&(func, InstId::new(start))) else { return Terms::TRUE };
        let mut open = Terms::TRUE;
        let mut done = FxHashMap::default();
        for literals in all {
            let parts = literals.iter().map(|&l| self.copy(here, &facts, l, &mut done)).collect::<Option<Vec<_>>>();
            let Some(parts) = parts else { continue };
            let holds = self.terms.and_all(&parts);
            let fails = self.terms.not(holds);
            open = self.terms.and(open, fails);
        }
        open
    }

    /// A term of the facts as one of the node.
    fn copy(&mut self, here: &Here, facts: &Facts, t: TermId, done: &mut FxHashMap<TermId, TermId>) -> Option<TermId> {
        let mut stack = vec![t];
        while let Some(&at) = stack.last() {
            if done.contains_key(&at) {
                stack.pop();
                continue;
            }
            let args = facts.terms.args(at);
            let missing: Vec<TermId> = args.iter().copied().filter(|a| !done.contains_key(a)).collect();
            if !missing.is_empty() {
                stack.extend(missing);
                continue;
            }
            let n = facts.terms.node(at);
            let made = match (n.op, facts.places.get(&at)) {
                (_, Some(&place)) => self.at_place(here, place).filter(|t| self.terms.width(*t) == n.width)?,
                (Op::Const, _) => self.terms.constant(n.width, n.value()),
                (Op::Var, _) => return None,
                _ => {
                    let args: Vec<TermId> = args.iter().map(|a| done[a]).collect();
                    self.terms.rebuild(n, &args)
                }
            };
            done.insert(at, made);
            stack.pop();
        }
        done.get(&t).copied()
    }

    fn at_place(&mut self, here: &Here, place: FactVariable) -> Option<TermId> {
        let (global, offset, bytes) = match place {
            FactVariable::Slot(s) => {
                let Value::Bits(t) = self.slot(here, s) else { return None };
                return Some(t);
            }
            FactVariable::Global(global, offset, bytes) => (global, offset, bytes),
        };
        let g = self.pointers.find(Group::Global(global))?;
        let region = self.layout.regions[self.layout.region(g)].clone();
        if region.broken.is_some() {
            return None;
        }
        let mut value: Option<TermId> = None;
        for (atom, by) in Translator::cover_known(&region, offset, bytes)? {
            let AtomKind::Bits { array } = atom.kind else { return None };
            let i = self.cell_index(&region, g, offset + by);
            let memory = self.array(here, array);
            let part = self.terms.read(memory, i);
            value = Some(value.map_or(part, |low| self.terms.concat(part, low)));
        }
        value
    }
}
