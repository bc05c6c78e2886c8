//! The C library: what the program needs and nobody defines is taken out of an archive of bitcode, object by object, as
//! a linker would.

use crate::FrontendError;
use crate::archive::Archive;
use crate::llvm::{Context, Module};
use crate::lower::is_engine_name;
use crate::output;
use pleach_ir::{FuncId, Program};
use pleach_load::Library;
use rustc_hash::FxHashSet;

/// What system calls do, and what happens before `main`; see `runtime/posix`.
const ENVIRONMENT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/environment.bc"));
const ENVIRONMENT32: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/environment32.bc"));

/// Parts that stand in for the library's own where they are needed; see `runtime/strings`.
const UNITS: [&[u8]; 3] = [
    include_bytes!(concat!(env!("OUT_DIR"), "/strings.bc")),
    include_bytes!(concat!(env!("OUT_DIR"), "/wide.bc")),
    include_bytes!(concat!(env!("OUT_DIR"), "/formatted.bc")),
];
const UNITS32: [&[u8]; 3] = [
    include_bytes!(concat!(env!("OUT_DIR"), "/strings32.bc")),
    include_bytes!(concat!(env!("OUT_DIR"), "/wide32.bc")),
    include_bytes!(concat!(env!("OUT_DIR"), "/formatted32.bc")),
];

/// What compiled C++ needs; see `runtime/cxx`.
const CXX: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/cxx.bc"));
const CXX32: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/cxx32.bc"));

/// The library for 32-bit programs, next to the other one.
const ARCHIVE32: &str = "libc32.a";

/// Functions that deal in offsets or attributes of files: on 32 bits the system's headers give these types other sizes
/// than the library does. They get a name that no program calls; those that deal in times have one already.
const WIDE: &[&str] = &[
    "lseek",
    "pread",
    "pwrite",
    "preadv",
    "pwritev",
    "truncate",
    "ftruncate",
    "mmap",
    "fseeko",
    "ftello",
    "fgetpos",
    "fsetpos",
    "stat",
    "fstat",
    "lstat",
    "fstatat",
    "mknod",
    "readdir",
    "readdir_r",
    "posix_fallocate",
    "posix_fadvise",
    "lockf",
    "sendfile",
    "getrlimit",
    "setrlimit",
    "glob",
    "ftw",
    "nftw",
    "scandir",
    "sysinfo",
    "statfs",
    "fstatfs",
    "statvfs",
    "fstatvfs",
];

const HIDDEN: &str = "__pleach_wide_";

/// Hides what a 32-bit program would call with other types.
fn hide_wide(object: &Module<'_>) {
    for f in object.functions().map(|f| f.value()).chain(object.aliases()) {
        let name = f.name();
        if WIDE.contains(&name.as_str()) {
            f.rename(&format!("{HIDDEN}{name}"));
        }
    }
}

/// Links the runtime of C++ if `whole` needs anything of it.
pub(crate) fn with_cxx<'c>(context: &'c Context, whole: Module<'c>) -> Result<Module<'c>, FrontendError> {
    let broken = |why: String| FrontendError::Library { path: "runtime/cxx".into(), why };
    if !undefined(&whole).iter().any(|n| n.starts_with("_Z") || n.starts_with("__")) {
        return Ok(whole);
    }
    let runtime =
        Module::parse_bitcode(context, if whole.pointer_bytes() == 8 { CXX } else { CXX32 }).map_err(broken)?;
    let defined: FxHashSet<String> = runtime.visible_definitions().map(|v| v.name()).collect();
    match undefined(&whole).iter().any(|n| defined.contains(n)) {
        true => join(whole, runtime).map_err(broken),
        false => Ok(whole),
    }
}

/// Links what `whole` needs of the library, if it needs anything; says whether it did.
pub(crate) fn complete<'c>(
    context: &'c Context,
    whole: Module<'c>,
    library: &Library,
) -> Result<(Module<'c>, bool), FrontendError> {
    let broken = |why: String| FrontendError::Library { path: library.archive.clone(), why };
    whole.drop_name_marks();
    let wanted = without_model(&whole, library);
    if !library.always && wanted.is_empty() {
        return Ok((whole, false));
    }
    let (path, environment, units) = match whole.pointer_bytes() {
        8 => (library.archive.clone(), ENVIRONMENT, UNITS),
        _ => (library.archive.with_file_name(ARCHIVE32), ENVIRONMENT32, UNITS32),
    };
    let bytes = std::fs::read(&path).map_err(|why| FrontendError::Unreadable { path, why })?;
    let archive = Archive::read(bytes).ok_or_else(|| broken("it is not an archive with a symbol table".into()))?;
    // The library's parts are linked with each other first: linking into the program costs time in the program's size.
    let mut parts = Module::parse_bitcode(context, environment).map_err(&broken)?;
    let of_system = definitions(&parts);
    if !library.always && !wanted.iter().any(|n| archive.find(n).is_some() || of_system.contains(n)) {
        return Ok((whole, false));
    }
    let kept: FxHashSet<&str> = library.kept.iter().map(String::as_str).collect();
    let (missing, defined) = (undefined(&whole), definitions(&whole));
    let mut linked = FxHashSet::default();
    let mut units = units.into_iter().map(|u| unit(context, u)).collect::<Result<Vec<_>, _>>().map_err(&broken)?;
    loop {
        let mut members: Vec<usize> = Vec::new();
        let there = definitions(&parts);
        let other = |n: &str| whole.pointer_bytes() == 4 && WIDE.contains(&n);
        let of_program = missing.iter().filter(|n| !there.contains(n.as_str()) && !other(n)).cloned();
        let of_parts = undefined(&parts).into_iter().filter(|n| !defined.contains(n));
        let mut used = Vec::new();
        for name in of_program.chain(of_parts) {
            if let Some(i) = units.iter().position(|(names, _)| names.contains(&name)) {
                used.push(units.remove(i).1);
                continue;
            }
            if used.iter().any(|u| definitions(u).contains(&name)) {
                continue;
            }
            let found = archive.find(name.strip_prefix(HIDDEN).unwrap_or(&name));
            if let Some(member) = found.filter(|_| !kept.contains(name.as_str()))
                && linked.insert(member)
            {
                members.push(member);
            }
        }
        if members.is_empty() && used.is_empty() {
            return Ok((join(whole, parts).map_err(&broken)?, true));
        }
        for unit in used {
            parts = join(parts, unit).map_err(&broken)?;
        }
        for member in members {
            let bytes = archive.contents(member).ok_or_else(|| broken("it is truncated".into()))?;
            let object = Module::parse_bitcode(context, bytes).map_err(&broken)?;
            if whole.pointer_bytes() == 4 {
                hide_wide(&object);
            }
            parts = join(parts, object).map_err(&broken)?;
        }
    }
}

/// A part of our own, with what it defines.
fn unit<'c>(context: &'c Context, bytes: &[u8]) -> Result<(FxHashSet<String>, Module<'c>), String> {
    let module = Module::parse_bitcode(context, bytes)?;
    Ok((definitions(&module), module))
}

/// Marks the program as linked with the library; its output is flushed when the program ends. `own`: functions it had
/// before.
pub(crate) fn finish(program: &mut Program, own: &FxHashSet<String>) {
    program.library = true;
    program.from_library = bodies_named(program, |name| !own.contains(name));
    // The library is what it is.
    let came = std::mem::take(&mut program.from_library);
    program.drop_checks(&[], |f| came.binary_search(&f).is_ok());
    program.from_library = came;
    let flush = program.function_named("__stdio_exit").filter(|f| !program.function(*f).is_declaration());
    program.destructors.extend(flush);
}

/// Functions with a body and such a name.
pub(crate) fn bodies_named(program: &Program, wanted: impl Fn(&str) -> bool) -> Vec<FuncId> {
    let functions = program.functions.iter().enumerate();
    functions.filter(|(_, f)| !f.is_declaration() && wanted(&f.name)).map(|(i, _)| FuncId::new(i)).collect()
}

/// Variables of the library that models of the engine do with.
const STREAMS: &[&str] = &["stdin", "stdout", "stderr"];

/// Functions the program calls that it does not define and the engine does not model, and variables it does not define.
fn without_model(whole: &Module<'_>, library: &Library) -> Vec<String> {
    let modelled: FxHashSet<&str> = library.kept.iter().chain(&library.stand_ins).map(String::as_str).collect();
    let not_simple = output::beyond_the_model(whole, &library.output);
    undefined_functions(whole)
        .filter(|n| !modelled.contains(n.as_str()) || not_simple.contains(n))
        .chain(undefined_globals(whole).filter(|n| !STREAMS.contains(&n.as_str())))
        .collect()
}

fn undefined_functions(whole: &Module<'_>) -> impl Iterator<Item = String> {
    whole
        .functions()
        .filter(|f| f.is_declaration() && f.value().users().next().is_some())
        .map(|f| f.name())
        .filter(|n| !n.starts_with("llvm.") && !is_engine_name(n))
}

/// Names that are used and not defined.
pub(crate) fn undefined(whole: &Module<'_>) -> Vec<String> {
    undefined_functions(whole).chain(undefined_globals(whole)).collect()
}

fn undefined_globals(whole: &Module<'_>) -> impl Iterator<Item = String> {
    whole
        .globals()
        .filter(|g| g.is_declaration() && !g.is_extern_weak() && g.users().next().is_some())
        .map(|g| g.name())
}

/// Names that are defined, for others to use.
pub(crate) fn definitions(module: &Module<'_>) -> FxHashSet<String> {
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
