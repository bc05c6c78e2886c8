//! Values of a state as a person reads them.

use pleach_exec::Machine;
use pleach_expr::{Model, SymbolKind, TermId, sign_extend};
use pleach_ir::types::{DebugType, Encoding};
use pleach_ir::{Function, Inst, Program, Ty, TypeId};
use pleach_memory::{ObjId, Value};
use pleach_prune::ConditionPrinter;
use pleach_state::access_path::frames;
use pleach_state::{Frame, State};
use rustc_hash::FxHashMap;

/// Deeper terms are not worth reading.
const DEPTH: u32 = 12;

/// What symbolic variables and objects are called.
pub struct Names {
    terms: FxHashMap<TermId, String>,
    objects: FxHashMap<ObjId, String>,
    /// values that satisfy the path constraint, if there is to be one value for each variable
    model: Option<Model>,
}

/// A variable of a frame.
pub struct Variable {
    pub name: String,
    pub value: String,
    /// the object that it is, or that it points to
    pub object: Option<ObjId>,
}

impl Names {
    pub fn of(machine: &mut Machine, state: &State) -> Names {
        let mut terms = FxHashMap::default();
        for input in state.inputs.in_order() {
            match machine.terms.symbols.kind(input.symbol) {
                SymbolKind::Bits(_) => drop(terms.insert(machine.terms.var(input.symbol), input.name.clone())),
                SymbolKind::Array { len, .. } => {
                    let array = machine.terms.array_var(input.symbol);
                    for i in 0..len.min(4096) {
                        let index = machine.terms.constant(pleach_expr::INDEX_BITS, u64::from(i));
                        let name = if len == 1 { input.name.clone() } else { format!("{}[{i}]", input.name) };
                        terms.insert(machine.terms.read(array, index), name);
                    }
                }
            }
        }
        let mut objects = FxHashMap::default();
        for (id, g) in (0..).zip(&machine.program.globals) {
            objects.insert(ObjId(id), g.name.clone());
        }
        for (_, frame) in frames(state) {
            let function = machine.program.function(frame.func);
            for (name, _, obj) in in_memory(function, frame) {
                objects.entry(obj).or_insert_with(|| name.to_owned());
            }
        }
        Names { terms, objects, model: None }
    }

    /// The same, with one value for each symbolic variable.
    pub fn concrete(machine: &mut Machine, state: &State) -> Names {
        let mut model = Model::new();
        for group in state.path.groups() {
            group.keys.iter().for_each(|key| model.set(*key, group.model.get(*key)));
        }
        Names { model: Some(model), ..Names::of(machine, state) }
    }

    /// The path constraint, a line each.
    pub fn constraint(&self, machine: &Machine, state: &State) -> Vec<String> {
        let mut all: Vec<TermId> = state.path.iter().collect();
        all.reverse();
        ConditionPrinter { terms: &machine.terms, names: &self.terms }.lines(&all)
    }

    pub fn object(&self, obj: ObjId) -> String {
        self.objects.get(&obj).cloned().unwrap_or_else(|| format!("object{}", obj.0))
    }

    pub fn value(&self, machine: &Machine, value: Value, bits: u16, signed: bool) -> String {
        match value {
            Value::Int(n) if signed && bits <= 64 && bits > 1 => sign_extend(n, bits).to_string(),
            Value::Int(n) => n.to_string(),
            Value::Ptr { obj, off: 0 } => format!("&{}", self.object(obj)),
            Value::Ptr { obj, off } => format!("&{} + {off}", self.object(obj)),
            Value::Term(t) => match self.model.as_ref().and_then(|m| machine.terms.try_eval(t, m)) {
                Some(n) => self.value(machine, Value::Int(n), bits, signed),
                None => ConditionPrinter { terms: &machine.terms, names: &self.terms }.value(t, DEPTH),
            },
            Value::Undef => "never written".into(),
        }
    }

    /// The variables of a frame that the source names.
    pub fn variables(&self, machine: &Machine, state: &State, frame: &Frame) -> Vec<Variable> {
        let program = machine.program.clone();
        let function = program.function(frame.func);
        let mut out: Vec<Variable> = Vec::new();
        let mut add = |variable: Variable| match out.iter_mut().find(|v| v.name == variable.name) {
            Some(known) => *known = variable,
            None => out.push(variable),
        };
        for (slot, value) in function.slots.iter().zip(&frame.regs) {
            if let Some(name) = slot.name.as_ref().filter(|_| *value != Value::Undef) {
                let signed = slot.debug_type.is_none_or(|t| is_signed(&program, t));
                let text = self.value(machine, *value, program.target.bits(slot.ty), signed);
                add(Variable { name: name.clone(), value: text, object: pointee(*value) });
            }
        }
        for (name, ty, obj) in in_memory(function, frame) {
            let Some(object) = state.memory.get(obj) else { continue };
            let scalar = ty
                .and_then(|t| scalar(&program, t))
                .filter(|(ty, _)| u64::from(program.target.store_bytes(*ty)) <= object.capacity());
            let value = match scalar {
                Some((ty, signed)) => {
                    let bytes = program.target.store_bytes(ty) as usize;
                    let concrete = || object.contents.read_concrete(0, bytes).map(Value::Int);
                    let cell = object.contents.read_cell(0, bytes).or_else(concrete);
                    cell.map(|v| (self.value(machine, v, program.target.bits(ty), signed), pointee(v)))
                }
                None => None,
            };
            let (text, to) = value.unwrap_or_else(|| (format!("{} bytes", object.capacity()), None));
            add(Variable { name: name.to_owned(), value: text, object: to.or(Some(obj)) });
        }
        out
    }
}

fn pointee(value: Value) -> Option<ObjId> {
    match value {
        Value::Ptr { obj, .. } => Some(obj),
        _ => None,
    }
}

/// Variables that live in memory, with the objects they are now.
fn in_memory<'a>(
    function: &'a Function,
    frame: &'a Frame,
) -> impl Iterator<Item = (&'a str, Option<TypeId>, ObjId)> + 'a {
    function.insts.iter().filter_map(|inst| {
        let Inst::Alloca { dst, object, .. } = inst else { return None };
        let described = function.objects.get(*object as usize).filter(|o| !o.name.is_empty())?;
        match frame.regs.get(dst.index())? {
            Value::Ptr { obj, off: 0 } => Some((described.name.as_str(), described.ty, *obj)),
            _ => None,
        }
    })
}

fn is_signed(program: &Program, ty: TypeId) -> bool {
    scalar(program, ty).is_none_or(|(_, signed)| signed)
}

/// A type of one value, and whether it is a signed number.
fn scalar(program: &Program, ty: TypeId) -> Option<(Ty, bool)> {
    match program.types.get(ty.index())? {
        DebugType::Named { of: Some(of), .. } => scalar(program, *of),
        DebugType::Base { bits, encoding, .. } if *encoding != Encoding::Float => {
            Some((Ty::Int(*bits as u16), matches!(encoding, Encoding::Signed | Encoding::SignedChar)))
        }
        DebugType::Enum { bits, signed, .. } => Some((Ty::Int(*bits as u16), *signed)),
        DebugType::Pointer { .. } => Some((Ty::Ptr, false)),
        _ => None,
    }
}
