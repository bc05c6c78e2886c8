//! Variables, slots and operands as terms; pointers and the numbers made of them.

use crate::cut::CutReason;
use crate::graph::FrameId;
use crate::pointers::{Group, GroupId};
use crate::transfer::{Here, Translator, Value};
use crate::variables::{Var, symbol};
use pleach_expr::{SymbolKind, TermId, Terms};
use pleach_ir::{Const, Function, Opnd, OpndKind, Slot, Symbol, Ty};

impl Translator<'_> {
    /// Any value.
    pub fn any(&mut self, width: u16) -> TermId {
        self.fresh += 1;
        symbol(self.terms, &format!("any{}", self.fresh), SymbolKind::Bits(width))
    }

    pub fn any_value(&mut self, ty: Ty) -> Value {
        match ty {
            Ty::Ptr => Value::Pointer { reference: self.any(self.layout.ref_bits), offset: self.any(64) },
            ty => Value::Bits(self.any(self.program.target.bits(ty))),
        }
    }

    pub fn any_array(&mut self, element: u16) -> TermId {
        self.fresh += 1;
        symbol(self.terms, &format!("any{}", self.fresh), SymbolKind::total(element))
    }

    pub fn read_var(&mut self, here: &Here, var: Var, kind: SymbolKind) -> TermId {
        let id = self.variables.id(var, kind);
        if let Some(&v) = here.values.get(&id) {
            return v;
        }
        match self.known_value(&here.known, id) {
            Some(v) => v,
            None => self.variables.term(self.terms, id, 0),
        }
    }

    pub fn write_var(&mut self, here: &mut Here, var: Var, kind: SymbolKind, v: TermId) {
        let id = self.variables.id(var, kind);
        here.values.insert(id, v);
    }

    /// The value of a slot.
    pub fn slot(&mut self, here: &Here, s: Slot) -> Value {
        let ty = here.f.slots[s.index()].ty;
        if ty != Ty::Ptr {
            let width = self.program.target.bits(ty);
            return Value::Bits(self.read_var(here, Var::Slot(here.frame, s), SymbolKind::Bits(width)));
        }
        let reference = self.read_var(here, Var::Ref(here.frame, s), SymbolKind::Bits(self.layout.ref_bits));
        let id = self.variables.id(Var::Off(here.frame, s), SymbolKind::Bits(64));
        let known = here.start.get(&(here.frame, s)).and_then(|p| p.offset).and_then(|o| o.as_known());
        let offset = match (here.values.get(&id), known) {
            (Some(&v), _) => v,
            (None, Some(k)) => self.terms.constant(64, k as u64),
            (None, None) => self.read_var(here, Var::Off(here.frame, s), SymbolKind::Bits(64)),
        };
        Value::Pointer { reference, offset }
    }

    pub fn set(&mut self, here: &mut Here, s: Slot, v: Value) {
        let (frame, f) = (here.frame, here.f);
        self.set_in(here, frame, f, s, v);
    }

    pub fn set_in(&mut self, here: &mut Here, frame: FrameId, f: &Function, s: Slot, v: Value) {
        let ty = f.slots[s.index()].ty;
        match (ty, v) {
            (Ty::Ptr, Value::Pointer { reference, offset }) => {
                self.write_var(here, Var::Ref(frame, s), SymbolKind::Bits(self.layout.ref_bits), reference);
                self.write_var(here, Var::Off(frame, s), SymbolKind::Bits(64), offset);
            }
            (Ty::Ptr, Value::Bits(t)) => {
                let v = self.pointer_of(here, t);
                self.set_in(here, frame, f, s, v);
            }
            (ty, Value::Bits(t)) => {
                let width = self.program.target.bits(ty);
                let t = self.terms.resize_unsigned(t, width);
                self.write_var(here, Var::Slot(frame, s), SymbolKind::Bits(width), t);
            }
            (ty, Value::Pointer { reference, offset }) => {
                let width = self.program.target.bits(ty);
                let t = self.number_of(here, reference, offset);
                let t = self.terms.resize_unsigned(t, width);
                self.write_var(here, Var::Slot(frame, s), SymbolKind::Bits(width), t);
            }
        }
    }

    pub fn null(&mut self) -> Value {
        Value::Pointer { reference: self.terms.constant(self.layout.ref_bits, 0), offset: self.terms.constant(64, 0) }
    }

    pub fn reference(&mut self, g: GroupId) -> TermId {
        let (first, _) = self.layout.ranges[g.index()];
        self.terms.constant(self.layout.ref_bits, first as u64)
    }

    pub fn value(&mut self, here: &mut Here, o: Opnd, ty: Ty) -> Value {
        let v = match o.kind() {
            OpndKind::Slot(s) => self.slot(here, s),
            OpndKind::Const(c) => match here.f.consts[c as usize].clone() {
                Const::Int { value: 0, .. } if ty == Ty::Ptr => self.null(),
                Const::Int { width, value } => Value::Bits(self.terms.constant(width, value)),
                Const::Wide { width, limbs } => Value::Bits(self.terms.wide_constant(width, &limbs)),
                Const::Undef { .. } => self.any_value(ty),
                Const::Addr { symbol, addend } => {
                    let group = match symbol {
                        Symbol::Global(g) => self.pointers.find(Group::Global(g)),
                        Symbol::Function(f) => self.pointers.find(Group::Function(f)),
                        Symbol::Block(..) => None,
                    };
                    match group {
                        Some(g) => {
                            let offset = self.terms.constant(64, addend as u64);
                            Value::Pointer { reference: self.reference(g), offset }
                        }
                        None => {
                            self.unsupported(here, "the address of a label");
                            self.any_value(Ty::Ptr)
                        }
                    }
                }
            },
        };
        match (ty, v) {
            (Ty::Ptr, Value::Bits(t)) => self.pointer_of(here, t),
            _ => v,
        }
    }

    pub fn bits(&mut self, here: &mut Here, o: Opnd, width: u16) -> TermId {
        match self.value(here, o, Ty::Int(width)) {
            Value::Bits(t) => self.terms.resize_unsigned(t, width),
            Value::Pointer { reference, offset } => {
                let t = self.number_of(here, reference, offset);
                self.terms.resize_unsigned(t, width)
            }
        }
    }

    pub fn pointer(&mut self, here: &mut Here, o: Opnd) -> (TermId, TermId) {
        match self.value(here, o, Ty::Ptr) {
            Value::Pointer { reference, offset } => (reference, offset),
            Value::Bits(_) => (self.any(self.layout.ref_bits), self.any(64)),
        }
    }

    /// A pointer as a number: any number, but 0 only for null.
    pub fn number_of(&mut self, here: &mut Here, reference: TermId, offset: TermId) -> TermId {
        let t = self.any(64);
        let (none, zero) = (self.terms.constant(self.layout.ref_bits, 0), self.terms.constant(64, 0));
        let is_null = self.terms.eq(reference, none);
        let at_zero = self.terms.eq(offset, zero);
        let is_null = self.terms.and(is_null, at_zero);
        let is_zero = self.terms.eq(t, zero);
        let same = self.terms.eq(is_null, is_zero);
        self.assume(here, same);
        self.numbers.insert(t, (reference, offset));
        t
    }

    pub fn pointer_of(&mut self, here: &mut Here, t: TermId) -> Value {
        if let Some(&(reference, offset)) = self.numbers.get(&t) {
            return Value::Pointer { reference, offset };
        }
        if self.terms.as_const(t) == Some(0) {
            return self.null();
        }
        let what = "a number becomes a pointer".to_owned();
        self.approximate(here, Terms::TRUE, CutReason::Unsupported(what));
        self.any_value(Ty::Ptr)
    }

    pub fn is_pointer(&self, f: &Function, o: Opnd) -> bool {
        match o.kind() {
            OpndKind::Slot(s) => f.slots[s.index()].ty == Ty::Ptr,
            OpndKind::Const(c) => matches!(f.consts[c as usize], Const::Addr { .. }),
        }
    }
}
