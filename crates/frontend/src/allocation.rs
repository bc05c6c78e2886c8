//! Allocations that may fail: what `runtime/allocation` puts in front of the program's own calls, as `ld --wrap` does.

use crate::FrontendError;
use crate::library::definitions;
use crate::llvm::{Context, Module};

const WRAPPERS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/allocation.bc"));
const WRAPPERS32: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/allocation32.bc"));

/// Lets the program's calls of allocating functions that it does not define itself go to wrappers. These call the
/// engine's own functions, `__pleach_malloc` and the like, which do not assume that there is memory.
pub(crate) fn with_failures<'c>(context: &'c Context, whole: Module<'c>) -> Result<Module<'c>, FrontendError> {
    let broken = |why: String| FrontendError::Library { path: "runtime/allocation".into(), why };
    let bytes = if whole.pointer_bytes() == 8 { WRAPPERS } else { WRAPPERS32 };
    let wrappers = Module::parse_bitcode(context, bytes).map_err(broken)?;
    for f in wrappers.functions() {
        if let Some(name) = f.name().strip_prefix("__real_") {
            f.value().rename(&format!("{}{name}", pleach_ir::OWN_ALLOCATION));
        }
    }
    let wrapped = definitions(&wrappers);
    for f in whole.functions().filter(|f| f.is_declaration()) {
        let wrapper = format!("__wrap_{}", f.name());
        if wrapped.contains(&wrapper) {
            f.value().rename(&wrapper);
        }
    }
    whole.link(wrappers).map_err(broken)
}
