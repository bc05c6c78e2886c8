//! Memory that is left when the program ends.
//!
//! *Idea*: a block is lost if no variable leads to it. A pointer that is a choice between objects leads to each of them
//! under its condition, so a block is held under a condition too, and the path splits where that may fail. *Direction*:
//! a pointer that cannot be resolved may refer to any object it mentions; where a block's verdict depends on that, the
//! run reports a cut. Registers of callers count, also those that are not used any more.

use crate::flow::{Flow, Step, StepResult};
use crate::machine::Machine;
use pleach_expr::{TermId, Terms, facts};
use pleach_memory::{ObjId, ObjectKind, Value};
use pleach_state::{Cut, End, ErrorKind, Leaks, State};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::collections::hash_map::Entry;

/// Words of an object that are looked at for pointers.
const WORDS: u64 = 1 << 12;

const UNTOLD: &str = "cannot decide whether a heap block is still referenced at exit";

/// What is left of the heap.
enum LeakVerdict {
    Nothing,
    /// a block is lost unless the condition holds
    Lost {
        unless: TermId,
        message: String,
    },
    /// it cannot be told whether one is
    Untold,
}

/// A pointer to an object.
#[derive(Clone, Copy)]
struct HeapReference {
    to: ObjId,
    /// when it points there; `None`: it cannot be told
    when: Option<TermId>,
}

/// By object.
type HeapReferences = FxHashMap<ObjId, Vec<HeapReference>>;

impl Machine {
    /// The first heap block that was not freed or, unless freeing is required, that may not be reached from globals and
    /// live locals.
    fn left(&mut self, st: &mut State) -> StepResult<LeakVerdict> {
        let heap: Vec<ObjId> = st.memory.live().filter(|(_, o)| o.kind == ObjectKind::Heap).map(|(id, _)| id).collect();
        if heap.is_empty() {
            return Ok(LeakVerdict::Nothing);
        }
        if self.config.leaks == Leaks::Unfreed {
            return Ok(self.lost(st, heap[0], Terms::FALSE, "is not freed at the end"));
        }
        const LOST: &str = "is never freed and nothing points to it at the end";
        let roots = self.roots(st);
        let (holds, reached) = self.reached(st, &roots);
        if let Some(lost) = heap.iter().find(|h| !holds.contains_key(h)) {
            return Ok(self.lost(st, *lost, Terms::FALSE, LOST));
        }
        let open: Vec<ObjId> = heap.into_iter().filter(|h| !reached.contains(h)).collect();
        if open.is_empty() {
            return Ok(LeakVerdict::Nothing);
        }
        let may = self.held_under(st, &roots, &holds, true)?;
        let (mut all, mut first) = (Terms::TRUE, None);
        for &block in &open {
            let fine = may.get(&block).copied().unwrap_or(Terms::FALSE);
            let lost = self.terms.not(fine);
            if self.may_hold(st, lost)? {
                all = self.terms.and(all, fine);
                first = first.or(Some(block));
            }
        }
        if let Some(block) = first {
            return Ok(self.lost(st, block, all, LOST));
        }
        let must = self.held_under(st, &roots, &holds, false)?;
        for &block in &open {
            let held = must.get(&block).copied().unwrap_or(Terms::FALSE);
            let lost = self.terms.not(held);
            if self.may_hold(st, lost)? {
                return Ok(LeakVerdict::Untold);
            }
        }
        Ok(LeakVerdict::Nothing)
    }

    fn lost(&mut self, st: &State, block: ObjId, unless: TermId, how: &str) -> LeakVerdict {
        let what = self.describe(st, block);
        LeakVerdict::Lost { unless, message: format!("{what} {how}") }
    }

    /// Nothing is lost, or the path splits; `here_ends`: how the state ends here otherwise, if it does.
    fn nothing_lost(&mut self, st: &mut State, here_ends: Option<End>) -> StepResult<()> {
        match self.left(st)? {
            LeakVerdict::Nothing => Ok(()),
            LeakVerdict::Lost { unless, message } => {
                self.require_at_end(st, unless, ErrorKind::Leak, || message, here_ends)
            }
            LeakVerdict::Untold => self.drop_alternative_at_end(st, UNTOLD, here_ends),
        }
    }

    /// Before the program gives up.
    pub(crate) fn require_nothing_lost(&mut self, st: &mut State) -> StepResult<()> {
        self.nothing_lost(st, None)
    }

    /// The program has ended: the path ends so where nothing is lost.
    pub(crate) fn end_unless_lost(&mut self, st: &mut State, end: End) -> Flow {
        let left = self.nothing_lost(st, Some(end.clone()));
        left.map_or_else(|flow| flow, |()| Flow::Stop(Step::End(end)))
    }

    fn may_hold(&mut self, st: &mut State, condition: TermId) -> StepResult<bool> {
        match self.is_satisfiable(st, condition) {
            Ok(side) => Ok(side.is_some()),
            Err(why) => Err(Flow::cut(Cut::Solver(why.to_string()))),
        }
    }

    /// What variables point to. `exit` leaves the frames of its callers as they are.
    fn roots(&mut self, st: &mut State) -> Vec<HeapReference> {
        let variables = st.memory.live().filter(|(_, o)| o.kind != ObjectKind::Heap);
        let mut holds: Vec<HeapReference> =
            variables.map(|(to, _)| HeapReference { to, when: Some(Terms::TRUE) }).collect();
        let mut registers: Vec<Value> = st.frame.regs.to_vec();
        let mut at = st.callers.clone();
        while let Some(c) = at {
            registers.extend_from_slice(&c.frame.regs);
            at = c.below.clone();
        }
        for v in registers {
            if let Some(t) = self.pointed_to(st, v, &mut holds) {
                holds.extend(self.terms.bases(t).into_iter().map(|to| HeapReference { to, when: None }));
            }
        }
        holds
    }

    /// What each object points to that may be reached, and those that are reached whatever the inputs.
    fn reached(&mut self, st: &mut State, roots: &[HeapReference]) -> (HeapReferences, FxHashSet<ObjId>) {
        let mut holds = HeapReferences::default();
        let mut todo: Vec<ObjId> = roots.iter().map(|h| h.to).collect();
        while let Some(id) = todo.pop() {
            if let Entry::Vacant(new) = holds.entry(id) {
                let found = new.insert(self.holds(st, id));
                todo.extend(found.iter().map(|h| h.to));
            }
        }
        let surely = |h: &&HeapReference| h.when == Some(Terms::TRUE);
        let mut reached = FxHashSet::default();
        todo.extend(roots.iter().filter(surely).map(|h| h.to));
        while let Some(id) = todo.pop() {
            if reached.insert(id) {
                todo.extend(holds[&id].iter().filter(surely).map(|h| h.to));
            }
        }
        (holds, reached)
    }

    /// Under which condition each object is reached; `trusting`: a hold that cannot be told counts.
    fn held_under(
        &mut self,
        st: &mut State,
        roots: &[HeapReference],
        holds: &HeapReferences,
        trusting: bool,
    ) -> StepResult<FxHashMap<ObjId, TermId>> {
        let mut under: FxHashMap<ObjId, TermId> = FxHashMap::default();
        let mut todo: Vec<(HeapReference, TermId)> = roots.iter().map(|h| (*h, Terms::TRUE)).collect();
        while let Some((hold, from)) = todo.pop() {
            let Some(when) = hold.when.or(trusting.then_some(Terms::TRUE)) else { continue };
            let way = self.terms.and(from, when);
            let known = under.get(&hold.to).copied().unwrap_or(Terms::FALSE);
            let unknown = self.terms.not(known);
            let new = self.terms.and(way, unknown);
            if new == Terms::FALSE || (known != Terms::FALSE && !self.may_hold(st, new)?) {
                continue;
            }
            let all = self.terms.or(known, way);
            under.insert(hold.to, all);
            todo.extend(holds[&hold.to].iter().map(|h| (*h, all)));
        }
        Ok(under)
    }

    /// What an object points to.
    fn holds(&mut self, st: &mut State, id: ObjId) -> Vec<HeapReference> {
        let mut out = Vec::new();
        let held = st.memory.contents(id).map_or_else(Vec::new, |(contents, w)| contents.held(w));
        let parts: Vec<TermId> = held.into_iter().filter_map(|v| self.pointed_to(st, v, &mut out)).collect();
        let Some((contents, w)) = st.memory.contents(id).filter(|_| !parts.is_empty()) else { return out };
        let mut contents = contents.clone();
        // Bytes of pointers, or an array: word by word they may be pointers.
        let word = u64::from(self.pointer_bits() / 8);
        for i in 0..(w.len / word).min(WORDS) {
            let v = contents.read(&mut self.terms, w.start + i * word, word as usize, id);
            self.pointed_to(st, v, &mut out);
        }
        for to in parts.into_iter().flat_map(|t| self.terms.bases(t)).collect::<BTreeSet<_>>() {
            if !out.iter().any(|h| h.to == to) {
                out.push(HeapReference { to, when: None });
            }
        }
        out
    }

    /// The objects that a value points to; the value itself if it has a part of a pointer.
    fn pointed_to(&mut self, st: &mut State, v: Value, out: &mut Vec<HeapReference>) -> Option<TermId> {
        match v {
            Value::Ptr { obj, .. } => out.push(HeapReference { to: obj, when: Some(Terms::TRUE) }),
            Value::Term(t) if self.terms.has(t, facts::HAS_BASE) => {
                let whole = self.terms.width(t) == self.pointer_bits();
                let Some((_, found)) = whole.then(|| self.take_apart(st, t)).flatten() else { return Some(t) };
                out.extend(found.iter().filter_map(|c| Some(HeapReference { to: c.obj?, when: Some(c.guard) })));
            }
            _ => {}
        }
        None
    }
}
