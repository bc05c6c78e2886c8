//! What an access needs besides a valid pointer: an aligned address, and for copies ranges that do not overlap.

use crate::transformer::{NoInterpolant, WpResult, WpTransformer};
use pleach_expr::{Op, TermId, Terms};
use pleach_memory::symbolic::trailing_zeros;
use pleach_semantics::disjoint;
use pleach_state::Access;

impl WpTransformer<'_> {
    /// The address is a multiple of 2^align. Summands that are such multiples say nothing, bases among them: objects
    /// lie at multiples of 16.
    pub fn aligned(&mut self, ptr: TermId, align: u8) -> TermId {
        let (mut todo, mut rest) = (vec![ptr], Terms::FALSE);
        let mut any = false;
        while let Some(t) = todo.pop() {
            let n = self.terms.node(t);
            if n.op == Op::Add {
                todo.extend([n.arg_a(), n.arg_b()]);
            } else if n.op != Op::Base && trailing_zeros(self.terms, t) < u16::from(align) {
                rest = if any { self.terms.add(rest, t) } else { t };
                any = true;
            }
        }
        if align == 0 || !any {
            return Terms::TRUE;
        }
        let low = self.terms.extract(rest, 0, align.into());
        let zero = self.terms.constant(align.into(), 0);
        self.terms.eq(low, zero)
    }

    pub(crate) fn require_aligned(&mut self, ptr: TermId, align: u8) {
        let aligned = self.aligned(ptr, align);
        self.require(aligned);
    }

    /// The ranges of a copy of `n` bytes do not overlap: they lie in different objects, or far enough from each other.
    pub(crate) fn require_disjoint(&mut self, d: TermId, s: TermId, n: TermId, access: &Access) -> WpResult<()> {
        let (to, from) = match *access {
            Access::Empty => return Ok(()),
            Access::Copy { to, from, .. } | Access::CopyWithin { to, from, .. } => (to, from),
            Access::CopyUpTo { to, from, .. } => (to.obj, from.obj),
            _ => return Err(NoInterpolant::CopyAtSymbolicOffset),
        };
        if to == from {
            let separate = disjoint(self.terms, d, s, n);
            self.require(separate);
            return Ok(());
        }
        // Different object variables are different objects.
        self.require_pointer(d, to, None, 0, true)?;
        self.require_pointer(s, from, None, 0, false)
    }
}
