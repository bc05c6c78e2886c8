//! How Rust becomes IR for the engine, and a native program for replay, by the machine's own compiler.

use std::path::Path;
use std::process::Command;

pub const RUSTC: &str = "rustc";

/// The crate `pleach`: symbolic inputs.
pub const LIBRARY: &str = include_str!("../../../runtime/rust/pleach.rs");

/// Checked arithmetic and assertions, as in a development build; a panic ends the program.
const CHECKED: [&str; 8] = [
    "-g",
    "-Copt-level=0",
    "-Coverflow-checks=on",
    "-Cdebug-assertions=on",
    "-Cpanic=abort",
    "-Ccodegen-units=1",
    // Names that have the types of what they are made for.
    "-Csymbol-mangling-version=v0",
    "-Awarnings",
];

/// One module with all functions that are used, those of the standard library among them: the compiler links the
/// bitcode that the libraries carry. Nothing is linked after that.
pub const ONE_MODULE: [&str; 3] = ["-Clto=fat", "-Clinker=true", "--emit=llvm-ir,dep-info,link"];

/// Whether the file is of Rust's libraries, which the compiler's builders have compiled at a path of theirs.
pub fn is_library_file(path: &str) -> bool {
    path.starts_with("/rustc/") || path.starts_with("/rust/deps/")
}

pub fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "rs")
}

/// The compiler with the flags that all builds share. `user`: further flags, which may choose the edition.
pub fn compiler(user: &[String]) -> Command {
    let mut command = Command::new(RUSTC);
    if !user.iter().any(|f| f.starts_with("--edition")) {
        command.arg("--edition=2021");
    }
    command.args(CHECKED).args(user);
    command
}

/// Flags of a build that a crate needs so that a program with it becomes one module.
pub fn crate_flags() -> impl Iterator<Item = &'static str> {
    CHECKED.into_iter().chain(["-Cembed-bitcode=yes"])
}

/// Builds the crate `pleach` in a directory, by `run`, and gives the flags by which a program finds it there; nothing
/// is done where the user's flags name one.
pub fn library<E>(
    directory: &Path,
    user: &[String],
    unwritable: impl FnOnce(std::io::Error) -> E,
    run: impl FnOnce(&mut Command) -> Result<(), E>,
) -> Result<Vec<String>, E> {
    if user.iter().any(|f| f.starts_with("--extern=pleach=")) {
        return Ok(Vec::new());
    }
    let (source, to) = (directory.join("pleach.rs"), directory.join("libpleach.rlib"));
    std::fs::create_dir_all(directory).and_then(|()| std::fs::write(&source, LIBRARY)).map_err(unwritable)?;
    let mut command = compiler(&[]);
    // As the standard library, it is no part of the program that users look at.
    command.arg(format!("--remap-path-prefix={}=/rustc/pleach", directory.display()));
    command.args(["--crate-type=rlib", "--crate-name=pleach"]).arg(&source).arg("-o").arg(&to);
    run(&mut command)?;
    Ok(vec![format!("--extern=pleach={}", to.display())])
}
