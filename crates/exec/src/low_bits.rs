//! The low bits of pointers.
//!
//! *Idea*: an object that lies at a multiple of 16 has four low bits that are 0 wherever it lies, so those of `β + x`
//! are the low bits of `x`. A pointer that the program rounds up to a multiple of its alignment (an obstack does so for
//! every object in it), marks, or whose mark it tests stays a base and an offset, and its target is read off it.
//! Through a choice between pointers the operation goes to each. *Invariant*: holds for every address layout with the
//! objects' alignments. *Direction*: loses nothing; gives up (`None`) on anything else.

use crate::machine::Machine;
use pleach_expr::{BaseId, Op, TermId, facts, mask};
use pleach_ir::BinOp;
use pleach_memory::{ObjId, ObjectEntry, Value};
use pleach_state::State;

/// At most this many pointers of a choice are visited.
const LEAVES: u32 = 64;

/// `_ op k`, `k` a constant.
#[derive(Clone, Copy)]
struct KnownLowBits {
    op: BinOp,
    k: u64,
    /// the operation changes, or keeps, bits below this only
    below: u64,
    /// the base is a part of the result
    keep: bool,
}

impl KnownLowBits {
    fn new(op: BinOp, width: u16, k: u64) -> Option<KnownLowBits> {
        Some(match op {
            BinOp::And if k >> (width - 1) & 1 == 1 => KnownLowBits { op, k, below: !k & mask(width), keep: true },
            BinOp::And => KnownLowBits { op, k, below: k, keep: false },
            BinOp::Or | BinOp::Xor => KnownLowBits { op, k, below: k, keep: true },
            BinOp::URem if k.is_power_of_two() => KnownLowBits { op: BinOp::And, k: k - 1, below: k - 1, keep: false },
            _ => return None,
        })
    }
}

impl Machine {
    /// `a op b`, one a pointer and the other a constant that is about its low bits alone.
    pub(crate) fn low_bits(&mut self, st: &State, op: BinOp, width: u16, a: Value, b: Value) -> Option<Value> {
        if width != self.pointer_bits() {
            return None;
        }
        let (pointer, k) = match (a, b) {
            (_, Value::Int(k)) => (a, k),
            (Value::Int(k), _) if op != BinOp::URem => (b, k),
            _ => return None,
        };
        let low = KnownLowBits::new(op, width, k)?;
        match pointer {
            Value::Ptr { obj, off } => {
                if low.below >= alignment(st, obj) {
                    return None;
                }
                let bits = pleach_semantics::concrete(low.op, width, off as u64 & mask(width), low.k)?;
                Some(if low.keep { Value::ptr(obj, pleach_expr::sign_extend(bits, width)) } else { Value::Int(bits) })
            }
            Value::Term(t) if self.terms.has(t, facts::HAS_BASE) => {
                let zero = self.terms.constant(width, 0);
                let t = self.low_bits_of(st, low, t, zero, &mut LEAVES.clone())?;
                Some(Value::from_term(&self.terms, t))
            }
            _ => None,
        }
    }

    /// `(pointer + plus) op k`.
    fn low_bits_of(
        &mut self,
        st: &State,
        low: KnownLowBits,
        pointer: TermId,
        plus: TermId,
        left: &mut u32,
    ) -> Option<TermId> {
        let n = self.terms.node(pointer);
        let (a, b) = (n.arg_a(), n.arg_b());
        let apply = |m: &mut Machine, x: TermId| {
            let k = m.terms.constant(n.width, low.k);
            pleach_semantics::bin_term(&mut m.terms, low.op, x, k)
        };
        if !self.terms.has(pointer, facts::HAS_BASE) {
            *left = left.checked_sub(1)?;
            let sum = self.terms.add(pointer, plus);
            return Some(apply(self, sum));
        }
        match n.op {
            Op::Base if low.below < alignment(st, BaseId(n.a)) => {
                *left = left.checked_sub(1)?;
                let offset = apply(self, plus);
                Some(if low.keep { self.terms.add(pointer, offset) } else { offset })
            }
            Op::Add => {
                let (based, rest) = match (self.terms.has(a, facts::HAS_BASE), self.terms.has(b, facts::HAS_BASE)) {
                    (true, false) => (a, b),
                    (false, true) => (b, a),
                    _ => return None,
                };
                let plus = self.terms.add(plus, rest);
                self.low_bits_of(st, low, based, plus, left)
            }
            Op::Ite => {
                let x = self.low_bits_of(st, low, b, plus, left)?;
                let y = self.low_bits_of(st, low, n.arg_c(), plus, left)?;
                Some(self.terms.ite(a, x, y))
            }
            _ => None,
        }
    }
}

/// Wherever the object lies, its address is a multiple of this power of two.
fn alignment(st: &State, obj: ObjId) -> u64 {
    match st.memory.entry(obj) {
        Some(ObjectEntry::Live(o) | ObjectEntry::InSegment(o, ..) | ObjectEntry::Freed(o))
            if o.align.is_power_of_two() =>
        {
            o.align
        }
        _ => 1,
    }
}
