//! Parses every input and links them into one verified module.

use crate::FrontendError;
use crate::input::{Input, Kind};
use crate::llvm::{Context, Module};
use std::path::Path;

/// `reading` is told the index of each input before LLVM sees it.
pub(crate) fn link<'c>(
    context: &'c Context,
    inputs: Vec<Input>,
    mut reading: impl FnMut(usize),
) -> Result<Module<'c>, FrontendError> {
    let mut whole: Option<Module<'c>> = None;
    for (i, input) in inputs.into_iter().enumerate() {
        reading(i);
        let module = parse(context, &input)?;
        whole = Some(match whole {
            None => module,
            Some(w) => join(w, module, &input.path)?,
        });
    }
    whole.ok_or(FrontendError::NoInputs)
}

fn parse<'c>(context: &'c Context, input: &Input) -> Result<Module<'c>, FrontendError> {
    let path = || input.path.clone();
    let module = match input.kind {
        Kind::Bitcode => Module::parse_bitcode(context, &input.bytes)
            .map_err(|why| FrontendError::Malformed { path: path(), why })?,
        Kind::Text => {
            let newer = |_| Module::parse_text(context, &crate::newer::without_newer_attributes(&input.bytes));
            let bad = |why| FrontendError::BadIr { path: path(), why };
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
