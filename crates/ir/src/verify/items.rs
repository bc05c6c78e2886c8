//! The target, globals, debug types, constructors.

use crate::ids::TypeId;
use crate::program::{Global, Init, Program, Symbol};
use crate::types::DebugType;
use rustc_hash::FxHashSet;

pub(super) fn check(p: &Program, errors: &mut Vec<String>) {
    if !matches!(p.target.pointer_bytes, 4 | 8) {
        errors.push(format!("target: pointers of {} bytes", p.target.pointer_bytes));
    }
    let mut names = FxHashSet::default();
    for f in &p.functions {
        if !names.insert(f.name.as_str()) {
            errors.push(format!("function @{}: the name is taken", f.name));
        }
    }
    for (what, list) in [("constructor", &p.constructors), ("destructor", &p.destructors)] {
        for id in list.iter().filter(|id| id.index() >= p.functions.len()) {
            errors.push(format!("{what}: no function {}", id.0));
        }
    }
    for g in &p.globals {
        global(p, g, |message| errors.push(format!("global ${}: {message}", g.name)));
    }
    for (i, ty) in p.types.iter().enumerate() {
        each_type(ty, |t| {
            if t.index() >= p.types.len() {
                errors.push(format!("type !{i}: no type !{}", t.0));
            }
        });
    }
}

fn global(p: &Program, g: &Global, mut report: impl FnMut(String)) {
    if g.ty.is_some_and(|t| t.index() >= p.types.len()) {
        report("its type is out of range".to_owned());
    }
    if g.align != 0 && !g.align.is_power_of_two() {
        report(format!("alignment {} is no power of two", g.align));
    }
    let Init::Bytes { bytes, relocs } = &g.init else { return };
    if bytes.len() as u64 != g.size {
        report(format!("{} bytes initialise {}", bytes.len(), g.size));
    }
    for r in relocs {
        if r.offset.checked_add(p.target.pointer_bytes.into()).is_none_or(|end| end > g.size) {
            report(format!("a pointer at {} lies outside", r.offset));
        }
        if !symbol_exists(p, r.symbol) {
            report(format!("the pointer at {} names {:?}, which does not exist", r.offset, r.symbol));
        }
    }
}

fn each_type(ty: &DebugType, mut f: impl FnMut(TypeId)) {
    match ty {
        DebugType::Pointer { to } => to.iter().for_each(|&t| f(t)),
        DebugType::Named { of, .. } => of.iter().for_each(|&t| f(t)),
        DebugType::Array { element, .. } => f(*element),
        DebugType::Struct { members, .. } | DebugType::Union { members, .. } => members.iter().for_each(|m| f(m.ty)),
        DebugType::Function { result, parameters } => result.iter().chain(parameters).for_each(|&t| f(t)),
        DebugType::Base { .. } | DebugType::Enum { .. } | DebugType::Unknown { .. } => {}
    }
}

pub(super) fn symbol_exists(p: &Program, symbol: Symbol) -> bool {
    match symbol {
        Symbol::Global(g) => g.index() < p.globals.len(),
        Symbol::Function(f) => f.index() < p.functions.len(),
        Symbol::Block(f, b) => p.functions.get(f.index()).is_some_and(|f| b.index() < f.blocks.len()),
    }
}
