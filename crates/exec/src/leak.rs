//! Memory that is left when the program ends.
//!
//! *Idea*: a block is lost if no variable leads to it. A pointer that is a choice between objects leads to each of them under its condition,
//! so a block is held under a condition too, and the path splits where that may fail. *Direction*: a pointer that cannot be taken apart may
//! hold any object it mentions; where a block hangs on that, the run says so with a cut. Registers of callers count, also those that are not
//! used any more.

use crate::feasible::Decision;
use crate::flow::{Attempt, Flow, Step};
use crate::machine::Machine;
use pleach_expr::{TermId, Terms, facts};
use pleach_memory::{ObjId, ObjectKind, Value};
use pleach_state::{Cut, End, ErrorKind, ForkKind, Leaks, ProgramError, State};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Words of an object that are looked at for pointers.
const WORDS: u64 = 1 << 12;

const UNTOLD: &str = "a pointer that may or may not hold a heap block at the end";

/// What is left of the heap.
enum Left {
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
struct Hold {
    to: ObjId,
    /// when it points there; `None`: it cannot be told
    when: Option<TermId>,
}

impl Machine {
    /// The first heap block that was not freed or, unless that is asked for, that may not be reached from globals and live locals.
    fn left(&mut self, st: &mut State) -> Attempt<Left> {
        let heap: Vec<ObjId> = st.memory.live().filter(|(_, o)| o.kind == ObjectKind::Heap).map(|(id, _)| id).collect();
        if heap.is_empty() {
            return Ok(Left::Nothing);
        }
        if self.config.leaks == Leaks::Unfreed {
            return Ok(self.lost(st, heap[0], Terms::FALSE, "is not freed at the end"));
        }
        const LOST: &str = "is never freed and nothing points to it at the end";
        let roots = self.roots(st);
        // A way to it that may not be there is better than none.
        let anyhow = self.reached(st, &roots, &|_| true);
        if let Some(lost) = heap.iter().find(|h| !anyhow.contains(h)) {
            return Ok(self.lost(st, *lost, Terms::FALSE, LOST));
        }
        let surely = self.reached(st, &roots, &|h| h.when == Some(Terms::TRUE));
        let open: Vec<ObjId> = heap.into_iter().filter(|h| !surely.contains(h)).collect();
        if open.is_empty() {
            return Ok(Left::Nothing);
        }
        let may = self.held_under(st, &roots, true)?;
        let (mut all, mut first) = (Terms::TRUE, None);
        for &block in &open {
            let fine = may.get(&block).copied().unwrap_or(Terms::FALSE);
            let lost = self.terms.not(fine);
            if self.is_possible(st, lost)? {
                all = self.terms.and(all, fine);
                first = first.or(Some(block));
            }
        }
        if let Some(block) = first {
            return Ok(self.lost(st, block, all, LOST));
        }
        let must = self.held_under(st, &roots, false)?;
        for &block in &open {
            let held = must.get(&block).copied().unwrap_or(Terms::FALSE);
            let lost = self.terms.not(held);
            if self.is_possible(st, lost)? {
                return Ok(Left::Untold);
            }
        }
        Ok(Left::Nothing)
    }

    fn lost(&mut self, st: &State, block: ObjId, unless: TermId, how: &str) -> Left {
        let size = st.memory.header(block).map_or(0, |o| o.size);
        let what = self.describe(st, block, size);
        Left::Lost { unless, message: format!("{what} {how}") }
    }

    /// Before the program gives up: nothing is lost, or the path splits.
    pub(crate) fn require_nothing_lost(&mut self, st: &mut State) -> Attempt<()> {
        match self.left(st)? {
            Left::Nothing => Ok(()),
            Left::Lost { unless, message } => self.require(st, unless, ErrorKind::Leak, || message),
            Left::Untold => self.cut_beside(st, UNTOLD),
        }
    }

    /// The program has ended: the path ends so where nothing is lost.
    pub(crate) fn end_unless_lost(&mut self, st: &mut State, end: End) -> Flow {
        match self.left(st) {
            Err(flow) => flow,
            Ok(Left::Nothing) => Flow::Stop(Step::End(end)),
            Ok(Left::Untold) => match self.cut_beside_end(st, UNTOLD, Some(end.clone())) {
                Ok(()) => Flow::Stop(Step::End(end)),
                Err(flow) => flow,
            },
            Ok(Left::Lost { unless, message }) => {
                let leak = ProgramError::new(ErrorKind::Leak, message);
                match self.decide(st, unless) {
                    Decision::True => Flow::Stop(Step::End(end)),
                    Decision::False => Flow::Stop(Step::End(End::Error(leak))),
                    Decision::Both(fine, lost) => {
                        let sides = vec![(lost, Some(End::Error(leak))), (fine, Some(end))];
                        self.split(st, sides, ForkKind::Check(ErrorKind::Leak))
                    }
                    Decision::Half { holds, side, why } => {
                        self.half(st, side, Some(if holds { end } else { End::Error(leak) }), &why)
                    }
                }
            }
        }
    }

    fn is_possible(&mut self, st: &mut State, condition: TermId) -> Attempt<bool> {
        match self.possible(st, condition) {
            Ok(side) => Ok(side.is_some()),
            Err(why) => Err(Flow::cut(Cut::Solver(why.to_string()))),
        }
    }

    /// What variables point to. `exit` leaves the frames of its callers as they are.
    fn roots(&mut self, st: &mut State) -> Vec<Hold> {
        let variables = st.memory.live().filter(|(_, o)| o.kind != ObjectKind::Heap);
        let mut holds: Vec<Hold> = variables.map(|(to, _)| Hold { to, when: Some(Terms::TRUE) }).collect();
        let mut registers: Vec<Value> = st.frame.regs.to_vec();
        let mut at = st.callers.clone();
        while let Some(c) = at {
            registers.extend_from_slice(&c.frame.regs);
            at = c.below.clone();
        }
        for v in registers {
            if let Some(t) = self.pointed_to(st, v, &mut holds) {
                holds.extend(self.terms.bases(t).into_iter().map(|to| Hold { to, when: None }));
            }
        }
        holds
    }

    /// Objects that these lead to over holds that count.
    fn reached(&mut self, st: &mut State, roots: &[Hold], counts: &dyn Fn(&Hold) -> bool) -> FxHashSet<ObjId> {
        let mut reached = FxHashSet::default();
        let mut todo: Vec<ObjId> = roots.iter().filter(|h| counts(h)).map(|h| h.to).collect();
        while let Some(id) = todo.pop() {
            if reached.insert(id) {
                todo.extend(self.holds(st, id).iter().filter(|h| counts(h)).map(|h| h.to));
            }
        }
        reached
    }

    /// Under which condition each object is reached; `trusting`: a hold that cannot be told counts.
    fn held_under(&mut self, st: &mut State, roots: &[Hold], trusting: bool) -> Attempt<FxHashMap<ObjId, TermId>> {
        let mut under: FxHashMap<ObjId, TermId> = FxHashMap::default();
        let mut holds: FxHashMap<ObjId, Vec<Hold>> = FxHashMap::default();
        let mut todo: Vec<(Hold, TermId)> = roots.iter().map(|h| (*h, Terms::TRUE)).collect();
        while let Some((hold, from)) = todo.pop() {
            let Some(when) = hold.when.or(trusting.then_some(Terms::TRUE)) else { continue };
            let way = self.terms.and(from, when);
            let known = under.get(&hold.to).copied().unwrap_or(Terms::FALSE);
            let unknown = self.terms.not(known);
            let new = self.terms.and(way, unknown);
            if new == Terms::FALSE || (known != Terms::FALSE && !self.is_possible(st, new)?) {
                continue;
            }
            let all = self.terms.or(known, way);
            under.insert(hold.to, all);
            let found = holds.entry(hold.to).or_insert_with(|| self.holds(st, hold.to));
            todo.extend(found.iter().map(|h| (*h, all)));
        }
        Ok(under)
    }

    /// What an object points to.
    fn holds(&mut self, st: &mut State, id: ObjId) -> Vec<Hold> {
        let mut out = Vec::new();
        let Some((contents, w)) = st.memory.contents(id) else { return out };
        let (mut contents, held) = (contents.clone(), contents.held(w));
        let parts: Vec<TermId> = held.into_iter().filter_map(|v| self.pointed_to(st, v, &mut out)).collect();
        if parts.is_empty() {
            return out;
        }
        // Bytes of pointers, or an array: word by word they may be pointers.
        let word = u64::from(self.pointer_bits() / 8);
        for i in 0..(w.len / word).min(WORDS) {
            let name = || crate::access::uninit_name(id);
            let v = contents.read(&mut self.terms, w.start + i * word, word as usize, &name);
            self.pointed_to(st, v, &mut out);
        }
        for to in parts.into_iter().flat_map(|t| self.terms.bases(t)).collect::<BTreeSet<_>>() {
            if !out.iter().any(|h| h.to == to) {
                out.push(Hold { to, when: None });
            }
        }
        out
    }

    /// The objects that a value points to; the value itself if it has a part of a pointer.
    fn pointed_to(&mut self, st: &mut State, v: Value, out: &mut Vec<Hold>) -> Option<TermId> {
        match v {
            Value::Ptr { obj, .. } => out.push(Hold { to: obj, when: Some(Terms::TRUE) }),
            Value::Term(t) if self.terms.has(t, facts::HAS_BASE) => {
                let whole = self.terms.width(t) == self.pointer_bits();
                let Some((_, found)) = whole.then(|| self.take_apart(st, t)).flatten() else { return Some(t) };
                out.extend(found.iter().filter_map(|c| Some(Hold { to: c.obj?, when: Some(c.guard) })));
            }
            _ => {}
        }
        None
    }
}
