//! Proof by induction over the rounds of all loops at once.
//!
//! *Paper*: none; the way of k-induction and of Houdini, next to Unbounded. *Idea*: a state that enters a loop is made
//! general: what the loop's rounds change may have any value that satisfies the *candidates*, which are guessed from
//! the states of a few rounds. A state that comes back must be one of these; otherwise what differs is made general,
//! too, or the candidate that does not hold is dropped, and the program is explored again. *Invariant*: in the last
//! pass each state at the start of a loop satisfies all of its candidates, on entry and whenever it comes back, and no
//! path ends in harm. So there is no error, after any number of rounds. *Deviations*: general states need not be states
//! of the program: an error that they run into says nothing. *Direction*: an attempt that fails costs time. *Checked
//! by*: the campaign for loops, whose truth is by enumeration.

mod candidates;
mod elements;
mod equations;
mod general;
mod places;
mod polynomial;

use crate::explain::Explained;
use crate::pruner::Interpolation;
use candidates::Candidate;
use general::Changed;
use places::{LoopLocation, Values};
use pleach_expr::TermId;
use pleach_ir::cfg::Cfg;
use pleach_ir::liveness::Liveness;
use pleach_ir::{BlockId, Program, Slot, defs};
use pleach_memory::ObjId;
use pleach_state::pruner::{AfterPass, Induction, InductionStep, PassEnd};
use pleach_state::seams::PathOracle;
use pleach_state::{End, ErrorKind, History, Leaks, NodeId, State};
use pleach_wp::Condition;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// After how much effort the first attempt is made, and what it may cost.
const FIRST: (u64, u64) = (1_000_000, 3_000_000);
/// What an attempt before anything else may cost.
const MAX_EFFORT: u64 = 100_000_000;
/// What is between attempts that cost too much.
const GROWS: u64 = 4;
/// Passes of one attempt.
const PASSES: u32 = 60;
/// States of one entry that candidates are guessed from.
const ROUNDS: u32 = 12;
/// Arrays of other loops that candidates speak of.
const SOURCES: usize = 10;
/// Arrivals that candidates are guessed from.
const SAMPLES: u32 = 400;

/// When the first attempt is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WhenInduction {
    /// before anything else
    First,
    /// when the run has cost more than an attempt may
    Late,
}

/// A loop's header, by function and block.
type Header = (u32, u32);

#[derive(Default)]
pub(crate) struct InductionState {
    pub on: bool,
    /// after how much effort the first attempt is made, and what it may cost
    first: (u64, u64),
    /// a call of `abort` is an end like others
    pub may_abort: bool,
    /// since the first attempt: when the next one is due, and what it may cost; `None`: no more
    next: Option<(u64, u64)>,
    started: bool,
    pass: u32,
    /// candidates are guessed, nothing is made general
    sampling: bool,
    samples: u32,
    sampled_twice: bool,
    /// something was made more general, or a candidate was dropped
    changed: bool,
    /// more memory is made general, of which there are no candidates yet
    grew: bool,
    headers: FxHashMap<Header, AtHeader>,
    entries: Vec<LoopEntry>,
    liveness: FxHashMap<u32, Liveness>,
    /// where paths begin
    roots: Vec<State>,
    /// of a check of the proof: what was found wrong, and what had no answer
    check: Option<(u64, u64)>,
    /// why the last attempt failed
    gave_up: Option<String>,
    pub attempts: u64,
    pub proofs: u64,
}

/// What is known of a header.
#[derive(Default)]
struct AtHeader {
    /// registers that the loop writes and that are read later, with their widths
    written: Vec<(u32, u16)>,
    /// others that are read later
    kept: Vec<(u32, u16)>,
    memory: BTreeSet<Changed>,
    /// other arrays that loops change
    sources: Vec<ObjId>,
    candidates: Option<Vec<Candidate>>,
    equations: Vec<Candidate>,
    dropped: FxHashSet<Candidate>,
    /// differences to the values on entry, for equations
    rows: Vec<Vec<Option<i128>>>,
    monomials: Option<Vec<(Vec<LoopLocation>, u16)>>,
}

impl InductionState {
    /// Statistics by name.
    pub fn list(&self) -> Vec<(String, u64)> {
        let mut all =
            vec![("induction-attempts".to_owned(), self.attempts), ("induction-proofs".to_owned(), self.proofs)];
        all.extend(self.gave_up.iter().map(|why| (format!("no-induction: {why}"), 1)));
        all
    }

    fn give_up(&mut self, why: &str) -> InductionStep {
        self.gave_up = Some(why.to_owned());
        InductionStep::GiveUp
    }
}

impl AtHeader {
    /// Candidates are guessed again; those that did not hold once are not.
    fn forget_candidates(&mut self) {
        (self.candidates, self.monomials) = (None, None);
        self.rows.clear();
    }

    /// Candidates that hold as far as is known.
    fn kept_candidates(&self) -> impl Iterator<Item = &Candidate> {
        let all = self.candidates.iter().flatten().chain(&self.equations);
        all.filter(|c| !self.dropped.contains(c))
    }
}

impl LoopEntry {
    fn state_size(&self, obj: ObjId) -> Option<u64> {
        self.sizes.get(&obj).copied()
    }
}

/// A state that entered a loop.
struct LoopEntry {
    header: Header,
    /// as it entered, or as it was made general
    state: State,
    instructions: u64,
    depth: u32,
    /// values of places on entry
    values: Values,
    /// their values in the general state
    general: Values,
    /// where registers that are pointers point to
    objects: FxHashMap<u32, ObjId>,
    rounds: u32,
    /// of the arrays that candidates speak of
    sizes: FxHashMap<ObjId, u64>,
}

impl Interpolation {
    /// Proves by induction. `may_abort`: calls of `abort` are no errors.
    pub fn prove_by_induction(&mut self, when: Option<WhenInduction>, may_abort: bool) {
        self.induction.on = when.is_some();
        self.induction.first = if when == Some(WhenInduction::First) { (0, MAX_EFFORT) } else { FIRST };
        self.induction.may_abort = may_abort;
    }

    fn loop_body(&mut self, state: &State, block: BlockId, program: &Program) -> Option<pleach_ir::bitset::BitSet> {
        let natural = self.loops.natural_loops(state.frame.func, program);
        natural.headed_by(block).map(|l| natural.get(l).body.clone())
    }

    /// Registers of the header that are read later.
    fn registers(&mut self, state: &State, program: &Program) -> AtHeader {
        let f = program.function(state.frame.func);
        let liveness = self.induction.liveness.entry(state.frame.func.0);
        let liveness = liveness.or_insert_with(|| Liveness::new(f, &Cfg::new(f)));
        let live = liveness.live_at(f, pleach_ir::InstId(state.inst));
        let mut written: FxHashSet<u32> = FxHashSet::default();
        if let Some(body) = self.loop_body(state, state.block, program) {
            for b in body.iter() {
                let block = &f.blocks[b];
                let first = block.first.0 as usize;
                for inst in &f.insts[first..first + block.len as usize] {
                    defs::for_each_def(f, inst, |s: Slot| {
                        written.insert(s.index() as u32);
                    });
                }
            }
        }
        let mut out = AtHeader::default();
        for slot in live.iter() {
            let of = (slot as u32, program.target.bits(f.slots[slot].ty));
            if written.contains(&of.0) { out.written.push(of) } else { out.kept.push(of) }
        }
        out
    }

    /// Arrays that other loops change are sources of this one.
    fn note_sources(&mut self, header: Header, state: &State, sizes: &mut FxHashMap<ObjId, u64>) {
        let headers = &self.induction.headers;
        let all: BTreeSet<ObjId> = headers.values().flat_map(places::arrays).collect();
        for obj in all {
            let size = state.memory.get(obj).and_then(|o| o.size().fixed());
            sizes.extend(size.map(|s| (obj, s)));
        }
        let Some(at) = self.induction.headers.get_mut(&header) else { return };
        if at.candidates.is_none() {
            let own: Vec<ObjId> = places::arrays(at).collect();
            let others = sizes.keys().copied().filter(|o| !own.contains(o));
            at.sources = others.collect();
            at.sources.sort_unstable();
            at.sources.truncate(SOURCES);
        }
    }

    fn enter(&mut self, state: &mut State, oracle: &mut dyn PathOracle) -> InductionStep {
        let program = oracle.program();
        let header = (state.frame.func.0, state.block.0);
        if !self.induction.headers.contains_key(&header) {
            let known = self.registers(state, &program);
            self.induction.headers.insert(header, known);
        }
        let sampling = self.induction.sampling;
        let mut entry = LoopEntry {
            header,
            state: State::placeholder(),
            instructions: state.instructions,
            depth: state.call_depth(),
            values: Values::default(),
            general: Values::default(),
            objects: FxHashMap::default(),
            rounds: 0,
            sizes: FxHashMap::default(),
        };
        self.note_sources(header, state, &mut entry.sizes);
        let at = &self.induction.headers[&header];
        places::note_objects(state, at, &mut entry.objects, oracle.terms());
        entry.values = places::values(state, at, &entry.objects, oracle.terms());
        if at.candidates.is_none() {
            let all = candidates::guess(at, &entry, &program, oracle.terms());
            self.induction.headers.get_mut(&header).expect("just made").candidates = Some(all);
        }
        let before = self.induction.headers[&header].dropped.len();
        self.drop_failing(header, &entry, &entry.values, state, sampling, oracle);
        if !sampling {
            self.induction.changed |= self.induction.headers[&header].dropped.len() > before;
            let at = &self.induction.headers[&header];
            if !general::make_general(state, at, &entry.objects, &mut self.locs, oracle) {
                return self.induction.give_up("a loop changes pointers in memory");
            }
            let now = places::values(state, at, &entry.objects, oracle.terms());
            let all: Vec<TermId> =
                at.kept_candidates().filter_map(|c| c.term(&now, &entry.values, oracle.terms())).collect();
            for holds in all {
                if holds != pleach_expr::Terms::TRUE && oracle.assume(state, holds) != Some(true) {
                    return self.induction.give_up("candidates contradict each other, or have no answer");
                }
            }
            entry.general = now;
        }
        state.frame.visits.insert(state.block, self.induction.entries.len() as u32);
        entry.state = state.clone();
        self.induction.entries.push(entry);
        InductionStep::Continue
    }

    /// Drops the candidates that do not hold in the state, whose places have these values.
    fn drop_failing(
        &mut self,
        header: Header,
        entry: &LoopEntry,
        now: &Values,
        state: &State,
        sampling: bool,
        oracle: &mut dyn PathOracle,
    ) {
        let of_elements = |at: &AtHeader| at.kept_candidates().any(|c| matches!(c, Candidate::Elements(_)));
        let elements = self.induction.check.is_some() && self.induction.headers.values().any(of_elements);
        let Some(at) = self.induction.headers.get_mut(&header) else { return };
        let mut dropped = Vec::new();
        for c in at.kept_candidates() {
            let holds = match c.term(now, &entry.values, oracle.terms()) {
                // A place that is not there says nothing, and nothing is assumed of it.
                None => false,
                Some(_) if sampling && !c.is_sampled() => true,
                Some(t) if sampling => oracle.decided(state, t) != Some(false),
                Some(t) => c.is_kept(now, &entry.general, oracle.terms()) || oracle.entails(state, t),
            };
            if !holds {
                dropped.push(c.clone());
                if let Some((wrong, unanswered)) = &mut self.induction.check {
                    let t = c.term(now, &entry.values, oracle.terms());
                    // A counterexample may violate what is known of elements.
                    let refuted = t.is_none_or(|t| {
                        let not = oracle.terms().not(t);
                        !elements && oracle.is_satisfiable_with(state, not)
                    });
                    *(if refuted { wrong } else { unanswered }) += 1;
                }
            }
        }
        at.dropped.extend(dropped);
    }

    fn compare_round(&mut self, state: &State, number: usize, oracle: &mut dyn PathOracle) -> InductionStep {
        let entry = self.induction.entries.swap_remove(number);
        let result = self.compare_with_entry(state, &entry, oracle);
        self.induction.entries.push(entry);
        let last = self.induction.entries.len() - 1;
        self.induction.entries.swap(number, last);
        match result {
            Some(changed) => {
                self.induction.changed |= changed;
                if !self.induction.sampling {
                    return InductionStep::Covered;
                }
                self.induction.samples += 1;
                let entry = &mut self.induction.entries[number];
                entry.rounds += 1;
                match entry.rounds > ROUNDS || self.induction.samples > SAMPLES {
                    true => InductionStep::Covered,
                    false => InductionStep::Continue,
                }
            }
            None => self.induction.give_up("a loop allocates, frees, or moves a pointer to another object"),
        }
    }

    /// Whether something has to be more general for the state to be one of those that the entry stands for; `None`: it
    /// cannot be one.
    fn compare_with_entry(&mut self, state: &State, entry: &LoopEntry, oracle: &mut dyn PathOracle) -> Option<bool> {
        let header = entry.header;
        let sampling = self.induction.sampling;
        let at = self.induction.headers.get_mut(&header)?;
        let mut changed = false;
        // A register that is not written in the loop keeps its value.
        if at.kept.iter().any(|(r, _)| state.frame.regs[*r as usize] != entry.state.frame.regs[*r as usize]) {
            return None;
        }
        let new = general::changed_memory(state, &entry.state, &at.memory, oracle.terms())?;
        changed |= !new.is_empty();
        self.induction.grew |= !new.is_empty();
        general::add_changed(&mut at.memory, new);
        let at = &self.induction.headers[&header];
        let now = places::values(state, at, &entry.objects, oracle.terms());
        // A pointer stays in its object.
        if !general::fits(state, at, &entry.objects, oracle.terms()) {
            return None;
        }
        if sampling {
            let at = self.induction.headers.get_mut(&header)?;
            equations::row(at, &now, &entry.values, state, oracle.terms());
        }
        let before = self.induction.headers[&header].dropped.len();
        self.drop_failing(header, entry, &now, state, sampling, oracle);
        changed |= self.induction.headers[&header].dropped.len() > before;
        Some(changed)
    }

    /// Begins a check of the proof, if there is one, and gives the states where paths begin: [`Induction::arrive`] then
    /// covers states as in its last pass.
    pub fn begin_check_of_induction(&mut self) -> Vec<State> {
        let i = &mut self.induction;
        if i.proofs == 0 {
            return Vec::new();
        }
        (i.sampling, i.changed, i.grew, i.check) = (false, false, false, Some((0, 0)));
        i.entries.clear();
        i.roots.clone()
    }

    /// Candidates that do not hold after all, and those of which that could not be said; both 0 where nothing changed.
    pub fn end_check_of_induction(&mut self) -> (u64, u64) {
        let i = &mut self.induction;
        i.entries.clear();
        let (wrong, unanswered) = i.check.take().unwrap_or_default();
        // Something else than a candidate differs from the proof.
        (wrong + u64::from(i.changed && wrong + unanswered == 0), unanswered)
    }

    /// What is said of the loops.
    fn note_induction(&mut self, oracle: &mut dyn PathOracle) {
        let entries = std::mem::take(&mut self.induction.entries);
        let program = oracle.program();
        let mut said: FxHashMap<Header, (usize, Vec<TermId>)> = FxHashMap::default();
        for (i, e) in entries.iter().enumerate() {
            let at = &self.induction.headers[&e.header];
            let now = places::locations(at, e, &mut self.locs, oracle.terms());
            let mut all = Vec::new();
            for c in at.kept_candidates() {
                let constant =
                    |p: &LoopLocation| e.values.get(p).is_some_and(|v| oracle.terms().as_const(*v).is_some());
                if c.on_entry().iter().all(constant)
                    && let Some(t) = c.term(&now, &e.values, oracle.terms())
                    && t != pleach_expr::Terms::TRUE
                {
                    all.push(t);
                }
            }
            said.entry(e.header).and_modify(|(_, have)| have.retain(|t| all.contains(t))).or_insert((i, all));
        }
        let mut said: Vec<_> = said.into_values().collect();
        said.sort_unstable_by_key(|(i, _)| *i);
        for (i, literals) in said {
            let state = &entries[i].state;
            self.note_round(state, 1, &program);
            let psi = Condition { literals, ..Condition::default() };
            self.note_invariant(NodeId::ROOT, state, Explained::new(&program, state, Ok(psi), None));
        }
    }
}

/// All that decides how the state goes on, but registers and memory, is as on entry.
fn is_plain(state: &State) -> bool {
    state.thrown.is_none() && state.jump_points.is_empty() && !state.failing
}

impl Induction for Interpolation {
    fn begin(&mut self, roots: &[State]) {
        self.induction.roots = roots.to_vec();
    }

    fn due(&mut self, spent: u64) -> Option<u64> {
        let i = &mut self.induction;
        if !i.on || !self.loops.on || self.checks.leaks != Leaks::Ignored || i.started && i.next.is_none() {
            return None;
        }
        let (at, limit) = i.next.unwrap_or(i.first);
        if spent < at {
            return None;
        }
        (i.started, i.next) = (true, Some((at.max(1) * GROWS, limit * GROWS)));
        (i.pass, i.sampling, i.samples, i.changed, i.sampled_twice) = (0, true, 0, false, false);
        i.headers.clear();
        i.entries.clear();
        i.attempts += 1;
        Some(limit)
    }

    fn arrive(&mut self, state: &mut State, oracle: &mut dyn PathOracle) -> InductionStep {
        if !is_plain(state) {
            return self.induction.give_up("exceptions or jumps");
        }
        let program = oracle.program();
        let natural = self.loops.natural_loops(state.frame.func, &program);
        let block = state.block;
        let inside = |h: &BlockId| natural.headed_by(*h).is_some_and(|l| natural.get(l).contains(block));
        state.frame.visits.retain(|h, _| inside(h));
        let first = program.function(state.frame.func).blocks[block.index()].first.0 == state.inst;
        if !first || natural.headed_by(block).is_none() {
            // A cycle that is no natural loop has no place where states could be compared.
            let no_loop = natural.irreducible().iter().any(|(_, to)| *to == block);
            return match no_loop {
                true => self.induction.give_up("a cycle with several entries"),
                false => InductionStep::Continue,
            };
        }
        match state.frame.visits.get(&block).copied() {
            // SOUND: a state that has made no step since is not covered by itself.
            Some(n) if self.induction.entries[n as usize].instructions == state.instructions => InductionStep::Continue,
            Some(n) => {
                state.history = History::beginning(state.inst);
                self.compare_round(state, n as usize, oracle)
            }
            None => {
                state.history = History::beginning(state.inst);
                self.enter(state, oracle)
            }
        }
    }

    fn is_harmless(&mut self, end: &End) -> bool {
        let why = match end {
            End::Exit(_) | End::Silent => return true,
            End::Error(e) if e.kind == ErrorKind::Abort && self.induction.may_abort => return true,
            End::Error(e) => format!("a general state ends in an error: {}", e.kind.as_str()),
            End::Cut(c) => format!("a path was cut: {c:?}"),
        };
        self.induction.gave_up = Some(why);
        false
    }

    fn after_pass(&mut self, end: PassEnd, oracle: &mut dyn PathOracle) -> AfterPass {
        let i = &mut self.induction;
        i.pass += 1;
        let sampled = i.sampling;
        let failed = end == PassEnd::Failed || end == PassEnd::Limit && !sampled || i.pass > PASSES;
        if failed {
            if end == PassEnd::Limit || i.pass > PASSES {
                i.gave_up = Some("it cost too much".to_owned());
            }
            // What fails fails again; what cost too much may not.
            if end == PassEnd::Failed {
                i.next = None;
            }
            return AfterPass::GaveUp;
        }
        if sampled {
            // Candidates speak of the words of memory that rounds change, too.
            let words = i.headers.values().any(|at| !at.memory.is_empty());
            if words && !i.sampled_twice {
                (i.sampled_twice, i.samples, i.changed) = (true, 0, false);
                i.entries.clear();
                i.headers.values_mut().for_each(AtHeader::forget_candidates);
                return AfterPass::Again;
            }
            i.add_equations();
        }
        let again = sampled || i.changed;
        if !sampled && i.grew {
            i.headers.values_mut().for_each(|at| at.candidates = None);
        }
        (i.sampling, i.changed, i.grew) = (false, false, false);
        // SOUND: from here on states are general, and more of them than there are do no harm.
        oracle.weaken_quantifiers(true);
        if again {
            i.entries.clear();
            return AfterPass::Again;
        }
        (i.proofs, i.gave_up) = (i.proofs + 1, None);
        self.note_induction(oracle);
        AfterPass::Proved
    }
}
