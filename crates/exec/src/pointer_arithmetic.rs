//! Arithmetic on pointers without a term, and the numbers behind concrete values.

use crate::machine::Machine;
use pleach_expr::{mask, sign_extend};
use pleach_ir::BinOp;
use pleach_memory::Value;
use pleach_state::State;

impl Machine {
    /// Pointer arithmetic that keeps the base, and comparisons of addresses, without a term.
    pub(crate) fn pointer_bin(&self, op: BinOp, width: u16, a: Value, b: Value) -> Option<Value> {
        if width != self.pointer_bits() {
            return None;
        }
        match (op, a, b) {
            (BinOp::Add, Value::Ptr { obj, off }, Value::Int(k))
            | (BinOp::Add, Value::Int(k), Value::Ptr { obj, off }) => {
                Some(Value::Ptr { obj, off: off.wrapping_add(sign_extend(k, width)) })
            }
            (BinOp::Sub, Value::Ptr { obj, off }, Value::Int(k)) => {
                Some(Value::Ptr { obj, off: off.wrapping_sub(sign_extend(k, width)) })
            }
            (BinOp::Sub, Value::Ptr { obj, off }, Value::Ptr { obj: o2, off: f2 }) if obj == o2 => {
                Some(Value::Int(off.wrapping_sub(f2) as u64 & mask(width)))
            }
            _ => None,
        }
    }

    /// The number behind a concrete value: pointers show their hidden address.
    pub(crate) fn concrete_number(&self, st: &State, v: Value) -> Option<u64> {
        match v {
            Value::Int(x) => Some(x),
            Value::Ptr { obj, off } => {
                Some(st.memory.address(obj).wrapping_add(off as u64) & mask(self.pointer_bits()))
            }
            _ => None,
        }
    }
}
