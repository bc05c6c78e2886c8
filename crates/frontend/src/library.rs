//! The C library: what the program needs and nobody defines is taken out of an archive of bitcode, object by object, as a
//! linker would.

use crate::FrontendError;
use crate::archive::Archive;
use crate::llvm::{Context, Module};
use crate::lower::is_engine_name;
use pleach_ir::Program;
use pleach_load::Library;
use rustc_hash::FxHashSet;

/// What system calls do, and what happens before `main`; see `runtime/posix`.
const ENVIRONMENT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/environment.bc"));

/// Links what `whole` needs of the library, if it needs anything; says whether it did.
pub(crate) fn complete<'c>(
    context: &'c Context,
    whole: Module<'c>,
    library: &Library,
) -> Result<(Module<'c>, bool), FrontendError> {
    let broken = |why: String| FrontendError::Library { path: library.archive.clone(), why };
    whole.drop_name_marks();
    let wanted = without_model(&whole, library);
    if whole.pointer_bytes() != 8 || !library.always && wanted.is_empty() {
        return Ok((whole, false));
    }
    let bytes = std::fs::read(&library.archive)
        .map_err(|why| FrontendError::Unreadable { path: library.archive.clone(), why })?;
    let archive = Archive::read(bytes).ok_or_else(|| broken("it is not an archive with a symbol table".into()))?;
    if !library.always && !wanted.iter().any(|n| archive.find(n).is_some()) {
        return Ok((whole, false));
    }
    // The library's parts are linked with each other first: linking into the program costs time in the program's size.
    let mut parts = Module::parse_bitcode(context, ENVIRONMENT).map_err(&broken)?;
    let kept: FxHashSet<&str> = library.kept.iter().map(String::as_str).collect();
    let (missing, defined) = (undefined(&whole), definitions(&whole));
    let mut linked = FxHashSet::default();
    loop {
        let mut members: Vec<usize> = Vec::new();
        let there = definitions(&parts);
        let of_program = missing.iter().filter(|n| !there.contains(n.as_str())).cloned();
        let of_parts = undefined(&parts).into_iter().filter(|n| !defined.contains(n));
        for name in of_program.chain(of_parts) {
            if let Some(member) = archive.find(&name).filter(|_| !kept.contains(name.as_str()))
                && linked.insert(member)
            {
                members.push(member);
            }
        }
        if members.is_empty() {
            return Ok((join(whole, parts).map_err(&broken)?, true));
        }
        for member in members {
            let bytes = archive.contents(member).ok_or_else(|| broken("it is truncated".into()))?;
            let object = Module::parse_bitcode(context, bytes).map_err(&broken)?;
            parts = join(parts, object).map_err(&broken)?;
        }
    }
}

/// Marks the program as linked with the library; its output is flushed when the program ends.
pub(crate) fn finish(program: &mut Program) {
    program.library = true;
    let flush = program.function_named("__stdio_exit").filter(|f| !program.function(*f).is_declaration());
    program.destructors.extend(flush);
}

/// Functions the program calls that it does not define and the engine does not model.
fn without_model(whole: &Module<'_>, library: &Library) -> Vec<String> {
    let modelled: FxHashSet<&str> = library.kept.iter().chain(&library.stand_ins).map(String::as_str).collect();
    undefined_functions(whole).filter(|n| !modelled.contains(n.as_str())).collect()
}

fn undefined_functions(whole: &Module<'_>) -> impl Iterator<Item = String> {
    whole
        .functions()
        .filter(|f| f.is_declaration() && f.value().users().next().is_some())
        .map(|f| f.name())
        .filter(|n| !n.starts_with("llvm.") && !is_engine_name(n))
}

/// Names that are used and not defined.
fn undefined(whole: &Module<'_>) -> Vec<String> {
    let globals = whole
        .globals()
        .filter(|g| g.is_declaration() && !g.is_extern_weak() && g.users().next().is_some())
        .map(|g| g.name());
    undefined_functions(whole).chain(globals).collect()
}

/// Names that are defined, for others to use.
fn definitions(module: &Module<'_>) -> FxHashSet<String> {
    module.visible_definitions().map(|v| v.name()).collect()
}

/// Links `object`; where both define a name, what is there already wins.
fn join<'c>(whole: Module<'c>, object: Module<'c>) -> Result<Module<'c>, String> {
    let defined = definitions(&whole);
    for v in object.visible_definitions() {
        if defined.contains(&v.name()) {
            v.set_weak();
        }
    }
    whole.link(object)
}
