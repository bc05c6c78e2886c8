//! From what the children of a node need to what the node needs: edges, forks, tightening.
//!
//! *Paper*: TracerX Fig. 6. *Invariant*: a state at the parent's fork that satisfies the contributions of all its
//! children behaves below as the explored subtree did. *Direction*: may give up, never too weak.

use crate::abduction::Abduction;
use crate::budget::{Cost, Work};
use crate::matching::Matcher;
use crate::pruner::{Interpolation, Method, OpenNode};
use crate::tighten::{Context, MAX_LITERALS, tighten};
use pleach_expr::{TermId, Terms};
use pleach_ir::Inst;
use pleach_state::seams::PathOracle;
use pleach_state::{ErrorKind, ForkKind, NodeId, State, Trace};
use pleach_wp::{Condition, EndOfTrace, KnownSides, NoInterpolant, WpResult, WpTransformer};

/// A trace longer than this is not propagated over.
const MAX_TRACE: usize = 4_000_000;

/// A condition of at most this many conjuncts is propagated as it is.
const FEW: usize = 16;

impl Interpolation {
    /// Runs a backward propagation of the given condition.
    pub(crate) fn with_transformer<T>(
        &mut self,
        oracle: &mut dyn PathOracle,
        condition: Condition,
        go: impl FnOnce(&mut WpTransformer) -> WpResult<T>,
    ) -> WpResult<(T, Condition)> {
        let program = oracle.program();
        let (terms, mut oracle) = oracle.split();
        let mut walker =
            WpTransformer::new(terms, &program, &mut self.locs, &mut *oracle, self.checks.overflow, condition);
        let result = go(&mut walker);
        let condition = walker.into_condition();
        result.map(|t| (t, condition))
    }

    pub(crate) fn propagate_trace(
        &mut self,
        oracle: &mut dyn PathOracle,
        condition: Condition,
        trace: &Trace,
    ) -> WpResult<Condition> {
        self.propagate(oracle, condition, trace, None, None)
    }

    /// From a node's fork to the node.
    pub(crate) fn propagate_to_node(
        &mut self,
        oracle: &mut dyn PathOracle,
        condition: Condition,
        fork: &State,
    ) -> WpResult<Condition> {
        let sides = self.known_sides(fork.history.trace(), fork, oracle);
        self.propagate(oracle, condition, fork.history.trace(), None, sides)
    }

    /// Over a trace to this state, which stands where paths meet.
    pub(crate) fn propagate_trace_to(
        &mut self,
        oracle: &mut dyn PathOracle,
        condition: Condition,
        trace: &Trace,
        end: &State,
    ) -> WpResult<Condition> {
        let sides = self.known_sides(trace, end, oracle);
        let end =
            if self.loops.on { EndOfTrace::new(end, &oracle.program(), &condition, self.errors_only) } else { None };
        self.propagate(oracle, condition, trace, end, sides)
    }

    fn propagate(
        &mut self,
        oracle: &mut dyn PathOracle,
        condition: Condition,
        trace: &Trace,
        end: Option<EndOfTrace>,
        sides: Option<KnownSides>,
    ) -> WpResult<Condition> {
        if trace.len() > MAX_TRACE {
            return Err(NoInterpolant::PathTooLong);
        }
        let steps: u64 = trace.runs.iter().map(|r| u64::from(r.to - r.from)).sum();
        self.budget.spend(Work::StepBack, steps);
        self.budget.spend(Work::StepLiteral, steps * condition.len() as u64);
        let over = |w: &mut WpTransformer| {
            (w.end, w.sides) = (end, sides);
            w.trace(trace)
        };
        self.with_transformer(oracle, condition, over).map(|(_, c)| c)
    }

    pub(crate) fn tighten(
        &mut self,
        oracle: &mut dyn PathOracle,
        state: &State,
        mut condition: Condition,
    ) -> WpResult<Condition> {
        let (locs, fixed) = (&self.locs, self.fixed);
        self.budget.spend(Work::Tighten, 1);
        self.budget.spend(Work::TightenLiteral, condition.len() as u64);
        crate::pointer_literals::alignments(state, &mut condition);
        crate::slacken::slacken(oracle, state, locs, fixed, &mut condition);
        let mut matcher = Matcher::own(state, locs, fixed);
        crate::disequality_widening::widen_disequalities(oracle, &mut self.readings, &mut matcher, &mut condition);
        let mut holds = |oracle: &mut dyn PathOracle, l: TermId| matcher.holds(oracle, l);
        let (written, readings) = (&mut self.written, &mut self.readings);
        tighten(&mut Context { oracle, state, locs, fixed, written, readings, holds: &mut holds }, &mut condition);
        if condition.len() > MAX_LITERALS { Err(NoInterpolant::TooLarge) } else { Ok(condition) }
    }

    /// What a child needs, as a condition at its parent's fork.
    pub(crate) fn contribution(
        &mut self,
        oracle: &mut dyn PathOracle,
        child: &OpenNode,
        psi: Condition,
    ) -> WpResult<Condition> {
        let Some(origin) = &child.origin else {
            return self.propagate_trace_to(oracle, psi, &child.entry, &child.state);
        };
        match child.fork {
            ForkKind::Branch => {
                let [run] = child.entry.runs[..] else { return Err(NoInterpolant::ForkNotABranch) };
                let program = oracle.program();
                let f = &program.functions[run.func as usize];
                let inst = &f.insts[run.to as usize - 1];
                let (e, condition) = self.with_transformer(oracle, psi, |w| w.cross_edge(f, run, inst))?;
                Ok(self.under(oracle, origin, e, condition))
            }
            ForkKind::Check(ErrorKind::Overlap) => Err(NoInterpolant::MayOverlap),
            ForkKind::Check(kind) => {
                if !psi.satisfiable.is_empty() {
                    return Err(NoInterpolant::AssumptionBelowCheck);
                }
                let program = oracle.program();
                let f = program.function(origin.frame.func);
                let inst = &f.insts[origin.inst as usize];
                let depth = origin.call_depth();
                let (checks, mut condition) = self.with_transformer(oracle, psi, |w| w.checks_at(f, depth, inst))?;
                // A check that may fail here has its failing side explored as well; one that cannot stays an
                // obligation.
                let mut open = Vec::new();
                let mut matcher = Matcher::own(origin, &self.locs, self.fixed);
                for l in checks.literals {
                    if !matcher.holds(oracle, l) {
                        open.push(l);
                    }
                }
                let access = matches!(inst, Inst::Load { .. } | Inst::Store { .. });
                if access && kind != ErrorKind::Misaligned && condition.literals.iter().any(|l| open.contains(l)) {
                    return Err(NoInterpolant::AlignmentDecidedElsewhere);
                }
                condition.literals.retain(|l| !open.contains(l));
                if let ForkKind::Check(ErrorKind::OobRead | ErrorKind::OobWrite) = child.fork
                    && let Some(inside) = self.bounds_of_sized(oracle, origin)?
                {
                    // Outside is explored as well: all is needed only within bounds.
                    return Ok(self.under(oracle, origin, inside, condition));
                }
                if let ForkKind::Check(ErrorKind::OobRead | ErrorKind::OobWrite) = child.fork {
                    // Inside or outside, but of a live object.
                    for v in &mut condition.dereferenceable {
                        if checks.dereferenceable.iter().any(|c| c.ptr == v.ptr && c.bytes == v.bytes) {
                            v.bounded = false;
                        }
                    }
                }
                Ok(condition)
            }
            ForkKind::Target(Some(_)) if !psi.satisfiable.is_empty() => Err(NoInterpolant::AssumptionBelowTargets),
            ForkKind::Target(Some(obj)) => self.within(oracle, origin, obj, psi),
            ForkKind::Target(None) if child.failed.is_some() => Ok(Condition::default()),
            ForkKind::Target(None) => Err(NoInterpolant::ForkOverTargets),
            ForkKind::Other => Err(NoInterpolant::ForkNotABranch),
        }
    }

    /// That the load or store at hand is within its object, if that is one of symbolic size.
    fn bounds_of_sized(&mut self, oracle: &mut dyn PathOracle, origin: &State) -> WpResult<Option<TermId>> {
        let program = oracle.program();
        let f = program.function(origin.frame.func);
        let (inst, depth) = (&f.insts[origin.inst as usize], origin.call_depth());
        let (access, _) = self.with_transformer(oracle, Condition::default(), |w| w.access_of(f, depth, inst))?;
        let Some((ptr, bytes, _)) = access else { return Ok(None) };
        let mut own = Matcher::own(origin, &self.locs, self.fixed);
        let Some(obj) = own.translate(oracle, ptr).and_then(|t| own.target(oracle, t)).map(|t| t.0) else {
            return Ok(None);
        };
        if origin.memory.get(obj).is_none_or(|o| !o.size().is_symbolic()) {
            return Ok(None);
        }
        let within = |w: &mut WpTransformer| Ok(w.within_sized(ptr, obj, bytes));
        let ([a, b], _) = self.with_transformer(oracle, Condition::default(), within)?;
        Ok(Some(oracle.terms().and(a, b)))
    }

    /// `e ⟹ condition`, as a conjunction: a literal that holds before the branch stays as it is, one that `e` gives is
    /// dropped, the others are guarded.
    pub(crate) fn under(
        &mut self,
        oracle: &mut dyn PathOracle,
        origin: &State,
        e: TermId,
        mut condition: Condition,
    ) -> Condition {
        condition.satisfiable_under(e);
        if self.method == Method::Abduction
            && let Some(abducted) = self.context_at(oracle, origin).abduct(e, &condition.literals)
        {
            condition.literals.clear();
            condition.and(abducted);
            return condition;
        }
        let guarded = self.loops.guarded;
        let mut matcher = Matcher::own(origin, &self.locs, self.fixed);
        for s in std::mem::take(&mut condition.sums) {
            // What has no location in common with the branch hardly needs it.
            let unrelated =
                !oracle.terms().support(e).iter().any(|k| self.locs.get(k.symbol()).is_some_and(|l| s.mentions(l)));
            if unrelated || !guarded && matcher.holds_sum(oracle, &s) {
                condition.require_sum(s);
            } else {
                s.literals(oracle.terms()).into_iter().for_each(|l| condition.require(l));
            }
        }
        let literals = std::mem::take(&mut condition.literals);
        for l in literals {
            if !guarded && matcher.holds(oracle, l) {
                condition.require(l);
                continue;
            }
            let mut guarded = oracle.terms().implies(e, l);
            if let Some(m) = crate::ranges::merge(oracle.terms(), guarded) {
                guarded = m;
            }
            if guarded != Terms::TRUE && !oracle.valid(guarded) {
                condition.require(guarded);
            }
        }
        condition
    }

    /// A merged node's interpolant is that of each leaf that went into it: they stand at its point, and its state stands
    /// for theirs.
    pub(crate) fn pass_to_parents(
        &mut self,
        oracle: &mut dyn PathOracle,
        mut child: OpenNode,
        psi: WpResult<Condition>,
    ) {
        let merged = std::mem::take(&mut child.merged);
        if merged.is_empty() {
            return self.pass_to_parent(oracle, None, &child, psi);
        }
        for (leaf, way) in merged {
            (child.parent, child.entry) = (leaf, way);
            self.pass_to_parent(oracle, None, &child, psi.clone());
        }
    }

    /// `provisional`: the child, if it rests on assumptions.
    pub(crate) fn pass_to_parent(
        &mut self,
        oracle: &mut dyn PathOracle,
        provisional: Option<NodeId>,
        child: &OpenNode,
        psi: WpResult<Condition>,
    ) {
        if !self.open.contains_key(&child.parent) {
            return;
        }
        let part = match psi {
            Ok(psi) => self.contribution(oracle, child, psi),
            Err(why) => Err(why),
        };
        if let Err(why) = part {
            *self.statistics.no_interpolant.entry(why.describe()).or_default() += 1;
        }
        let Some(parent) = self.open.get_mut(&child.parent) else { return };
        let (below, forks) = match &child.origin {
            Some(fork) => (child.state.instructions - fork.instructions, 1),
            None => (child.state.instructions - parent.state.instructions, 0),
        };
        parent.work = parent.work.and(child.work).and(Cost::executed(below, forks));
        parent.forked = child.origin.clone();
        if child.fork == ForkKind::Branch {
            parent.exits.extend(child.entry.runs.first().map(|r| r.exit));
        }
        if let ForkKind::Target(to) = child.fork {
            parent.targets.went(to, child.failed);
        }
        if let Some(node) = provisional {
            parent.provisional.retain(|(known, _)| *known != node);
            parent.provisional.push((node, part));
            return;
        }
        match (&mut parent.needs, part) {
            (Ok(needs), Ok(part)) => needs.and(part),
            (needs @ Ok(_), Err(why)) => *needs = Err(why),
            (Err(_), _) => {}
        }
    }

    /// The interpolant of a node at its own point, from what was gathered at its fork.
    pub(crate) fn interpolant(&mut self, oracle: &mut dyn PathOracle, node: &mut OpenNode) -> WpResult<Condition> {
        let mut condition = std::mem::replace(&mut node.needs, Err(NoInterpolant::Moved))?;
        if let Some(fork) = node.forked.take() {
            if !node.exits.is_empty() {
                // Edges that no child took are not taken: a switch may have more than two.
                let (program, exits) = (oracle.program(), std::mem::take(&mut node.exits));
                let f = program.function(fork.frame.func);
                let (inst, depth) = (&f.insts[fork.inst as usize], fork.call_depth());
                let (only, mut c) = self.with_transformer(oracle, condition, |w| w.left_by(f, depth, inst, &exits))?;
                let only = crate::ranges::merge(oracle.terms(), only).unwrap_or(only);
                if !oracle.valid(only) {
                    c.require(only);
                }
                condition = c;
            }
            let several = !node.targets.is_empty();
            if several {
                self.choose(oracle, &fork, &node.targets, &mut condition)?;
            }
            // Small conditions are made smaller only once, at the node.
            if several || condition.len() > FEW {
                condition = self.tighten(oracle, &fork, condition)?;
            }
            condition = self.propagate_to_node(oracle, condition, &fork)?;
        }
        let state = node.state.clone();
        let mut condition = self.tighten(oracle, &state, condition)?;
        if self.method == Method::Deletion
            && let Some(context) = self.context_at(oracle, &state).context(Terms::TRUE, &condition.literals)
        {
            condition.literals.clear();
            condition.and(context);
        }
        Ok(condition)
    }

    fn context_at<'a>(&'a self, oracle: &'a mut dyn PathOracle, state: &'a State) -> Abduction<'a> {
        Abduction { oracle, state, locs: &self.locs, fixed: self.fixed }
    }
}
