//! Checking the resolution of pointers: every access that a policy decided without a fork is decided again by the
//! solver alone.
//!
//! *Idea*: the solver gives addresses of the pointer one after the other, as with `fork`. The objects there must be the
//! possible ones among the policy's targets, none may be an error, and in each of them the policy's value must be the
//! one that is stored there. An access to a piece of an object that was split must stay in the piece, and read what the
//! whole object holds there.

use crate::access::AccessKind;
use crate::machine::Machine;
use crate::multi_target_access::TargetAccess;
use pleach_expr::TermId;
use pleach_memory::{ObjId, Value, Window};
use pleach_state::State;
use std::collections::BTreeSet;

impl Machine {
    /// Compares the targets of an access with what the solver finds; `read`: the value that was read from them.
    pub(crate) fn check_targets(
        &mut self,
        st: &State,
        ptr: TermId,
        targets: &[TargetAccess],
        n: u64,
        purpose: AccessKind,
        read: Option<Value>,
    ) {
        let mut scratch = st.clone();
        scratch.decided.remove(&ptr);
        let Ok((sides, None)) = self.scan(&mut scratch, ptr, n, purpose) else { return };
        self.resolved.checked += 1;
        let found: BTreeSet<ObjId> = sides.iter().filter_map(|s| s.2.map(|t| t.0)).collect();
        let mut possible = BTreeSet::new();
        for &(guard, obj, _) in targets {
            if matches!(self.is_satisfiable(&mut scratch, guard), Ok(Some(_))) {
                possible.insert(obj);
            }
        }
        if found != possible {
            self.disagree(st, format!("the policy has the objects {possible:?}, the solver {found:?}"));
        }
        if let Some((_, end, _)) = sides.iter().find(|s| s.1.is_some()) {
            self.disagree(st, format!("the policy has no error, the solver {end:?}"));
        }
        let Some(value) = read else { return };
        let bits = (n * 8) as u16;
        for (side, _, to) in sides {
            let Some((obj, off)) = to else { continue };
            let value = self.term(&mut scratch, value, bits);
            let value = self.substitute_addresses(st, value);
            let mut there = scratch.clone();
            self.add(&mut there, side);
            let Some((contents, w)) = there.memory.contents_mut(obj) else { continue };
            let stored = match self.terms.as_const(off) {
                Some(k) => contents.read(&mut self.terms, w.start + k, n as usize, obj),
                None => contents.read_at(&mut self.terms, w, off, n, obj),
            };
            let stored = self.term(&mut there, stored, bits);
            let stored = self.substitute_addresses(&there, stored);
            let differ = self.terms.ne(value, stored);
            if matches!(self.is_satisfiable(&mut there, differ), Ok(Some(_))) {
                self.disagree(st, format!("what is read is not what object {} holds", obj.0));
            }
        }
    }

    /// Compares an access to a piece with one to the whole object; `read`: the value that was read from the piece.
    pub(crate) fn check_piece(
        &mut self,
        st: &State,
        obj: ObjId,
        piece: Window,
        off: TermId,
        n: u64,
        read: Option<Value>,
    ) {
        let mut scratch = st.clone();
        self.resolved.checked += 1;
        let inside = self.within(piece.len, off, n);
        let outside = self.terms.not(inside);
        if matches!(self.is_satisfiable(&mut scratch, outside), Ok(Some(_))) {
            self.disagree(st, format!("an access of {n} bytes leaves the piece at {}", piece.start));
        }
        let Some(value) = read else { return };
        let start = self.terms.constant(self.terms.width(off), piece.start);
        let off = self.terms.add(off, start);
        let Some((contents, w)) = scratch.memory.contents_mut(obj) else { return };
        let stored = contents.read_at(&mut self.terms, w, off, n, obj);
        let bits = (n * 8) as u16;
        let (value, stored) = (self.term(&mut scratch, value, bits), self.term(&mut scratch, stored, bits));
        let differ = self.terms.ne(value, stored);
        if matches!(self.is_satisfiable(&mut scratch, differ), Ok(Some(_))) {
            self.disagree(st, format!("what is read from the piece at {} is not what the object holds", piece.start));
        }
    }

    fn disagree(&mut self, st: &State, what: String) {
        // What was left off in the middle is no answer.
        if self.terms.brake.is_spoiled() {
            return;
        }
        let f = self.program.function(st.frame.func);
        let line = f.spans.get(st.inst as usize).map_or(0, |s| s.line);
        self.disagreements.push(format!("{} line {line}: {what}", f.name));
    }
}
