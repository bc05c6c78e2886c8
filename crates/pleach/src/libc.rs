//! Which C library the program is linked with, and where it is.

use crate::error::Error;
use crate::load::{CompileOptions, Libc};
use pleach_load::{Library, OutputFunction};
pub use pleach_report::environment::{SYMBOLIC_OPTIONS, symbolic_option};
use std::path::PathBuf;

/// Version and recipe of `libc/build.sh`.
const NAME: &str = "musl-1.2.3-16";

/// Where `libc/build.sh` puts the library. An installed Pleach has it next to its program.
fn archive() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let installed = std::env::current_exe().ok().and_then(|me| Some(me.parent()?.join(NAME).join("libc.a")));
    if let Some(archive) = installed.filter(|a| a.is_file() && set("PLEACH_CACHE").is_none()) {
        return Some(archive);
    }
    Some(cache_directory()?.join(NAME).join("libc.a"))
}

/// Where Pleach keeps what it makes once for all runs of a user.
pub fn cache_directory() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    set("PLEACH_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|c| c.join("pleach")))
        .or_else(|| set("HOME").map(|h| h.join(".cache/pleach")))
}

/// Where compiled programs are kept.
pub fn compile_cache() -> Option<PathBuf> {
    cache_directory().map(|c| c.join("compiled"))
}

/// The library to link with a program that is given these arguments.
pub fn library(compile: &CompileOptions, args: &[String]) -> Result<Option<Library>, Error> {
    let symbolic = args.iter().find(|a| symbolic_option(a).is_some());
    if let (Some(option), Libc::None) = (symbolic, compile.libc) {
        return Err(Error::Usage(format!("{option} needs the C library, but --libc is none")));
    }
    if let (Some(option), true) = (symbolic, compile.m32) {
        return Err(Error::Usage(format!("{option} is for programs of 64 bits")));
    }
    let always = compile.libc == Libc::Musl || symbolic.is_some();
    let built = archive().filter(|a| a.is_file());
    match built {
        _ if compile.libc == Libc::None => Ok(None),
        None if always => Err(Error::Usage(
            "the C library is not there; build it once with libc/build.sh, which needs the package archive of Debian"
                .into(),
        )),
        None => Ok(None),
        Some(archive) => Ok(Some(from(archive, if always { LibcNeed::Always } else { LibcNeed::Auto }))),
    }
}

/// When the library is linked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LibcNeed {
    /// the program calls a function of it that has no model
    Auto,
    /// the same, and the models that print nothing do not count
    Output,
    Always,
}

/// The library, if it is there.
pub fn built(need: LibcNeed) -> Option<Library> {
    archive().filter(|a| a.is_file()).map(|a| from(a, need))
}

fn from(archive: PathBuf, need: LibcNeed) -> Library {
    let names = |list: &[&str]| list.iter().map(|n| (*n).to_owned()).collect();
    let stand_ins = if need == LibcNeed::Output { Vec::new() } else { names(pleach_exec::MODELLED_WITHOUT_LIBC) };
    Library {
        archive,
        kept: names(pleach_exec::ALWAYS_MODELLED),
        stand_ins,
        output: pleach_exec::OUTPUT.iter().map(output).collect(),
        always: need == LibcNeed::Always,
    }
}

fn output(f: &pleach_exec::Output) -> OutputFunction {
    let place = |i: Option<usize>| i.map(|i| i as u32);
    OutputFunction {
        name: f.name.to_owned(),
        format: place(f.format),
        list: f.list,
        stream: place(f.stream),
        result: f.result,
    }
}
