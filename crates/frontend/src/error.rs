//! What can go wrong before the program exists. Each message is one sentence, then the tool's own words if any.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum FrontendError {
    #[error("the processor time (ulimit -t) was up before the program was compiled")]
    OutOfTime,
    #[error("no input files")]
    NoInputs,
    #[error("{}: no such file", path.display())]
    Missing { path: PathBuf },
    #[error("{}: is a directory, expected a .c, .bc or .ll file", path.display())]
    Directory { path: PathBuf },
    #[error("{}: the file is empty", path.display())]
    Empty { path: PathBuf },
    #[error("{}: cannot be read: {why}", path.display())]
    Unreadable { path: PathBuf, why: std::io::Error },
    #[error("{}: cannot write compiled files there: {why}", path.display())]
    WorkDir { path: PathBuf, why: std::io::Error },
    #[error("clang-19 was not found; install it with: apt install clang-19")]
    NoClang,
    #[error("clang-19 could not be run: {why}")]
    ClangUnusable { why: std::io::Error },
    #[error("{}: Rust needs the machine's compiler, and rustc was not found; rustup installs it", path.display())]
    NoRustc { path: PathBuf },
    #[error("{}: {version} writes IR that is too new: {why}", path.display())]
    NewerRust { path: PathBuf, version: String, why: String },
    #[error("{}: functions that run before `main` (`.init_array`) are not supported in Rust programs", path.display())]
    BeforeMain { path: PathBuf },
    #[error("{}: the flag {flag} is not supported: {why}", path.display())]
    RustFlag { path: PathBuf, flag: String, why: &'static str },
    #[error("{}: does not compile{hint}\n{diagnostics}", path.display())]
    Compile { path: PathBuf, diagnostics: String, hint: &'static str },
    #[error("{}: malformed bitcode: {why}", path.display())]
    Malformed { path: PathBuf, why: String },
    #[error("{}: not valid LLVM IR: {why}", path.display())]
    BadIr { path: PathBuf, why: String },
    #[error("{}: `{symbol}` is already defined by another input", path.display())]
    LinkConflict { path: PathBuf, symbol: String },
    #[error("{}: cannot be linked with the other inputs: {why}", path.display())]
    Link { path: PathBuf, why: String },
    #[error("{}: is for the target `{found}`, the inputs before it are for `{expected}`", path.display())]
    TargetMismatch { path: PathBuf, found: String, expected: String },
    #[error("{}: the C library cannot be linked: {why}", path.display())]
    Library { path: PathBuf, why: String },
    #[error("the target `{triple}` is not supported: {why}")]
    Target { triple: String, why: &'static str },
}
