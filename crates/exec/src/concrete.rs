//! What instructions do to concrete values: no terms, no allocation, no solver.
//!
//! *Contract* of all: a result, or nothing has changed and the file of the instruction's family does it.

use pleach_expr::{mask, sign_extend};
use pleach_ir::{BinOp, CastOp, CmpOp, Opnd, OpndKind, Scaled, Target, Ty, flags};
use pleach_memory::{AddressSpace, ObjId, Value};
use pleach_state::{Access, History};

/// What a load or a store is of.
#[derive(Clone, Copy)]
pub(crate) struct Accessed {
    pub ty: Ty,
    /// the exponent of the alignment that it needs
    pub align: u8,
    pub pointer: Value,
}

#[inline(always)]
pub(crate) fn operand(regs: &[Value], consts: &[Value], o: Opnd) -> Value {
    match o.kind() {
        OpndKind::Slot(s) => regs[s.index()],
        OpndKind::Const(c) => consts[c as usize],
    }
}

#[inline(always)]
pub(crate) fn binary(op: BinOp, fl: u8, width: u16, x: Value, y: Value, check_overflow: bool) -> Option<Value> {
    let (Value::Int(x), Value::Int(y)) = (x, y) else { return None };
    if check_overflow && fl & flags::NSW != 0 {
        return None;
    }
    pleach_semantics::concrete(op, width, x, y).map(Value::Int)
}

#[inline(always)]
pub(crate) fn compare(op: CmpOp, width: u16, x: Value, y: Value) -> Option<Value> {
    let (Value::Int(x), Value::Int(y)) = (x, y) else { return None };
    Some(Value::Int(u64::from(pleach_semantics::compare(op, width, x, y))))
}

#[inline(always)]
pub(crate) fn cast(op: CastOp, from: u16, to: u16, v: Value) -> Option<Value> {
    match (op, v) {
        (CastOp::SExt, Value::Int(x)) if to <= 64 => Some(Value::Int(sign_extend(x, from) as u64 & mask(to))),
        (_, Value::Int(x)) if to <= 64 => Some(Value::Int(x & mask(to))),
        (CastOp::PtrToInt | CastOp::IntToPtr, Value::Ptr { .. }) if from == to => Some(v),
        _ => None,
    }
}

/// `base + offset + Σ index · scale`
#[inline(always)]
pub(crate) fn address(
    regs: &[Value],
    consts: &[Value],
    (base, offset): (Value, i64),
    parts: &[Scaled],
) -> Option<Value> {
    let Value::Ptr { obj, off } = base else { return None };
    let mut sum = off.wrapping_add(offset);
    for s in parts {
        let Value::Int(i) = operand(regs, consts, s.index) else { return None };
        sum = sum.wrapping_add(sign_extend(i, s.width).wrapping_mul(s.scale));
    }
    Some(Value::Ptr { obj, off: sum })
}

/// Whether it was done.
#[inline(always)]
pub(crate) fn load<const RECORD: bool>(
    target: &Target,
    memory: &AddressSpace,
    history: &mut History,
    accessed: Accessed,
    to: &mut Value,
) -> bool {
    let Value::Ptr { obj, off } = accessed.pointer else { return false };
    let n = u64::from(target.store_bytes(accessed.ty));
    let low = (1u64 << accessed.align) - 1;
    let Some(o) = memory.get(obj) else { return false };
    let inside = off >= 0 && (off as u64).saturating_add(n) <= o.sure() && n <= 8;
    if !inside || off as u64 & low != 0 || o.align <= low {
        return false;
    }
    if let Some(v) = o.contents.read_concrete(off as u64, n as usize) {
        *to = Value::Int(v & mask(target.bits(accessed.ty)));
    } else if let Some(v) = o.contents.read_cell(off as u64, n as usize) {
        *to = v;
    } else {
        return false;
    }
    record::<RECORD>(history, obj, off);
    true
}

/// Whether it was done.
#[inline(always)]
pub(crate) fn store<const RECORD: bool>(
    target: &Target,
    memory: &mut AddressSpace,
    history: &mut History,
    accessed: Accessed,
    value: Value,
) -> bool {
    let (Value::Ptr { obj, off }, Value::Int(v)) = (accessed.pointer, value) else { return false };
    let n = u64::from(target.store_bytes(accessed.ty));
    let low = (1u64 << accessed.align) - 1;
    let Some(o) = memory.get_mut(obj) else { return false };
    let inside = off >= 0 && (off as u64).saturating_add(n) <= o.sure();
    let allowed = inside && off as u64 & low == 0 && o.align > low && !o.readonly;
    if !allowed || !o.contents.write_concrete(off as u64, n as usize, v) {
        return false;
    }
    record::<RECORD>(history, obj, off);
    true
}

#[inline(always)]
fn record<const RECORD: bool>(history: &mut History, obj: ObjId, off: i64) {
    if RECORD {
        history.access(Access::At { obj, off: off as u64 });
    }
}
