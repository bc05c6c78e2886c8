//! What a register or a memory cell holds.

use pleach_expr::{BaseId, Op, TermId, Terms, mask};

/// An object is named by its base β.
pub use pleach_expr::BaseId as ObjId;

/// A scalar. Concrete integers and pointers with a concrete offset never touch the term table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// at most 64 bits, zero-extended; the width is known from the instruction
    Int(u64),
    /// exactly `β_obj + off` (two's complement offset)
    Ptr { obj: ObjId, off: i64 },
    /// anything symbolic, and constants wider than 64 bits
    Term(TermId),
    /// never written
    Undef,
}

impl Value {
    pub const NULL: Value = Value::Int(0);

    pub fn ptr(obj: ObjId, off: i64) -> Value {
        Value::Ptr { obj, off }
    }

    /// The term for a decided value. An `Undef` must have been decided before (`None` here).
    pub fn to_term(self, terms: &mut Terms, width: u16) -> Option<TermId> {
        Some(match self {
            Value::Int(v) => terms.constant(width, v),
            Value::Ptr { obj, off } => {
                let pw = terms.pointer_bits;
                let base = terms.base(obj);
                let t = if off == 0 {
                    base
                } else {
                    let o = terms.constant(pw, off as u64);
                    terms.add(base, o)
                };
                terms.resize_unsigned(t, width)
            }
            Value::Term(t) => t,
            Value::Undef => return None,
        })
    }

    /// The cheapest value that equals `t`.
    pub fn from_term(terms: &Terms, t: TermId) -> Value {
        let n = terms.node(t);
        match n.op {
            Op::Const => Value::Int(n.value()),
            Op::Base => Value::Ptr { obj: BaseId(n.a), off: 0 },
            Op::Add => {
                let (x, y) = (terms.node(n.arg_a()), terms.node(n.arg_b()));
                match (x.op, y.op) {
                    (Op::Base, Op::Const) => Value::Ptr { obj: BaseId(x.a), off: signed(y.value(), n.width) },
                    (Op::Const, Op::Base) => Value::Ptr { obj: BaseId(y.a), off: signed(x.value(), n.width) },
                    _ => Value::Term(t),
                }
            }
            _ => Value::Term(t),
        }
    }

    #[inline]
    pub fn is_concrete(self) -> bool {
        matches!(self, Value::Int(_) | Value::Ptr { .. })
    }

    #[inline]
    pub fn int(self) -> Option<u64> {
        match self {
            Value::Int(v) => Some(v),
            _ => None,
        }
    }

    /// Cut to `width` bits if it is an integer.
    pub fn truncated(self, width: u16) -> Value {
        match self {
            Value::Int(v) => Value::Int(v & mask(width)),
            other => other,
        }
    }
}

fn signed(v: u64, width: u16) -> i64 {
    pleach_expr::sign_extend(v, width)
}
