//! Sizes of objects that depend on inputs.
//!
//! *Paper*: Memory §5.2.1, §5.4.1 (the modes). *Idea*: an object of symbolic size σ has room for as many bytes as the
//! path allows, and bounds checks compare with σ: one state for all sizes. *Invariant*: σ ≤ capacity holds on the path
//! of every object. *Deviations*: where the path bounds σ by a small number, that is the capacity, and nothing is lost;
//! the paper has a fixed capacity. *Direction*: sizes beyond the capacity are cut, and the run says so. *Checked by*:
//! `tests/fixtures/sizes`, in every mode.

use crate::config::SizeMode;
use crate::flow::{Flow, Step, StepResult};
use crate::machine::Machine;
use pleach_expr::{TermId, Terms, facts};
use pleach_memory::{ObjId, Size, Value};
use pleach_state::{Cut, End, ForkKind, State};

/// A size that the path bounds by this needs no other capacity.
const SMALL: u64 = 4096;

/// What an allocation is for: messages, and bytes of one element.
#[derive(Clone, Copy)]
pub(crate) struct Allocation {
    pub what: &'static str,
    pub element: u64,
}

impl Machine {
    /// The size of a new object of `count` elements. Where the path allows sizes that are not explored, it splits.
    pub(crate) fn size_of_new(
        &mut self,
        st: &mut State,
        count: Value,
        width: u16,
        allocation: Allocation,
    ) -> StepResult<Count> {
        let Allocation { what, element } = allocation;
        if self.config.sizes.mode == SizeMode::Any || self.concrete_number(st, count).is_some() {
            return self.concretize(st, count, width, what).map(Count::Number);
        }
        let t = self.term(st, count, width);
        self.pin_bases(st, t);
        let t = self.substitute_addresses(st, t);
        if let Some(n) = self.terms.as_const(t) {
            return Ok(Count::Number(n));
        }
        debug_assert!(!self.terms.has(t, facts::HAS_BASE));
        let Some(most) = self.most_elements(st, t, what, element)? else {
            return self.concretize(st, count, width, what).map(Count::Number);
        };
        let one = match self.config.sizes.mode {
            SizeMode::Symbolic => {
                let k = self.terms.constant(self.terms.width(t), most);
                let only = self.terms.eq(t, k);
                if self.entails_now(st, only) {
                    return Ok(Count::Number(most));
                }
                return Ok(Count::Symbolic { count: t, most });
            }
            SizeMode::Fork => return self.each_value(st, count, width, what).map(Count::Number),
            SizeMode::Max => Some(most),
            SizeMode::Min => self.least(st, t, most),
            SizeMode::Any => None,
        };
        match one {
            Some(n) => self.only_value(st, t, n, what).map(Count::Number),
            None => self.concretize(st, count, width, what).map(Count::Number),
        }
    }

    /// The largest number of elements to be explored; `None`: none of them fits, or the solver does not say. What lies
    /// beyond is cut.
    fn most_elements(&mut self, st: &mut State, t: TermId, what: &str, element: u64) -> StepResult<Option<u64>> {
        let element = element.max(1);
        let capacity = self.config.sizes.capacity.max(1);
        let small = SMALL.max(capacity) / element;
        match self.can_exceed(st, t, small) {
            Some(false) => return Ok(self.largest(st, t, small)),
            Some(true) => {}
            None => return Ok(None),
        }
        let mut bytes = capacity;
        let most = loop {
            if bytes > self.config.max_alloc {
                return Ok(None);
            }
            let most = bytes / element;
            match self.can_be_at_most(st, t, most).and_then(|can| Some(can && self.can_be_some(st, t, most)?)) {
                Some(true) => break most,
                Some(false) => bytes = bytes.saturating_mul(2),
                None => return Ok(None),
            }
        };
        if most > small {
            // All sizes are large: one of them stands for the others.
            return Ok(None);
        }
        // INCOMPLETE: larger objects are not explored.
        let k = self.terms.constant(self.terms.width(t), most);
        let within = self.terms.ule(t, k);
        let what = format!("{what} beyond {} bytes (--capacity)", most * element);
        self.cut_unless(st, within, &what)?;
        Ok(self.largest(st, t, most))
    }

    /// The condition holds; where it need not, the other side is cut.
    fn cut_unless(&mut self, st: &mut State, condition: TermId, what: &str) -> StepResult<()> {
        use crate::feasibility::Feasibility;
        match self.decide(st, condition) {
            Feasibility::True => Ok(()),
            Feasibility::Both(yes, no) => {
                let end = End::Cut(Cut::Concretized(what.into()));
                Err(self.split(st, vec![(no, Some(end)), (yes, None)], ForkKind::Other))
            }
            Feasibility::OtherUnknown { holds: true, side, why } => {
                Err(self.split_with_unknown(st, side, None, false, &why))
            }
            Feasibility::OtherUnknown { holds: false, why, .. } => Err(Flow::cut(Cut::Solver(why.to_string()))),
            Feasibility::False => Err(Flow::Stop(Step::End(End::Cut(Cut::Concretized(what.into()))))),
        }
    }

    /// Of all values only this one is explored.
    fn only_value(&mut self, st: &mut State, t: TermId, n: u64, what: &str) -> StepResult<u64> {
        let k = self.terms.constant(self.terms.width(t), n);
        let same = self.terms.eq(t, k);
        self.cut_unless(st, same, &format!("{what} other than the {}", self.config.sizes.mode.superlative()))?;
        Ok(n)
    }

    fn entails_now(&mut self, st: &mut State, t: TermId) -> bool {
        matches!(self.decide(st, t), crate::feasibility::Feasibility::True)
    }

    /// Whether the value can be larger than this; `None`: the solver does not say.
    fn can_exceed(&mut self, st: &mut State, t: TermId, n: u64) -> Option<bool> {
        let w = self.terms.width(t);
        if w < 64 && n >= pleach_expr::mask(w) {
            return Some(false);
        }
        let k = self.terms.constant(w, n);
        let above = self.terms.ult(k, t);
        self.is_satisfiable(st, above).ok().map(|side| side.is_some())
    }

    /// Whether the value can be 1 to `n`, or can only be 0.
    fn can_be_some(&mut self, st: &mut State, t: TermId, n: u64) -> Option<bool> {
        let w = self.terms.width(t);
        let (zero, k) = (self.terms.constant(w, 0), self.terms.constant(w, n.min(pleach_expr::mask(w))));
        let (some, below) = (self.terms.ne(t, zero), self.terms.ule(t, k));
        let here = self.terms.and(some, below);
        self.is_satisfiable(st, here).ok().map(|side| side.is_some())
    }

    fn can_be_at_most(&mut self, st: &mut State, t: TermId, n: u64) -> Option<bool> {
        let w = self.terms.width(t);
        if w < 64 && n >= pleach_expr::mask(w) {
            return Some(true);
        }
        let k = self.terms.constant(w, n);
        let below = self.terms.ule(t, k);
        self.is_satisfiable(st, below).ok().map(|side| side.is_some())
    }

    /// The largest value, which is at most `high`.
    fn largest(&mut self, st: &mut State, t: TermId, high: u64) -> Option<u64> {
        let (mut lo, mut hi) = (0, high.min(pleach_expr::mask(self.terms.width(t))));
        while lo < hi {
            let mid = lo + (hi - lo) / 2;
            if self.can_exceed(st, t, mid)? {
                lo = mid + 1;
            } else {
                hi = mid;
            }
        }
        Some(lo)
    }

    /// The smallest value, which is at most `high`.
    fn least(&mut self, st: &mut State, t: TermId, high: u64) -> Option<u64> {
        let (mut lo, mut hi) = (0, high);
        while lo < hi {
            let mid = lo + (hi - lo) / 2;
            if self.can_be_at_most(st, t, mid)? {
                hi = mid;
            } else {
                lo = mid + 1;
            }
        }
        Some(lo)
    }

    /// The size of an object, as the program may ask for it.
    pub(crate) fn size_value(&mut self, st: &State, obj: ObjId) -> Value {
        let size = st.memory.header(obj).map_or(Size::Fixed(0), |o| o.size());
        match size {
            Size::Fixed(n) => Value::Int(n),
            Size::Symbolic { size, .. } => Value::from_term(&self.terms, size),
        }
    }

    /// What the path does not allow any more of an object is not read: its capacity is the largest size that is left.
    ///
    /// *Paper*: Memory §5.2.4. What lies behind the end would stay in the terms of reads at symbolic offsets.
    pub(crate) fn narrow(&mut self, st: &mut State, obj: ObjId) {
        let Some(Size::Symbolic { size, capacity }) = st.memory.header(obj).map(|o| o.size()) else { return };
        let Some(below) = capacity.checked_sub(1) else { return };
        if self.can_exceed(st, size, below) != Some(false) {
            return;
        }
        let Some(most) = self.largest(st, size, below) else { return };
        let k = self.terms.constant(self.terms.width(size), most);
        let only = self.terms.eq(size, k);
        match self.entails_now(st, only) {
            true => st.memory.fix_size(obj, most),
            false => st.memory.narrow(obj, most),
        }
    }

    /// The object has one size from here on; what else it could have is cut.
    pub(crate) fn fix_size(&mut self, st: &mut State, obj: ObjId, what: &str) -> StepResult<()> {
        if let Some(Size::Symbolic { size, .. }) = st.memory.header(obj).map(|o| o.size()) {
            let n = self.concretize(st, Value::Term(size), self.terms.width(size), what)?;
            st.memory.fix_size(obj, n);
        }
        Ok(())
    }

    /// The size of an object as a number. Where the path allows several, it splits; none is lost.
    pub(crate) fn each_size(&mut self, st: &mut State, obj: ObjId) -> StepResult<u64> {
        match st.memory.header(obj).map_or(Size::Fixed(0), |o| o.size()) {
            Size::Fixed(n) => Ok(n),
            Size::Symbolic { size, .. } => {
                let w = self.terms.width(size);
                let n = self.each_value(st, Value::Term(size), w, "the size of an object")?;
                st.memory.fix_size(obj, n);
                Ok(n)
            }
        }
    }
}

/// How many elements a new object has.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Count {
    Number(u64),
    /// at most `most` on the path
    Symbolic {
        count: TermId,
        most: u64,
    },
}

impl Count {
    pub fn most(self) -> u64 {
        match self {
            Count::Number(n) | Count::Symbolic { most: n, .. } => n,
        }
    }

    /// The size in bytes of that many elements.
    pub fn bytes(self, terms: &mut Terms, element: u64) -> Option<Size> {
        match self {
            Count::Number(n) => n.checked_mul(element).map(Size::Fixed),
            Count::Symbolic { count, most } => {
                let w = terms.pointer_bits;
                let (count, element_size) = (terms.resize_unsigned(count, w), terms.constant(w, element));
                // SOUND: `most` elements do not wrap around, and there are no more.
                Some(Size::Symbolic { size: terms.mul(count, element_size), capacity: most.checked_mul(element)? })
            }
        }
    }
}
