//! Copying and filling ranges through pointers that may mean several objects, without a fork.
//!
//! *Paper*: Memory §3.1, §3.2.3. *Idea*: the whole range is checked against its targets like one access; then it is read and written word
//! by word, each word as a load or a store would. All is read before anything is written. *Direction*: loses nothing; longer ranges fork.

use crate::access::{Purpose, note};
use crate::choice::{Goal, Located};
use crate::config::Resolution;
use crate::flow::Attempt;
use crate::machine::Machine;
use pleach_memory::Value;
use pleach_state::{Access, State};

/// Longer ranges are not written word by word.
const MOST: u64 = 256;

/// The range in words, each with its offset; the last ones are shorter.
fn words(n: u64) -> impl Iterator<Item = (u64, u64)> {
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
    pub(crate) fn locate_range(&mut self, st: &mut State, p: Value, n: u64, purpose: Purpose) -> Attempt<Located> {
        match p {
            Value::Term(t)
                if self.config.resolution != Resolution::Fork && n <= MOST && !st.decided.contains_key(&t) =>
            {
                self.locate_by_policy(st, t, n, purpose)
            }
            _ => self.place(st, p, n, purpose).map(Located::One),
        }
    }

    /// Both ends of a copy.
    pub(crate) fn locate_ranges(&mut self, st: &mut State, s: Value, d: Value, n: u64) -> Attempt<(Located, Located)> {
        loop {
            let from = self.locate_range(st, s, n, Purpose::Read)?;
            let objects = st.memory.len();
            let to = self.locate_range(st, d, n, Purpose::Write)?;
            // A segment made for the second may have taken in that of the first.
            if st.memory.len() == objects {
                return Ok((from, to));
            }
        }
    }

    pub(crate) fn copy_among(&mut self, st: &mut State, from: &Located, to: &Located, n: u64) {
        note(st, || Access::Opaque);
        self.check_range(st, from, n, Purpose::Read);
        self.check_range(st, to, n, Purpose::Write);
        let read: Vec<Value> = words(n).map(|(at, len)| self.read_word(st, from, at, len)).collect();
        for ((at, len), v) in words(n).zip(read) {
            self.write_word(st, to, at, len, v);
        }
    }

    pub(crate) fn fill_among(&mut self, st: &mut State, to: &Located, byte: Value, n: u64) {
        note(st, || Access::Opaque);
        self.check_range(st, to, n, Purpose::Write);
        let byte = self.term(st, byte, 8);
        for (at, len) in words(n) {
            let word = (1..len).fold(byte, |word, _| self.terms.concat(word, byte));
            let word = Value::from_term(&self.terms, word);
            self.write_word(st, to, at, len, word);
        }
    }

    fn check_range(&mut self, st: &State, range: &Located, n: u64, purpose: Purpose) {
        if let Located::Among { ptr, targets } = range
            && self.config.check_resolution
        {
            self.check_targets(st, *ptr, targets, n, purpose, None);
        }
    }

    /// The pointer and its targets, moved on by `at` bytes.
    fn moved_on(&mut self, ptr: pleach_expr::TermId, targets: &[Goal], at: u64) -> (pleach_expr::TermId, Vec<Goal>) {
        let by = self.terms.constant(self.pointer_bits(), at);
        let targets = targets.iter().map(|&(guard, obj, off)| (guard, obj, self.terms.add(off, by))).collect();
        (self.terms.add(ptr, by), targets)
    }

    fn read_word(&mut self, st: &mut State, from: &Located, at: u64, len: u64) -> Value {
        match from {
            Located::One(place) => {
                let place = self.shifted(*place, at);
                self.read_place(st, place, len)
            }
            Located::Among { ptr, targets } => {
                let (ptr, targets) = self.moved_on(*ptr, targets, at);
                self.read_among(st, ptr, &targets, len)
            }
        }
    }

    fn write_word(&mut self, st: &mut State, to: &Located, at: u64, len: u64, v: Value) {
        match to {
            Located::One(place) => {
                let place = self.shifted(*place, at);
                self.write_place(st, place, len, v);
            }
            Located::Among { ptr, targets } => {
                let (ptr, targets) = self.moved_on(*ptr, targets, at);
                self.write_among(st, ptr, &targets, len, v);
            }
        }
    }
}
