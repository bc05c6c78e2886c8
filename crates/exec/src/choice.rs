//! Loads and stores by policy: what happens where a pointer may mean several objects.
//!
//! *Paper*: Memory §3.1 (the merging model, here `ite`). *Idea*: one state goes on. A read gives a choice between the objects' values
//! that has the shape of the pointer itself; a write puts the new value into each object where the pointer is into it. What would be
//! an error still ends as a state of its own, under the same conditions as with `fork`.
//! *Invariant*: on the path, exactly one of the targets' guards holds. *Direction*: loses nothing. *Checked by*: `check.rs`.

use crate::access::{Place, Purpose, note, uninit_name};
use crate::config::Resolution;
use crate::flow::{Attempt, Flow, Step};
use crate::machine::Machine;
use crate::resolution::Sorted;
use pleach_expr::{TermId, Terms};
use pleach_memory::resolve::{Candidate, candidates, mirror};
use pleach_memory::{ObjId, Value};
use pleach_state::{Access, ForkKind, State};
use std::rc::Rc;

/// Where an access goes.
#[derive(Clone, Debug)]
pub(crate) enum Located {
    One(Place),
    /// into one of several objects, by the pointer
    Among {
        ptr: TermId,
        /// when, which, where in it
        targets: Rc<[(TermId, ObjId, TermId)]>,
    },
}

impl Machine {
    /// The value of `n` bytes that a pointer points to.
    pub(crate) fn read(&mut self, st: &mut State, p: Value, n: u64) -> Attempt<Value> {
        let from = self.locate(st, p, n, Purpose::Read)?;
        Ok(match from {
            Located::One(place) => self.read_place(st, place, n),
            Located::Among { ptr, targets } => self.read_among(st, ptr, &targets, n),
        })
    }

    pub(crate) fn write_target(&mut self, st: &mut State, to: Located, n: u64, v: Value) {
        match to {
            Located::One(place) => self.write_place(st, place, n, v),
            Located::Among { targets, .. } => self.write_among(st, &targets, n, v),
        }
    }

    /// Where an access of `n` bytes goes, by the policy for pointers with several targets.
    pub(crate) fn locate(&mut self, st: &mut State, p: Value, n: u64, purpose: Purpose) -> Attempt<Located> {
        let located = match p {
            Value::Term(t) if self.config.resolution != Resolution::Fork && !st.decided.contains_key(&t) => {
                self.locate_by_policy(st, t, n, purpose)?
            }
            _ => Located::One(self.place(st, p, n, purpose)?),
        };
        match &located {
            Located::One(place) => self.record(st, *place, n),
            Located::Among { .. } => note(st, || Access::Opaque),
        }
        Ok(located)
    }

    fn locate_by_policy(&mut self, st: &mut State, t: TermId, n: u64, purpose: Purpose) -> Attempt<Located> {
        let fork = |m: &mut Machine, st: &mut State| m.symbolic_place(st, t, n, purpose).map(Located::One);
        let Some(found) = candidates(&mut self.terms, t) else { return fork(self, st) };
        if found.len() == 1 {
            return fork(self, st);
        }
        let before = self.queries;
        let targets = self.without_errors(st, &found, n, purpose);
        self.resolved.queries += self.queries - before;
        match targets? {
            None => fork(self, st),
            Some(targets) => match targets[..] {
                [(_, obj, off)] => self.place_in(st, obj, off, n, purpose).map(Located::One),
                _ => {
                    self.resolved.multiple += 1;
                    Ok(Located::Among { ptr: t, targets: targets.into() })
                }
            },
        }
    }

    /// The targets of a pointer that is within one of them on this path. Where it may be bad, the path splits: one state per kind of
    /// error, and one that executes the instruction again. `None`: only the solver can tell.
    #[allow(clippy::type_complexity)]
    fn without_errors(
        &mut self,
        st: &mut State,
        found: &[Candidate],
        n: u64,
        purpose: Purpose,
    ) -> Attempt<Option<Vec<(TermId, ObjId, TermId)>>> {
        let Some(Sorted { good, bad }) = self.sort_targets(st, found, n, purpose) else { return Ok(None) };
        let mut fine = Terms::TRUE;
        for (guard, _) in bad.values() {
            let not = self.terms.not(*guard);
            fine = self.terms.and(fine, not);
        }
        let (mut sides, mut lost) = self.failing_sides(st, bad);
        if sides.is_empty() && lost.is_none() {
            return Ok(Some(good));
        }
        match self.possible(st, fine) {
            Ok(Some(side)) => sides.push((side, None, None)),
            Ok(None) => {}
            Err(why) => lost = Some(why),
        }
        match self.children_of_resolution(st, Terms::FALSE, sides, lost) {
            Err(Flow::Stop(Step::Fork(mut children))) => {
                for c in &mut children {
                    c.state.fork = ForkKind::Other;
                }
                Err(Flow::Stop(Step::Fork(children)))
            }
            other => other.map(|_| None),
        }
    }

    fn read_among(&mut self, st: &mut State, ptr: TermId, targets: &[(TermId, ObjId, TermId)], n: u64) -> Value {
        let bits = (n * 8) as u16;
        let read = mirror(&mut self.terms, ptr, &mut |terms, obj, off| {
            let obj = obj.filter(|o| targets.iter().any(|t| t.1 == *o))?;
            let contents = &mut st.memory.get_mut(obj)?.contents;
            let v = match terms.as_const(off) {
                Some(k) if k.checked_add(n).is_none_or(|e| e > contents.size()) => return None,
                Some(k) => contents.read(terms, k, n as usize, &|| uninit_name(obj)),
                None => contents.read_at(terms, off, n, &|| uninit_name(obj)),
            };
            v.to_term(terms, bits)
        });
        read.map_or(Value::Undef, |t| Value::from_term(&self.terms, t))
    }

    fn write_among(&mut self, st: &mut State, targets: &[(TermId, ObjId, TermId)], n: u64, v: Value) {
        let bits = (n * 8) as u16;
        let new = self.term(st, v, bits);
        for &(guard, obj, off) in targets {
            let Some(o) = st.memory.get_mut(obj) else { continue };
            let terms = &mut self.terms;
            let Some(k) = terms.as_const(off) else {
                o.contents.write_at(terms, guard, off, n, new, &|| uninit_name(obj));
                continue;
            };
            let Some(old) = o.contents.read(terms, k, n as usize, &|| uninit_name(obj)).to_term(terms, bits) else {
                continue;
            };
            let v = terms.ite(guard, new, old);
            if v != old {
                let v = Value::from_term(terms, v);
                o.contents.write(terms, k, n as usize, v);
            }
        }
    }
}
