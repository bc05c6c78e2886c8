//! Interpolation over the execution tree.
//!
//! *Paper*: HeapInterp §III–V, TracerX §3–5. *Idea*: when everything below a node is explored without loss, walking back over the paths gives a condition on
//! the node's state under which nothing else can happen below it; a state at the same point that satisfies it is covered.
//! *Invariant*: for an entry (p, Ψ): every state at p with Ψ reaches no error location and no block that the explored
//! subtree did not reach. *Deviations*: conditions are kept over locations (registers, cells of objects) and not over the first path's
//! unknowns, so that matching needs no quantifiers. *Direction*: may miss prunings, loses no path.
//! *Checked by*: the tests that compare runs with and without `--prune`.

use crate::explain::Explained;
use crate::matching::{Matcher, Miss};
use crate::point::Point;
use crate::table::{Entry, SubsumptionTable};
use crate::tighten::{Context, MAX_LITERALS, tighten};
use pleach_expr::{TermId, Terms};
use pleach_ir::{Callee, Inst, Program};
use pleach_state::seams::{Logic, Look, Pruner};
use pleach_state::{End, ErrorKind, Exit, ForkKind, NodeId, State, Status, Trace, Tree};
use pleach_wp::{Condition, GiveUp, Loc, Locs, Pin, Validity, Walked, Walker};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A trace longer than this is not walked back over.
const MAX_TRACE: usize = 4_000_000;

struct Open {
    parent: NodeId,
    point: Point,
    /// the state at the node
    state: Rc<State>,
    /// from the parent's fork (or its point, if it did not fork) to this node
    entry: Trace,
    fork: ForkKind,
    /// the parent's state at its fork; `None` for a node with one child
    origin: Option<Rc<State>>,
    /// what the children need, at this node's fork or at its point
    needs: Walked<Condition>,
    /// the children were made by a fork whose state is this one
    forked: Option<Rc<State>>,
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
    locs: Locs,
    open: FxHashMap<NodeId, Open>,
    table: SubsumptionTable,
    /// the condition of a covered state, from its look until `covered`
    covering: Option<Condition>,
    fixed: u32,
    check_overflow: bool,
    pub figures: Figures,
    /// interpolants by node, kept when asked for
    pub explain: Option<BTreeMap<NodeId, Explained>>,
}

struct ByLogic<'a>(&'a mut dyn FnMut(&mut Terms, TermId) -> bool);
impl Validity for ByLogic<'_> {
    fn valid(&mut self, terms: &mut Terms, t: TermId) -> bool {
        (self.0)(terms, t)
    }
}

impl Interpolation {
    pub fn new(program: &Program, check_overflow: bool) -> Interpolation {
        Interpolation {
            locs: Locs::default(),
            open: FxHashMap::default(),
            table: SubsumptionTable::default(),
            covering: None,
            fixed: (program.globals.len() + program.functions.len()) as u32,
            check_overflow,
            figures: Figures::default(),
            explain: None,
        }
    }

    /// The interpolants kept for explanation, in words: node, place, literals.
    pub fn explanations(&self, logic: &mut dyn Logic) -> Vec<(NodeId, pleach_ir::Span, Vec<String>)> {
        let program = logic.program();
        let kept = self.explain.iter().flatten();
        kept.map(|(n, e)| (*n, e.span, e.words(logic.terms(), &program, &self.locs))).collect()
    }

    /// Runs a walk over the given condition.
    fn walk<T>(
        &mut self,
        logic: &mut dyn Logic,
        condition: Condition,
        go: impl FnOnce(&mut Walker) -> Walked<T>,
    ) -> Walked<(T, Condition)> {
        let program = logic.program();
        // The walker owns the table while it works; validity questions go back to the solver through a detour.
        let mut terms = std::mem::replace(logic.terms(), Terms::new(64));
        let mut ask = |terms: &mut Terms, t: TermId| {
            std::mem::swap(terms, logic.terms());
            let v = logic.valid(t);
            std::mem::swap(terms, logic.terms());
            v
        };
        let mut validity = ByLogic(&mut ask);
        let mut walker =
            Walker::new(&mut terms, &program, &mut self.locs, &mut validity, self.check_overflow, condition);
        let result = go(&mut walker);
        let condition = walker.into_condition();
        *logic.terms() = terms;
        result.map(|t| (t, condition))
    }

    fn walk_trace(&mut self, logic: &mut dyn Logic, condition: Condition, trace: &Trace) -> Walked<Condition> {
        if trace.len() > MAX_TRACE {
            return Err(GiveUp("a path too long to walk back over"));
        }
        self.walk(logic, condition, |w| w.trace(trace)).map(|(_, c)| c)
    }

    fn tighten(&mut self, logic: &mut dyn Logic, state: &State, mut condition: Condition) -> Walked<Condition> {
        let (locs, fixed) = (&self.locs, self.fixed);
        crate::slacken::slacken(logic, state, locs, fixed, &mut condition);
        let mut holds =
            |logic: &mut dyn Logic, state: &State, l: TermId| Matcher::own(state, locs, fixed).holds(logic, l);
        tighten(&mut Context { logic, state, fixed, holds: &mut holds }, &mut condition);
        if condition.len() > MAX_LITERALS { Err(GiveUp("an interpolant too large")) } else { Ok(condition) }
    }

    /// What a child needs, as a condition at its parent's fork.
    fn contribution(&mut self, logic: &mut dyn Logic, child: &Open, psi: Condition) -> Walked<Condition> {
        let Some(origin) = &child.origin else { return self.walk_trace(logic, psi, &child.entry) };
        match child.fork {
            ForkKind::Branch => {
                let [run] = child.entry.runs[..] else { return Err(GiveUp("a fork that is not a branch")) };
                let program = logic.program();
                let f = &program.functions[run.func as usize];
                let inst = &f.insts[run.to as usize - 1];
                let (e, condition) = self.walk(logic, psi, |w| w.cross_edge(f, run, inst))?;
                Ok(self.under(logic, origin, e, condition))
            }
            ForkKind::Check(_) => {
                let program = logic.program();
                let f = program.function(origin.frame.func);
                let inst = &f.insts[origin.inst as usize];
                let depth = origin.call_depth();
                let (checks, mut condition) = self.walk(logic, psi, |w| w.checks_at(f, depth, inst))?;
                // A check that may fail here has its failing side explored as well; one that cannot stays an obligation.
                let mut open = Vec::new();
                for l in checks.literals {
                    if !Matcher::own(origin, &self.locs, self.fixed).holds(logic, l) {
                        open.push(l);
                    }
                }
                condition.literals.retain(|l| !open.contains(l));
                if let ForkKind::Check(ErrorKind::OobRead | ErrorKind::OobWrite) = child.fork {
                    // Inside or outside, but of a live object.
                    for v in &mut condition.valids {
                        if checks.valids.iter().any(|c| c.ptr == v.ptr && c.bytes == v.bytes) {
                            v.bounded = false;
                        }
                    }
                }
                Ok(condition)
            }
            ForkKind::Other => Err(GiveUp("a fork over the targets of a pointer")),
        }
    }

    /// `e ⟹ condition`, as a conjunction: a literal that holds before the branch stays as it is, one that `e` gives is dropped, the others
    /// are guarded.
    fn under(&mut self, logic: &mut dyn Logic, origin: &State, e: TermId, mut condition: Condition) -> Condition {
        let literals = std::mem::take(&mut condition.literals);
        for l in literals {
            if Matcher::own(origin, &self.locs, self.fixed).holds(logic, l) {
                condition.require(l);
                continue;
            }
            let mut guarded = logic.terms().implies(e, l);
            if let Some(m) = crate::ranges::merge(logic.terms(), guarded) {
                guarded = m;
            }
            if guarded != Terms::TRUE && !logic.valid(guarded) {
                condition.require(guarded);
            }
        }
        condition
    }

    fn pass_to_parent(&mut self, logic: &mut dyn Logic, child: Open, psi: Walked<Condition>) {
        if !self.open.contains_key(&child.parent) {
            return;
        }
        let part = match psi {
            Ok(psi) => self.contribution(logic, &child, psi),
            Err(why) => Err(why),
        };
        if let Err(why) = part {
            *self.figures.gave_up.entry(why.0).or_default() += 1;
        }
        let Some(parent) = self.open.get_mut(&child.parent) else { return };
        parent.forked = child.origin.clone();
        match (&mut parent.needs, part) {
            (Ok(needs), Ok(part)) => needs.and(part),
            (needs @ Ok(_), Err(why)) => *needs = Err(why),
            (Err(_), _) => {}
        }
    }

    /// The interpolant of a node at its own point, from what was gathered at its fork.
    fn interpolant(&mut self, logic: &mut dyn Logic, node: &mut Open) -> Walked<Condition> {
        let mut condition = std::mem::replace(&mut node.needs, Err(GiveUp("")))?;
        if let Some(fork) = node.forked.take() {
            condition = self.tighten(logic, &fork, condition)?;
            condition = self.walk_trace(logic, condition, &fork.trace)?;
        }
        let state = node.state.clone();
        self.tighten(logic, &state, condition)
    }

    /// The coverer's condition with its object variables replaced by the covered state's objects.
    fn rename(
        &mut self,
        logic: &mut dyn Logic,
        matcher_binding: &FxHashMap<pleach_memory::ObjId, pleach_memory::ObjId>,
        state: &State,
        c: &Condition,
    ) -> Condition {
        let mut map: FxHashMap<TermId, TermId> = FxHashMap::default();
        for s in c.support(logic.terms()) {
            if let Some(Loc::Cell { obj, off, bytes }) = self.locs.get(s)
                && let Some(&to) = matcher_binding.get(&obj)
            {
                let var = logic.terms().var(s);
                let width = logic.terms().width(var);
                let new = self.locs.term(logic.terms(), Loc::Cell { obj: to, off, bytes }, width);
                map.insert(var, new);
            }
        }
        for (&from, &to) in matcher_binding {
            let (a, b) = (logic.terms().base(from), logic.terms().base(to));
            map.insert(a, b);
        }
        let mut out = c.clone();
        for p in &mut out.pins {
            p.obj = matcher_binding.get(&p.obj).copied().unwrap_or(p.obj);
        }
        out.substitute(logic.terms(), &map);
        // Where a valid pointer points is a fact about the covered state.
        for v in &mut out.valids {
            let mut own = Matcher::own(state, &self.locs, self.fixed);
            if let Some(t) = own.translate(logic, v.ptr)
                && let Some((obj, off)) = own.target(logic, t)
            {
                v.obj = obj;
                v.off = off.and_then(|o| u64::try_from(o).ok());
            }
        }
        out
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

    fn covered(&mut self, state: &mut State, _: NodeId, logic: &mut dyn Logic) {
        let Some(condition) = self.covering.take() else { return };
        let trace = std::mem::take(&mut state.trace);
        let psi = self.walk_trace(logic, condition, &trace);
        if let Some(o) = self.open.get_mut(&state.node) {
            o.needs = psi;
        }
    }

    fn close(&mut self, node: NodeId, tree: &Tree, logic: &mut dyn Logic) {
        let Some(mut info) = self.open.remove(&node) else { return };
        if tree.node(node).tainted {
            let why = GiveUp("a path below was lost");
            self.pass_to_parent(logic, info, Err(why));
            return;
        }
        let psi = self.interpolant(logic, &mut info);
        if let Ok(c) = &psi {
            self.figures.literals += c.len() as u64;
            self.figures.largest = self.figures.largest.max(c.len() as u64);
            if let Some(e) = &mut self.explain {
                e.insert(node, Explained::new(&logic.program(), &info.state, c.clone()));
            }
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

impl Interpolation {
    /// The condition under which an access fails as it did: the same place in an object of the same size, or the same number.
    fn certain(
        &mut self,
        logic: &mut dyn Logic,
        state: &State,
        f: &pleach_ir::Function,
        inst: &Inst,
        kind: ErrorKind,
    ) -> Walked<Condition> {
        let unknown = GiveUp("an error that depends on the state");
        let ptr = match inst {
            Inst::Load { ptr, .. } | Inst::Store { ptr, .. } => *ptr,
            _ => return Err(unknown),
        };
        if !matches!(kind, ErrorKind::OobRead | ErrorKind::OobWrite | ErrorKind::Null) {
            return Err(unknown);
        }
        let depth = state.call_depth();
        let w = logic.terms().pointer_bits;
        let (p, mut c) = self.walk(logic, Condition::default(), |walker| walker.operand(f, depth, ptr, w))?;
        let value = Matcher::own(state, &self.locs, self.fixed).translate(logic, p).ok_or(unknown)?;
        match pleach_memory::Value::from_term(logic.terms(), value) {
            pleach_memory::Value::Ptr { obj, off } if off >= 0 && state.memory.get(obj).is_some() => {
                let size = state.memory.get(obj).map(|o| o.size);
                c.require_pin(Pin { ptr: p, obj, off: Some(off as u64), bytes: 0, write: false, heap: false, size });
                Ok(c)
            }
            pleach_memory::Value::Int(_) => {
                let same = logic.terms().eq(p, value);
                c.require(same);
                Ok(c)
            }
            _ => Err(unknown),
        }
    }

    /// The condition under which the path ends as it did.
    fn at_end(&mut self, logic: &mut dyn Logic, state: &State, end: &End, fresh: bool) -> Walked<Condition> {
        let program = logic.program();
        let f = program.function(state.frame.func);
        let inst = &f.insts[state.inst as usize];
        let callee = match inst {
            Inst::Call { callee: Callee::Direct(g), args, .. } => Some((program.function(*g).name.as_str(), *args)),
            _ => None,
        };
        let assume_fails = |this: &mut Self, logic: &mut dyn Logic, args: pleach_ir::Range| {
            let Some(a) = f.args[args.as_range()].first() else { return Err(GiveUp("no argument")) };
            let depth = state.call_depth();
            let w = program.target.bits(a.ty);
            let (v, mut c) = this.walk(logic, Condition::default(), |walker| walker.operand(f, depth, a.value, w))?;
            let zero = logic.terms().constant(w, 0);
            let fails = logic.terms().eq(v, zero);
            c.require(fails);
            Ok(c)
        };
        match (end, callee) {
            (End::Exit(_), _) => Ok(Condition::default()),
            (End::Silent | End::Error(_), Some(("__VERIFIER_assume" | "klee_assume", args))) => {
                assume_fails(self, logic, args)
            }
            (End::Silent, Some(("klee_silent_exit", _))) => Ok(Condition::default()),
            // The failing side of a check: its condition is the edge's.
            (End::Error(e), _) if fresh && state.fork == ForkKind::Check(e.kind) => Ok(Condition::default()),
            (End::Error(e), Some((name, _)))
                if matches!(e.kind, ErrorKind::Assert | ErrorKind::Abort | ErrorKind::User)
                    && matches!(
                        name,
                        "__assert_fail"
                            | "abort"
                            | "reach_error"
                            | "__VERIFIER_error"
                            | "klee_abort"
                            | "klee_report_error"
                    ) =>
            {
                Ok(Condition::default())
            }
            (End::Error(_), _) if matches!(inst, Inst::Unreachable) => Ok(Condition::default()),
            (End::Error(e), _) => self.certain(logic, state, f, inst, e.kind),
            (End::Silent, _) => Err(GiveUp("a path that ended silently")),
            (End::Cut(_), _) => Err(GiveUp("a path below was lost")),
        }
    }
}
