//! Copying and filling ranges through pointers that may refer to several objects, without a fork.
//!
//! *Paper*: Memory §3.1, §3.2.3. *Idea*: the whole range is checked against its targets like one access; then it is
//! read and written word by word, each word as a load or a store would. All is read before anything is written.
//! *Direction*: loses nothing; longer ranges fork.

use crate::access::{AccessKind, note};
use crate::config::Resolution;
use crate::flow::StepResult;
use crate::machine::Machine;
use crate::multi_target_access::{ResolvedAccess, TargetAccess};
use pleach_memory::Value;
use pleach_state::{Access, State};

/// Longer ranges are not written word by word.
const MAX_SPLIT_BYTES: u64 = 256;

/// The machine words of the range, each with its offset; the last ones are shorter.
fn machine_words(n: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let left = n - at;
        let len = [8, 4, 2, 1].into_iter().find(|w| *w <= left)?;
        at += len;
        Some((at - len, len))
    })
}

impl Machine {
    /// Where a range of `n` bytes lies.
    pub(crate) fn locate_range(
        &mut self,
        st: &mut State,
        p: Value,
        n: u64,
        purpose: AccessKind,
    ) -> StepResult<ResolvedAccess> {
        match p {
            Value::Term(t)
                if self.model.resolution() != Resolution::Fork
                    && n <= MAX_SPLIT_BYTES
                    && !st.decided.contains_key(&t) =>
            {
                self.locate_by_policy(st, t, n, purpose)
            }
            _ => self.place(st, p, n, purpose).map(ResolvedAccess::One),
        }
    }

    /// Both ends of a copy.
    pub(crate) fn locate_ranges(
        &mut self,
        st: &mut State,
        s: Value,
        d: Value,
        n: u64,
    ) -> StepResult<(ResolvedAccess, ResolvedAccess)> {
        loop {
            let from = self.locate_range(st, s, n, AccessKind::Read)?;
            let objects = st.memory.len();
            let to = self.locate_range(st, d, n, AccessKind::Write)?;
            // A segment made for the second may have taken in that of the first.
            if st.memory.len() == objects {
                return Ok((from, to));
            }
        }
    }

    pub(crate) fn copy_may_point_to(&mut self, st: &mut State, from: &ResolvedAccess, to: &ResolvedAccess, n: u64) {
        note(st, || Access::Opaque);
        self.check_range(st, from, n, AccessKind::Read);
        self.check_range(st, to, n, AccessKind::Write);
        let read: Vec<Value> = machine_words(n).map(|(at, len)| self.read_word(st, from, at, len)).collect();
        for ((at, len), v) in machine_words(n).zip(read) {
            self.write_word(st, to, at, len, v);
        }
    }

    pub(crate) fn fill_may_point_to(&mut self, st: &mut State, to: &ResolvedAccess, byte: Value, n: u64) {
        note(st, || Access::Opaque);
        self.check_range(st, to, n, AccessKind::Write);
        let byte = self.term(st, byte, 8);
        for (at, len) in machine_words(n) {
            let word = (1..len).fold(byte, |word, _| self.terms.concat(word, byte));
            let word = Value::from_term(&self.terms, word);
            self.write_word(st, to, at, len, word);
        }
    }

    fn check_range(&mut self, st: &State, range: &ResolvedAccess, n: u64, purpose: AccessKind) {
        if let ResolvedAccess::MayPointTo { ptr, targets } = range
            && self.config.check_resolution
        {
            self.check_targets(st, *ptr, targets, n, purpose, None);
        }
    }

    /// The pointer and its targets, moved on by `at` bytes.
    fn moved_on(
        &mut self,
        ptr: pleach_expr::TermId,
        targets: &[TargetAccess],
        at: u64,
    ) -> (pleach_expr::TermId, Vec<TargetAccess>) {
        let by = self.terms.constant(self.pointer_bits(), at);
        let targets = targets.iter().map(|&(guard, obj, off)| (guard, obj, self.terms.add(off, by))).collect();
        (self.terms.add(ptr, by), targets)
    }

    fn read_word(&mut self, st: &mut State, from: &ResolvedAccess, at: u64, len: u64) -> Value {
        match from {
            ResolvedAccess::One(place) => {
                let place = self.shifted(*place, at);
                self.read_place(st, place, len)
            }
            ResolvedAccess::MayPointTo { ptr, targets } => {
                let (ptr, targets) = self.moved_on(*ptr, targets, at);
                self.read_may_point_to(st, ptr, &targets, len)
            }
        }
    }

    fn write_word(&mut self, st: &mut State, to: &ResolvedAccess, at: u64, len: u64, v: Value) {
        match to {
            ResolvedAccess::One(place) => {
                let place = self.shifted(*place, at);
                self.write_place(st, place, len, v);
            }
            ResolvedAccess::MayPointTo { ptr, targets } => {
                let (ptr, targets) = self.moved_on(*ptr, targets, at);
                self.write_may_point_to(st, ptr, &targets, len, v);
            }
        }
    }
}
