//! Which locals live in slots, and what the source calls them.
//!
//! *Invariant*: a promoted local is only ever loaded and stored whole, directly and not volatile, so no address of it
//! exists and no access of it can fail: keeping it in a slot changes no reachable error or branch.

use super::debug::Variable;
use super::emit::Lowering;
use super::layout::scalar;
use crate::llvm::{Attr, Function, Inst, Opcode, Value, ValueKind};
use pleach_ir::{Slot, Ty};
use rustc_hash::FxHashMap;

/// Source variables by the alloca or parameter that holds them.
pub(crate) type Variables<'m> = FxHashMap<Value<'m>, Variable>;

impl<'m> Lowering<'_, 'm> {
    /// Reads the declarations of variables and names the parameters after them.
    pub fn read_variables(&mut self, own_names: bool) -> Variables<'m> {
        let mut variables = Variables::default();
        for inst in self.function.blocks().flat_map(|b| b.insts()).filter(|i| i.is_debug_intrinsic()) {
            let args = inst.call_args();
            let (Some(place), Some(node)) = (args.first(), args.get(1).and_then(|a| a.as_meta())) else { continue };
            let Some(place) = place.meta_operands().first().copied().flatten() else { continue };
            let is_place = place.kind() == ValueKind::Argument || place.opcode() == Some(Opcode::LLVMAlloca);
            if let Some(variable) = self.unit.debug.variable(node).filter(|_| is_place) {
                variables.entry(place).or_insert(variable);
            }
        }
        self.name_params(&variables, own_names);
        variables
    }

    fn name_params(&mut self, variables: &Variables<'m>, own_names: bool) {
        let mut first = 0;
        for p in self.function.params() {
            let count = self.values.get(&p).map_or(0, |v| v.len());
            let variable = variables.get(&p).or_else(|| home_of(p).and_then(|home| variables.get(&home)));
            if let (Some(variable), 1) = (variable, count) {
                let param = &mut self.out.params[first];
                param.name = variable.name.clone().filter(|_| !own_names || !p.name().is_empty());
                param.debug_type = variable.ty;
                let slot = &mut self.out.slots[param.slot.index()];
                slot.name = variable.name.clone();
                slot.debug_type = variable.ty;
            }
            first += count;
        }
    }
}

/// The local that a parameter is stored to.
fn home_of<'m>(param: Value<'m>) -> Option<Value<'m>> {
    param.users().find_map(|user| {
        let stored = user.opcode() == Some(Opcode::LLVMStore) && user.operand(0) == Some(param);
        user.operand(1).filter(|to| stored && to.opcode() == Some(Opcode::LLVMAlloca))
    })
}

/// Gives every local that allows it a slot.
pub(crate) fn promote<'m>(l: &mut Lowering<'_, 'm>, variables: &Variables<'m>, reuse_params: bool) {
    let Some(entry) = l.function.blocks().next() else { return };
    // The first access of each local within the entry block.
    let mut first_access: FxHashMap<Value<'m>, Inst<'m>> = FxHashMap::default();
    let mut locals = Vec::new();
    for inst in entry.insts() {
        match inst.opcode() {
            Opcode::LLVMAlloca if is_promotable(inst) => locals.push(inst),
            Opcode::LLVMLoad => note(&mut first_access, inst.value().operand(0), inst),
            Opcode::LLVMStore => note(&mut first_access, inst.value().operand(1), inst),
            _ => {}
        }
    }
    for local in locals {
        let Some(ty) = local.allocated_type().and_then(scalar) else { continue };
        let param =
            first_access.get(&local.value()).filter(|_| reuse_params).and_then(|store| param_to_reuse(l, *store));
        let slot = param.unwrap_or_else(|| l.slot(ty));
        l.mutable[slot.index()] = true;
        if let Some(variable) = variables.get(&local.value()) {
            let info = &mut l.out.slots[slot.index()];
            info.name = variable.name.clone();
            info.debug_type = variable.ty;
        }
        l.promoted.insert(local.value(), slot);
    }
}

fn note<'m>(first: &mut FxHashMap<Value<'m>, Inst<'m>>, place: Option<Value<'m>>, inst: Inst<'m>) {
    if let Some(place) = place {
        first.entry(place).or_insert(inst);
    }
}

/// A parameter that is only copied to its local before the local is looked at: both can share the slot.
fn param_to_reuse<'m>(l: &Lowering<'_, 'm>, store: Inst<'m>) -> Option<Slot> {
    let value = store.value().operand(0).filter(|_| store.opcode() == Opcode::LLVMStore)?;
    if value.kind() != ValueKind::Argument || value.users().take(2).count() != 1 {
        return None;
    }
    match l.values.get(&value)?.as_slice() {
        [one] => one.as_slot(),
        _ => None,
    }
}

/// Whether an optimiser was at work, which nothing in a module says: no local is left that a slot could hold, and no
/// parameter is stored in one, as the compiler does with all but structures; where it does not optimise it forbids
/// inlining everywhere.
pub(crate) fn is_optimised(f: Function<'_>) -> bool {
    let locals = f.blocks().next().into_iter().flat_map(|b| b.insts()).filter(|i| i.opcode() == Opcode::LLVMAlloca);
    let untouched = locals.into_iter().any(is_promotable) || f.params().into_iter().any(|p| home_of(p).is_some());
    let plain = f.params().into_iter().any(|p| scalar(p.ty()) != Some(Ty::Ptr));
    !untouched && (plain || !f.has(Attr::NoInline))
}

fn is_promotable(alloca: Inst<'_>) -> bool {
    let Some(ty) = alloca.allocated_type() else { return false };
    let single = alloca.value().operand(0).and_then(Value::as_u64) == Some(1);
    scalar(ty).is_some() && single && alloca.value().users().all(|user| keeps_private(user, alloca))
}

fn keeps_private(user: Value<'_>, alloca: Inst<'_>) -> bool {
    let Some(inst) = user.as_inst() else { return false };
    let ty = alloca.allocated_type();
    match inst.opcode() {
        Opcode::LLVMLoad => !inst.is_volatile() && Some(inst.ty()) == ty,
        Opcode::LLVMStore => {
            let value = user.operand(0);
            !inst.is_volatile() && value != Some(alloca.value()) && value.map(Value::ty) == ty
        }
        Opcode::LLVMCall => lifetime_mark(inst).is_some(),
        _ => false,
    }
}

/// Whether an instruction only sees to where control goes when a scope is left: the compiler keeps that in a local that
/// the source does not have, stores constants there and switches on them.
pub(crate) fn leaves_scope(inst: Inst<'_>, variables: &Variables<'_>) -> bool {
    let first = inst.value().operand(0);
    match inst.opcode() {
        Opcode::LLVMStore => inst.value().operand(1).is_some_and(|to| holds_exit(to, variables)),
        Opcode::LLVMLoad => first.is_some_and(|from| holds_exit(from, variables)),
        Opcode::LLVMSwitch | Opcode::LLVMICmp => {
            first.and_then(Value::as_inst).is_some_and(|i| i.opcode() == Opcode::LLVMLoad && leaves_scope(i, variables))
        }
        Opcode::LLVMBr => {
            let compared = inst.condition().and_then(Value::as_inst);
            compared.is_some_and(|i| i.opcode() == Opcode::LLVMICmp && leaves_scope(i, variables))
        }
        _ => false,
    }
}

fn holds_exit(place: Value<'_>, variables: &Variables<'_>) -> bool {
    let decides = |v: Value<'_>| matches!(v.opcode(), Some(Opcode::LLVMSwitch | Opcode::LLVMICmp));
    place.opcode() == Some(Opcode::LLVMAlloca)
        && !variables.contains_key(&place)
        && place.users().all(|user| match user.opcode() {
            Some(Opcode::LLVMStore) => user.operand(0).is_some_and(|v| v.kind() == ValueKind::Int),
            Some(Opcode::LLVMLoad) => user.users().all(decides),
            _ => false,
        })
        && place.users().any(|user| user.opcode() == Some(Opcode::LLVMLoad))
}

/// Whether a call marks the beginning of a local's scope (`true`) or its end.
pub(crate) fn lifetime_mark(inst: Inst<'_>) -> Option<bool> {
    let called = if inst.opcode() == Opcode::LLVMCall { inst.called() } else { None };
    let name = called.and_then(Value::as_function)?.name();
    let kind = name.strip_prefix("llvm.lifetime.")?;
    Some(kind.starts_with("start"))
}
