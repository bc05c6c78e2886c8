//! From a linked module to [`Program`].
//!
//! Aggregates are flattened to scalar leaves, phi nodes become ordered copies on edges, scalar locals become slots,
//! constants are evaluated. One file per instruction family; `function` dispatches.

mod address;
mod aggregate;
mod arith;
mod atomic;
mod call;
mod cast;
mod checks;
mod compact;
mod constant;
mod control;
mod debug;
mod debug_types;
mod edges;
mod emit;
mod exception;
mod float;
mod float_range;
mod forward;
mod function;
mod globals;
mod inline_asm;
mod intrinsic;
mod intrinsic_float;
mod intrinsic_vector;
mod jumps;
mod layout;
mod lines;
mod memory;
mod promote;
mod relative;
mod retarget;
mod scope;
mod unit;
mod uses;
mod vector;

use crate::FrontendError;
use crate::Options;
use crate::llvm::Module;
use pleach_ir::Program;

/// Why something could not be lowered: the name under which a path that reaches it ends.
pub(crate) struct Unsupported(String);

impl Unsupported {
    fn new(name: impl Into<String>) -> Unsupported {
        Unsupported(name.into())
    }
}

/// Functions that the engine itself provides, whatever the program defines under their name.
pub(crate) fn is_engine_name(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("klee_") else { return false };
    // Other functions that begin so are the program's own.
    pleach_ir::klee::INTERFACE.contains(&rest) || rest.starts_with("get_value")
}

/// Lowers the whole module.
pub(crate) fn lower(module: &Module<'_>, options: &Options) -> Result<Program, FrontendError> {
    let target = |why| FrontendError::Target { triple: module.triple(), why };
    if !module.is_little_endian() {
        return Err(target("it is big-endian"));
    }
    if !matches!(module.pointer_bytes(), 4 | 8) {
        return Err(target("its pointers have neither 32 nor 64 bits"));
    }
    let mut unit = unit::Unit::new(module);
    unit.declare();
    unit.initialise();
    for f in module.functions() {
        if unit.has_body(f) {
            function::lower(&mut unit, f, options);
        }
    }
    Ok(unit.finish())
}
