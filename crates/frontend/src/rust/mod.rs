//! Rust: the machine's compiler writes the program and what it uses of the standard library as one module of textual
//! IR. It is of a newer LLVM than ours; see `text`.

mod reachable;
mod replaced;
pub(crate) mod text;

use crate::llvm::{Function, Meta};
use crate::{FrontendError, Options};
pub(crate) use pleach_load::rust::is_library_file;
use pleach_load::rust::{ONE_MODULE, RUSTC, compiler, library};
use std::path::Path;
use std::process::Command;

/// Compiles `source` to textual IR that our LLVM reads.
pub(crate) fn compile(source: &Path, index: usize, options: &Options) -> Result<Vec<u8>, FrontendError> {
    let directory = options.work_dir.join(format!("{index}-rust"));
    let unwritable = |why| FrontendError::WorkDir { path: directory.clone(), why };
    std::fs::create_dir_all(&directory).map_err(unwritable)?;
    let found = library(&directory, &options.cc_args, unwritable, |build| run(build, source))?;
    let mut command = compiler(&options.cc_args);
    command.args(ONE_MODULE).args(found).args(["--crate-type=bin", "--crate-name=program"]).arg(source);
    run(command.arg("-o").arg(directory.join("program")), source)?;
    let text = directory.join("program.ll");
    let text = std::fs::read(&text).map_err(|why| FrontendError::Unreadable { path: text, why })?;
    // SOUND: what runs before `main` is not executed.
    if reachable::runs_before_main(&text) {
        return Err(FrontendError::BeforeMain { path: source.to_path_buf() });
    }
    Ok(text::readable(&reachable::from_entry(&text)))
}

/// What the compiler calls itself.
pub(crate) fn version() -> String {
    let said = Command::new(RUSTC).arg("--version").output().map(|o| o.stdout).unwrap_or_default();
    String::from_utf8_lossy(&said).trim().to_owned()
}

fn run(command: &mut Command, source: &Path) -> Result<(), FrontendError> {
    let path = || source.to_path_buf();
    let output = command.output().map_err(|_| FrontendError::NoRustc { path: path() })?;
    if output.status.success() {
        return Ok(());
    }
    let diagnostics = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
    Err(FrontendError::Compile { path: path(), diagnostics, hint: "" })
}

/// Whether the function is of Rust's libraries, as a whole or made for a type of the program.
///
/// Their code looks at addresses only for speed, which is not checked. Where it compares pointers, it does so for the
/// program.
pub(crate) fn is_library(f: Function<'_>) -> bool {
    let file = f.subprogram().and_then(Meta::file).and_then(Meta::file_path);
    let is_path = |(directory, name): (String, String)| match name.starts_with('/') {
        true => is_library_file(&name),
        false => is_library_file(&format!("{directory}/")),
    };
    file.is_some_and(is_path) && !compares_pointers(&f.name())
}

/// Comparisons of `core::ptr`, by their mangled names.
fn compares_pointers(name: &str) -> bool {
    name.contains("4core3ptr") && name.contains("3cmp")
}
