//! States that are equal to one that was at the same header before.
//!
//! *Idea*: a program whose state at a loop's header takes finitely many values (a protocol engine, a scheduler, a state
//! machine) is decided by visiting each of them once, whether or not an invariant is found. Everything that the program
//! can still read is written down as words: live registers, the memory that differs from the first state, and the
//! constraints on the inputs that occur in these. *Invariant*: of states with equal words one is explored, and the
//! others have the same futures. A shortest way to an error from any explored state begins with a step to another
//! explored one, so there is none that is not found. *Deviations*: nothing is learned of such a leaf, nor of the nodes
//! above it: their interpolants would have to say that the other state's will be known. *Direction*: may take equal
//! states as different. *Checked by*: the campaign for loops, which enumerates states.

use super::Loops;
use crate::point::Point;
use crate::pruner::Interpolation;
use pleach_expr::{TermId, facts};
use pleach_ir::cfg::Cfg;
use pleach_ir::liveness::Liveness;
use pleach_ir::{BlockId, FuncId, InstId, Program};
use pleach_memory::space::ObjectEntry;
use pleach_memory::{AddressSpace, Value};
use pleach_state::access_path::frames;
use pleach_state::seams::PathOracle;
use pleach_state::{NodeId, PruneDecision, State, StateId};
use pleach_wp::NoInterpolant;
use rustc_hash::FxHashMap;

/// All that decides how a state goes on.
type Key = Box<[u64]>;

#[derive(Default)]
pub(crate) struct Visited {
    /// memory of the first state: what all others have in common with it is not written down
    base: Option<AddressSpace>,
    seen: FxHashMap<Key, NodeId>,
    /// what the keys take
    words: usize,
    /// the state that was looked at last, and was not there before
    last: Option<(StateId, (u64, u32), Key)>,
    /// by function
    liveness: FxHashMap<u32, Liveness>,
    /// states that were there before
    pub again: u64,
    /// by function and header: different states, and how often one of them came again
    at: FxHashMap<(u32, u32), (u64, u64)>,
}

impl Visited {
    /// The registers of the innermost frame that are read later.
    pub(super) fn live(&mut self, state: &State, program: &Program) -> Vec<u32> {
        let f = program.function(state.frame.func);
        let liveness = self.liveness.entry(state.frame.func.0).or_insert_with(|| Liveness::new(f, &Cfg::new(f)));
        liveness.live_at(f, InstId(state.inst)).iter().map(|slot| slot as u32).collect()
    }

    /// The different states at a header where one of them came again.
    pub fn states(&self, func: u32, header: u32) -> u64 {
        self.at.get(&(func, header)).filter(|c| c.1 > 0).map_or(0, |c| c.0)
    }
}

/// Words of all keys together.
const MANY_WORDS: usize = 16 << 20;
/// Words of one key.
const LONG: usize = 1 << 14;

impl Interpolation {
    /// Whether and how a state is known from one that was equal to it, if it is at a loop's header.
    pub(crate) fn visited_before(&mut self, state: &State, oracle: &mut dyn PathOracle) -> Option<PruneDecision> {
        let node = self.visited(state, oracle)?;
        let point = Point::of(state);
        let rounds = self.loops.open_at.get(&point).map_or(0, Vec::len);
        self.note_round(state, rounds, &oracle.program());
        let failed = self.loops.patience.contains_key(&point) || self.loops.revoked.contains_key(&state.node);
        if !failed && self.has_turn(oracle) && self.may_assume(state) && self.may_get_interpolant(node) {
            return Some(PruneDecision::Assumed(node));
        }
        let visited = &mut self.loops.visited;
        visited.again += 1;
        visited.at.entry((state.frame.func.0, state.block.0)).or_default().1 += 1;
        self.forget_above(state.node);
        Some(PruneDecision::Visited(node))
    }

    /// The node is not complete, and nothing is known yet by which it would get no interpolant.
    fn may_get_interpolant(&mut self, node: NodeId) -> bool {
        match (self.open.get_mut(&node), self.loops.provisional.get(&node)) {
            (Some(o), _) => o.needs.is_ok() && o.provisional.iter().all(|(_, part)| part.is_ok()),
            (None, Some(p)) => p.needs.is_ok(),
            (None, None) => false,
        }
    }

    /// The nodes at and above this one get no interpolants, so nothing need be assumed of them.
    fn forget_above(&mut self, node: NodeId) {
        let mut at = node;
        while let Some(o) = self.open.get_mut(&at)
            && o.needs.is_ok()
        {
            o.needs = Err(NoInterpolant::VisitedBefore);
            if o.parent == at {
                break;
            }
            at = o.parent;
        }
    }

    /// The node at which an equal state was before, if this one is at a loop's header.
    fn visited(&mut self, state: &State, oracle: &mut dyn PathOracle) -> Option<NodeId> {
        self.loops.visited.last = None;
        if !self.loops.on || self.speculations.nested > 0 || self.loops.visited.words > MANY_WORDS {
            return None;
        }
        let program = oracle.program();
        if !self.loops.is_at_header(state, &program) {
            return None;
        }
        let key = self.key(state, &program, oracle)?;
        match self.loops.visited.seen.get(&key) {
            Some(&node) if node != state.node => Some(node),
            // It is this one.
            Some(_) => None,
            None => {
                self.loops.visited.last = Some((state.id, state.position(), key));
                None
            }
        }
    }

    /// The state that was looked at last goes on from this node.
    pub(crate) fn visit(&mut self, node: NodeId, state: &State) {
        let visited = &mut self.loops.visited;
        if let Some((id, position, key)) = visited.last.take()
            && (id, position) == (state.id, state.position())
        {
            visited.words += key.len();
            visited.at.entry((state.frame.func.0, state.block.0)).or_default().0 += 1;
            visited.seen.insert(key, node);
        }
    }

    /// `None`: not all of the state has a form that can be compared.
    fn key(&mut self, state: &State, program: &Program, oracle: &mut dyn PathOracle) -> Option<Key> {
        let special =
            state.thrown.is_some() || !state.jump_points.is_empty() || state.failing || state.pending.is_some();
        if special || !Point::is_comparable(state) || state.memory.len() < self.fixed as usize {
            return None;
        }
        let visited = &mut self.loops.visited;
        let base = visited.base.get_or_insert_with(|| state.memory.clone());
        let mut writer = Writer { state, fixed: self.fixed, terms: Vec::new(), exact: true };
        let mut out = Point::of(state).numbers();
        out.push(u64::from(state.address_dependent));
        for (_, frame) in frames(state) {
            let f = program.function(frame.func);
            let liveness = visited.liveness.entry(frame.func.0).or_insert_with(|| Liveness::new(f, &Cfg::new(f)));
            let at = if std::ptr::eq(frame, &state.frame) { state.inst } else { frame.inst };
            for slot in liveness.live_at(f, InstId(at)).iter() {
                out.push(slot as u64);
                writer.value(*frame.regs.get(slot)?, &mut out);
            }
            out.push(u64::MAX);
            out.extend(frame.locals.iter().map(|l| u64::from(l.0)));
            out.push(u64::MAX);
            frame.varargs.iter().for_each(|(v, _)| writer.value(*v, &mut out));
            out.extend(frame.visits.iter().flat_map(|(b, n)| [u64::from(b.0), u64::from(*n)]));
            out.push(u64::MAX);
            writer.exact &= frame.landing == 0;
        }
        let whole = state.memory.words(base, self.fixed, &mut out, &mut |v, out| writer.value(v, out));
        if !whole || out.len() > LONG {
            return None;
        }
        writer.constraints(&mut out, oracle)?;
        Some(out.into())
    }
}

impl Loops {
    /// The state stands where a loop begins; every cycle has such a place.
    pub(super) fn is_at_header(&mut self, state: &State, program: &Program) -> bool {
        let (func, block) = (state.frame.func, state.block);
        let first = program.function(func).blocks[block.index()].first.0 == state.inst;
        first && self.is_header(func, block, program)
    }

    fn is_header(&mut self, func: FuncId, block: BlockId, program: &Program) -> bool {
        let natural = self.natural_loops(func, program);
        natural.innermost(block).is_some_and(|l| natural.get(l).header == block)
            || natural.irreducible().iter().any(|(_, to)| *to == block)
    }
}

/// Writes values down.
struct Writer<'a> {
    state: &'a State,
    fixed: u32,
    /// symbolic ones
    terms: Vec<TermId>,
    /// all could be written down
    exact: bool,
}

impl Writer<'_> {
    fn value(&mut self, v: Value, out: &mut Vec<u64>) {
        match v {
            Value::Int(v) => out.extend([0, v]),
            Value::Ptr { obj, off } => {
                // An object that has ended may be another one in the other state.
                let lives = || matches!(self.state.memory.entry(obj), Some(ObjectEntry::Live(_)));
                self.exact &= obj.0 < self.fixed || lives();
                out.extend([1, u64::from(obj.0), off as u64]);
            }
            Value::Undef => out.push(2),
            Value::Term(t) => {
                self.terms.push(t);
                out.extend([3, u64::from(t.0)]);
            }
        }
    }

    /// What the path says of the symbolic values.
    fn constraints(self, out: &mut Vec<u64>, oracle: &mut dyn PathOracle) -> Option<()> {
        if !self.exact {
            return None;
        }
        if self.terms.is_empty() {
            return Some(());
        }
        // SOUND: where a pointer goes is decided on the way, and not a constraint.
        if !self.state.decided.is_empty() || !self.state.decided_numbers.is_empty() {
            return None;
        }
        let mut all = Vec::new();
        for t in self.terms {
            if oracle.terms().has(t, facts::HAS_BASE) {
                return None;
            }
            let slice = self.state.path.relevant(oracle.terms(), t);
            if slice.based.is_some() {
                return None;
            }
            all.extend(slice.constraints.iter().map(|c| u64::from(c.0)));
        }
        all.sort_unstable();
        all.dedup();
        out.push(u64::MAX);
        out.extend(all);
        Some(())
    }
}
