//! Rust: the machine's compiler writes the program and what it uses of the standard library as one module of textual
//! IR. It is of a newer LLVM than ours; see `text`.

mod reachable;
mod replaced;
pub(crate) mod text;

use crate::cache::Known;
use crate::input::{Input, Kind};
use crate::llvm::{Function, Meta};
use crate::{FrontendError, Options};
pub(crate) use pleach_load::rust::is_library_file;
use pleach_load::rust::{ONE_MODULE, RUSTC, compiler, library};
use std::path::Path;
use std::process::Command;

/// Compiles `source` to textual IR that our LLVM reads.
pub(crate) fn compile(
    source: &Path,
    index: usize,
    options: &Options,
    known: Option<&Known>,
) -> Result<Input, FrontendError> {
    refuse(source, &options.cc_args)?;
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
    if let Some(rule) = std::fs::read(directory.join("program.d")).ok().filter(|_| known.is_some()) {
        known.inspect(|k| k.keep_files(source, options, &rule));
    }
    let text = reachable::from_entry(&text);
    let remarks = if catches(&text) { vec![format!("{}: {CATCHES}", source.display())] } else { Vec::new() };
    Ok(Input { path: source.to_path_buf(), bytes: text::readable(&text), kind: Kind::Text, remarks })
}

const CATCHES: &str = "a panic ends the program, as with panic=abort: `std::panic::catch_unwind` catches none";

/// Whether the program has an instance of `std::panic::catch_unwind`. The library itself uses another function.
fn catches(text: &[u8]) -> bool {
    let name = b"3std5panic12catch_unwind";
    text.windows(name.len()).any(|w| w == name)
}

/// Flags that mean what is not modelled.
fn refuse(source: &Path, flags: &[String]) -> Result<(), FrontendError> {
    let refused = flags.iter().find_map(|flag| match flag.as_str() {
        f if f.contains("panic=unwind") => Some((flag, "a panic ends the program here")),
        f if f.contains("sanitizer=") => Some((flag, "accesses to memory are checked by Pleach itself; leave it out")),
        _ => None,
    });
    match refused {
        Some((flag, why)) => Err(FrontendError::RustFlag { path: source.to_path_buf(), flag: flag.clone(), why }),
        None => Ok(()),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_are_not_modelled() {
        let said = |flags: &[&str]| {
            let flags: Vec<String> = flags.iter().map(|f| (*f).to_owned()).collect();
            refuse(Path::new("a.rs"), &flags).map_err(|e| e.to_string())
        };
        assert_eq!(said(&["--edition=2024", "-O"]), Ok(()));
        let unwind = said(&["-Cpanic=unwind"]).unwrap_err();
        assert_eq!(unwind, "a.rs: the flag -Cpanic=unwind is not supported: a panic ends the program here");
        assert!(said(&["-Zsanitizer=address"]).unwrap_err().contains("checked by Pleach itself"));
    }

    #[test]
    fn only_the_programs_own_catching_counts() {
        assert!(catches(b"define i64 @_RINvNtCsj_3std5panic12catch_unwindNCNvCsb_1c4main0hEBK_("));
        assert!(!catches(b"define void @_RNvNvNtCsj_3std9panicking12catch_unwind7cleanup("));
    }
}
