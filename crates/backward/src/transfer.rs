//! What a node of the graph does, as terms over the variables at its beginning.
//!
//! *Paper*: Backward Fig. 4 and 5, the cases of PROCESSOPERATION: what both styles have in common. *Idea*: a node is an
//! assumption (no error happens), and for each edge a condition and new values of variables. *Invariant*: an execution
//! of the node that leaves by the edge satisfies both, or one of the node's cuts. *Deviations*: an operation that would
//! be an error ends the path; the paper has only null. Fields of a new object have any value (`new` initialises
//! nothing). *Known values*: a variable that has the same value on all paths to a node, as a term over the input, is
//! that term there; only the others are variables of conditions.

use crate::clock::Clock;
use crate::cut::CutReason;
use crate::facts::Facts;
use crate::graph::{FrameId, Graph, NodeId, Role, Via};
use crate::layout::Layout;
use crate::pointers::{Group, GroupId, Pointers, State};
use crate::variables::{VarId, Variables};
use pleach_expr::{TermId, Terms};
use pleach_ir::{Callee, FuncId, Function, Inst, Program, Range};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What is known at a node of the variables that were assigned: their value in terms of the input, or that it differs
/// between paths. The others are those of the input.
pub type Known = FxHashMap<VarId, Option<TermId>>;

/// One way out of a node.
pub struct Taken {
    pub to: NodeId,
    pub condition: TermId,
    pub values: FxHashMap<VarId, TermId>,
}

#[derive(Default)]
pub struct Transfer {
    /// the node is a goal, under this condition
    pub goal: Option<TermId>,
    /// executions that are not followed from here
    pub cuts: Vec<(TermId, CutReason)>,
    pub edges: Vec<Taken>,
    /// at the beginning
    pub known: Known,
}

/// A value in a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    Bits(TermId),
    Pointer { reference: TermId, offset: TermId },
}

pub struct Translator<'a> {
    pub terms: &'a mut Terms,
    pub program: &'a Program,
    pub graph: &'a Graph,
    pub pointers: Pointers<'a>,
    pub layout: Layout,
    pub variables: Variables,
    pub(crate) fresh: u32,
    /// numbers that were made of pointers
    pub(crate) numbers: FxHashMap<TermId, (TermId, TermId)>,
    /// per node, while paths to it are joined
    known: Vec<Option<Known>>,
    /// terms without variables
    inputs_only: FxHashMap<TermId, bool>,
    /// paths end where they are cut
    pub exact: bool,
    /// states from which the goals are not reached
    pub facts: Option<Rc<Facts>>,
    /// no value is known: every variable is one of conditions, as in the paper
    pub plain: bool,
}

/// The node at hand.
pub struct Here<'f> {
    pub n: NodeId,
    pub frame: FrameId,
    pub f: &'f Function,
    /// what pointers refer to, now and at the beginning
    pub state: State,
    pub start: State,
    pub values: FxHashMap<VarId, TermId>,
    /// no error so far
    pub assume: TermId,
    pub cuts: Vec<(TermId, CutReason)>,
    pub(crate) known: Known,
}

impl<'a> Translator<'a> {
    pub fn new(terms: &'a mut Terms, graph: &'a Graph, pointers: Pointers<'a>, layout: Layout) -> Translator<'a> {
        let program = pointers.program;
        let variables = Variables::default();
        let known = vec![None; graph.nodes.len()];
        let (numbers, inputs_only) = (FxHashMap::default(), FxHashMap::default());
        Translator {
            terms,
            program,
            graph,
            pointers,
            layout,
            variables,
            fresh: 0,
            numbers,
            known,
            inputs_only,
            exact: false,
            plain: false,
            facts: None,
        }
    }

    /// Every node, from the entry on; `None` if there is no time.
    pub fn all(&mut self, clock: Clock) -> Option<Vec<Transfer>> {
        let mut transfers: Vec<Transfer> = (0..self.graph.nodes.len()).map(|_| Transfer::default()).collect();
        self.known[self.graph.entry.index()] = Some(Known::default());
        for &n in self.graph.order.iter().rev() {
            // SOUND: no path leads to a node that nothing is known of.
            let Some(known) = self.known[n.index()].take() else { continue };
            if clock.is_over() {
                return None;
            }
            let mut made = self.node(n, known);
            for e in &mut made.edges {
                self.join(&made.known, e);
            }
            transfers[n.index()] = made;
        }
        Some(transfers)
    }

    /// Adds a path to what is known at its end.
    fn join(&mut self, before: &Known, e: &Taken) {
        let mut after = before.clone();
        for (&v, &t) in &e.values {
            let value = self.is_input(t).then_some(t);
            after.insert(v, value);
        }
        let Some(old) = self.known[e.to.index()].take() else {
            self.known[e.to.index()] = Some(after);
            return;
        };
        let mut joined = Known::default();
        for &v in old.keys().chain(after.keys()) {
            let (a, b) = (self.known_value(&old, v), self.known_value(&after, v));
            joined.insert(v, if a == b { a } else { None });
        }
        self.known[e.to.index()] = Some(joined);
    }

    /// The value of a variable in terms of the input.
    pub fn known_value(&mut self, known: &Known, v: VarId) -> Option<TermId> {
        match known.get(&v) {
            _ if self.plain => None,
            Some(value) => *value,
            None => Some(self.variables.input(self.terms, v)),
        }
    }

    fn is_input(&mut self, t: TermId) -> bool {
        if let Some(&known) = self.inputs_only.get(&t) {
            return known;
        }
        let support = self.terms.support(t);
        let only = support.iter().all(|k| self.variables.by_symbol(k.symbol()).is_none());
        self.inputs_only.insert(t, only);
        only
    }

    fn node(&mut self, n: NodeId, known: Known) -> Transfer {
        let node = self.graph.node(n);
        let f = self.graph.function(self.program, node.frame);
        let state = self.pointers.before[n.index()].clone();
        let mut here = Here {
            n,
            frame: node.frame,
            f,
            start: state.clone(),
            state,
            values: FxHashMap::default(),
            assume: Terms::TRUE,
            cuts: Vec::new(),
            known,
        };
        match &node.role {
            Role::Cut(reason) => {
                // The others are reached in the middle of a block.
                let at_start = matches!(reason, CutReason::Unwind(_));
                let open = if at_start { self.not_refuted(&mut here) } else { Terms::TRUE };
                return Transfer { cuts: vec![(open, reason.clone())], known: here.known, ..Transfer::default() };
            }
            Role::Goal(None) => return Transfer { goal: Some(Terms::TRUE), ..Transfer::default() },
            Role::Goal(Some((i, ways))) => {
                let all: Vec<_> = ways.iter().map(|way| self.failure(&mut here, *i, *way)).collect();
                let fails = self.terms.or_all(&all);
                let goal = self.terms.and(here.assume, fails);
                return Transfer { goal: Some(goal), cuts: here.cuts, known: here.known, edges: Vec::new() };
            }
            Role::Inner => {}
        }
        if let Some(l) = node.havoc {
            self.havoc(&mut here, l);
        }
        // SOUND: what the facts refute does not reach the goals.
        let open = self.not_refuted(&mut here);
        self.assume(&mut here, open);
        for i in node.insts.clone() {
            if here.assume == Terms::FALSE {
                break;
            }
            self.inst(&mut here, i);
            self.pointers.step(n, f, i, &mut here.state);
        }
        let mut edges = Vec::new();
        for e in &node.edges {
            if here.assume != Terms::FALSE
                && let Some(taken) = self.edge(&mut here, e.to, &e.via)
                && taken.condition != Terms::FALSE
            {
                edges.push(taken);
            }
        }
        Transfer { goal: None, cuts: here.cuts, edges, known: here.known }
    }

    fn edge(&mut self, here: &mut Here, to: NodeId, via: &Via) -> Option<Taken> {
        let before = here.values.clone();
        let f = here.f;
        let end = self.graph.node(here.n).insts.end;
        let condition = match via {
            Via::Jump(copies) => {
                self.copies(here, *copies);
                Terms::TRUE
            }
            Via::Branch(taken, copies) => {
                let Inst::Branch { cond, .. } = f.insts[end] else { return None };
                let c = self.bits(here, cond, 1);
                self.copies(here, *copies);
                if *taken { c } else { self.terms.not(c) }
            }
            Via::Case(i, copies) => {
                let Inst::Switch { width, value, .. } = f.insts[end] else { return None };
                let v = self.bits(here, value, width);
                self.copies(here, *copies);
                let case = self.terms.constant(width, f.cases[*i].value);
                self.terms.eq(v, case)
            }
            Via::Default(copies) => {
                let Inst::Switch { width, value, cases, .. } = f.insts[end] else { return None };
                let v = self.bits(here, value, width);
                let mut none = Terms::TRUE;
                for case in &f.cases[cases.as_range()] {
                    let case = self.terms.constant(width, case.value);
                    let other = self.terms.ne(v, case);
                    none = self.terms.and(none, other);
                }
                self.copies(here, *copies);
                none
            }
            Via::Call => {
                self.bind(here, to, end);
                Terms::TRUE
            }
            Via::CallTo(g) => {
                let refers = self.refers_to(here, end, *g)?;
                self.bind(here, to, end);
                refers
            }
            Via::CallOther(all) => self.refers_to_others(here, end, all),
            Via::Return => {
                self.bind_results(here, end);
                for g in self.pointers.return_ends(here.n, f, &here.state) {
                    if self.is_many(g) {
                        self.forget_freed(here);
                        continue;
                    }
                    let r = self.reference(g);
                    self.end_lifetime(here, r);
                }
                Terms::TRUE
            }
        };
        let condition = self.terms.and(here.assume, condition);
        let values = std::mem::replace(&mut here.values, before);
        Some(Taken { to, condition, values })
    }

    fn copies(&mut self, here: &mut Here, copies: Range) {
        for c in &here.f.copies[copies.as_range()] {
            let v = self.value(here, c.src, here.f.slots[c.dst.index()].ty);
            self.set(here, c.dst, v);
        }
    }

    fn bind(&mut self, here: &mut Here, to: NodeId, call: usize) {
        let callee = self.graph.node(to).frame;
        let g = self.graph.function(self.program, callee);
        let Inst::Call { args, .. } = here.f.insts[call] else { return };
        let args = &here.f.args[args.as_range()];
        for (arg, p) in args.iter().zip(&g.params) {
            let mut v = self.value(here, arg.value, p.ty);
            if p.byval.is_some() {
                let what = "a structure passed by value".to_owned();
                self.approximate(here, Terms::TRUE, CutReason::Unsupported(what));
                v = if self.covers() { self.any_value(p.ty) } else { v };
            }
            self.set_in(here, callee, g, p.slot, v);
        }
    }

    /// The pointer that is called refers to this function; `None` if it never does.
    fn refers_to(&mut self, here: &mut Here, call: usize, g: FuncId) -> Option<TermId> {
        let Inst::Call { callee: Callee::Indirect(p), .. } = here.f.insts[call] else { return None };
        let group = self.pointers.find(Group::Function(g))?;
        let at = self.pointers.operand(here.frame, here.f, p, &here.state);
        if !at.unknown && !at.groups.contains(&group) {
            return None;
        }
        let (r, o) = self.pointer(here, p);
        let (wanted, zero) = (self.reference(group), self.terms.constant(64, 0));
        let (same, start) = (self.terms.eq(r, wanted), self.terms.eq(o, zero));
        Some(self.terms.and(same, start))
    }

    /// It refers to a function that is none of these, or to something of which nothing is known.
    fn refers_to_others(&mut self, here: &mut Here, call: usize, all: &[FuncId]) -> TermId {
        let Inst::Call { callee: Callee::Indirect(p), .. } = here.f.insts[call] else { return Terms::TRUE };
        let at = self.pointers.operand(here.frame, here.f, p, &here.state);
        let other = |g: &GroupId| match self.pointers.groups[g.index()] {
            Group::Function(f) => !all.contains(&f),
            Group::Pool { ty, .. } => ty.is_none(),
            _ => false,
        };
        // Calling null or an object is an error, which ends the path.
        if !at.unknown && !at.groups.iter().any(other) {
            return Terms::FALSE;
        }
        let mut none = Terms::TRUE;
        for &g in all {
            if let Some(refers) = self.refers_to(here, call, g) {
                let other = self.terms.not(refers);
                none = self.terms.and(none, other);
            }
        }
        none
    }

    fn bind_results(&mut self, here: &mut Here, ret: usize) {
        let Some(caller) = self.graph.frames[here.frame.index()].caller.clone() else { return };
        let g = self.graph.function(self.program, caller.frame);
        let (Inst::Return { values }, Inst::Call { dsts, .. }) = (&here.f.insts[ret], &g.insts[caller.call]) else {
            return;
        };
        for (v, d) in here.f.args[values.as_range()].iter().zip(&g.dsts[dsts.as_range()]) {
            let v = self.value(here, v.value, v.ty);
            self.set_in(here, caller.frame, g, *d, v);
        }
    }

    /// Executions that come here are not followed exactly.
    pub fn cut(&mut self, here: &mut Here, reason: CutReason) {
        self.cut_if(here, Terms::TRUE, reason);
    }

    pub fn cut_if(&mut self, here: &mut Here, condition: TermId, reason: CutReason) {
        let when = self.terms.and(here.assume, condition);
        if when != Terms::FALSE {
            here.cuts.push((when, reason));
        }
        if self.exact {
            let follow = self.terms.not(condition);
            self.assume(here, follow);
        }
    }

    /// What is not followed has any effect, and that was said.
    pub fn covers(&self) -> bool {
        self.pointers.covers.is_some()
    }

    /// Under this condition a value is any instead of the right one.
    pub fn approximate(&mut self, here: &mut Here, condition: TermId, reason: CutReason) {
        // SOUND: any value includes the right one, so no execution is missing.
        if !self.covers() {
            self.cut_if(here, condition, reason);
        }
    }

    pub fn unsupported(&mut self, here: &mut Here, what: &str) {
        self.cut(here, CutReason::Unsupported(what.to_owned()));
    }

    pub fn assume(&mut self, here: &mut Here, condition: TermId) {
        here.assume = self.terms.and(here.assume, condition);
    }
}
