//! The objects that every state begins with, and the values of address constants.

use pleach_ir::{Program, Symbol};
use pleach_memory::{ObjId, Value};

/// How many objects exist from the beginning, the same in every state: globals, functions, `errno`.
pub fn fixed_objects(program: &Program) -> u32 {
    (program.globals.len() + program.functions.len() + 1) as u32
}

/// The object of `errno`: it comes after the functions.
pub fn errno_object(program: &Program) -> ObjId {
    ObjId(fixed_objects(program) - 1)
}

/// The object of a global: objects are made for globals first, then for functions, in order.
pub fn object_of(program: &Program, symbol: Symbol) -> ObjId {
    match symbol {
        Symbol::Global(g) => ObjId(g.0),
        Symbol::Function(f) | Symbol::Block(f, _) => ObjId(program.globals.len() as u32 + f.0),
    }
}

/// The value of an address constant.
pub fn address_of(program: &Program, symbol: Symbol, addend: i64) -> Value {
    let obj = object_of(program, symbol);
    match symbol {
        // A block's address is its function's plus its number.
        Symbol::Block(_, b) => Value::ptr(obj, i64::from(b.0) + addend),
        _ => Value::ptr(obj, addend),
    }
}
