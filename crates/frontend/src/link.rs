//! Parses every input and links them into one verified module.

use crate::FrontendError;
use crate::archive::Archive;
use crate::input::{Input, Kind};
use crate::library::undefined;
use crate::llvm::{Context, Module};
use rustc_hash::FxHashSet;
use std::path::Path;

/// `reading` is told the index of each input before LLVM sees it.
pub(crate) fn link<'c>(
    context: &'c Context,
    inputs: Vec<Input>,
    mut reading: impl FnMut(usize),
) -> Result<Module<'c>, FrontendError> {
    let mut whole: Option<Module<'c>> = None;
    let mut archives = Vec::new();
    for (i, input) in inputs.into_iter().enumerate() {
        if input.kind == Kind::Archive {
            archives.push((i, input));
            continue;
        }
        reading(i);
        let module = parse(context, &input)?;
        whole = Some(match whole {
            None => module,
            Some(w) => join(w, module, &input.path)?,
        });
    }
    let mut whole = whole.ok_or(FrontendError::NoInputs)?;
    for (i, input) in archives {
        reading(i);
        whole = with_archive(context, whole, input)?;
    }
    Ok(whole)
}

/// Links those members of an archive that define what is missing, and what these need in turn.
fn with_archive<'c>(context: &'c Context, whole: Module<'c>, input: Input) -> Result<Module<'c>, FrontendError> {
    let Input { path, bytes, .. } = input;
    let broken = |why: &str| FrontendError::Malformed { path: path.clone(), why: why.to_owned() };
    let archive =
        Archive::read(bytes).ok_or_else(|| broken("it is an archive without a symbol table; llvm-ar makes one"))?;
    let mut whole = whole;
    let mut linked = FxHashSet::default();
    loop {
        let needed = undefined(&whole);
        let found = needed.iter().filter_map(|n| archive.find(n));
        let members: Vec<usize> = found.filter(|m| linked.insert(*m)).collect();
        if members.is_empty() {
            return Ok(whole);
        }
        for member in members {
            let bytes = archive.contents(member).ok_or_else(|| broken("the archive is truncated"))?;
            // Objects of the compiler wrapper carry their bitcode.
            let carried =
                pleach_load::embedded_bitcode::of_bytes(&path, bytes).map_err(|why| broken(&why.to_string()))?;
            let pieces = match carried {
                Some(carried) => carried.pieces.into_iter().map(|p| p.bitcode).collect(),
                None => vec![bytes.to_vec()],
            };
            for bytes in pieces {
                let input = Input { path: path.clone(), bytes, kind: Kind::Bitcode, remarks: Vec::new() };
                whole = join(whole, parse(context, &input)?, &path)?;
            }
        }
    }
}

fn parse<'c>(context: &'c Context, input: &Input) -> Result<Module<'c>, FrontendError> {
    let path = || input.path.clone();
    let module = match input.kind {
        Kind::Bitcode | Kind::Archive => Module::parse_bitcode(context, &input.bytes)
            .map_err(|why| FrontendError::Malformed { path: path(), why })?,
        Kind::Text => {
            let newer = |_| Module::parse_text(context, &crate::rust::text::readable(&input.bytes));
            let bad = |why| match pleach_load::rust::is_rust(&input.path) {
                true => FrontendError::NewerRust { path: path(), version: crate::rust::version(), why },
                false => FrontendError::BadIr { path: path(), why },
            };
            Module::parse_text(context, &input.bytes).or_else(newer).map_err(bad)?
        }
    };
    module.verify().map_err(|why| FrontendError::BadIr { path: path(), why })?;
    for f in module.functions() {
        // Every input may bring its own stand-ins for the engine's intrinsics; the engine's win.
        if !f.is_declaration() && crate::lower::is_engine_name(&f.name()) {
            f.set_mergeable_linkage();
        }
    }
    Ok(module)
}

fn join<'c>(whole: Module<'c>, next: Module<'c>, path: &Path) -> Result<Module<'c>, FrontendError> {
    let path = || path.to_path_buf();
    if whole.layout_string() != next.layout_string() && next.pointer_bytes() != whole.pointer_bytes() {
        let (found, expected) = (next.triple(), whole.triple());
        return Err(FrontendError::TargetMismatch { path: path(), found, expected });
    }
    whole.link(next).map_err(|why| match conflicting_symbol(&why) {
        Some(symbol) => FrontendError::LinkConflict { path: path(), symbol },
        None => FrontendError::Link { path: path(), why },
    })
}

/// The linker says "Linking globals named 'f': symbol multiply defined!".
fn conflicting_symbol(why: &str) -> Option<String> {
    let (head, tail) = why.split_once("multiply defined").map(|(h, _)| h.split_once("named '"))??;
    let _ = head;
    tail.split_once('\'').map(|(name, _)| name.to_owned())
}
