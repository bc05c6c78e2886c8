//! Why there is no program. Each message is one sentence, then the tool's own words if any.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The front end refuses the input; the words are its own.
    #[error("{0}")]
    Refused(String),
    /// LLVM took the front end down.
    #[error("LLVM could not read {input} (the front end crashed with signal {signal})")]
    Crashed { input: String, signal: i32 },
    #[error("{} cannot be read: {why}", path.display())]
    NotAFile { path: PathBuf, why: std::io::Error },
    #[error("the time was up (--max-time, ulimit -t) before the program was compiled")]
    OutOfTime,
    #[error("{input} takes more memory to compile than is allowed (--max-memory)")]
    OutOfMemory { input: String },
    #[error("interrupted before the program was compiled")]
    Interrupted,
    #[error("the front end, {}, was not found; it is built with: cargo build --release -p pleach-cli", path.display())]
    NotFound { path: PathBuf },
    #[error("the front end, {}, cannot be run: {why}", path.display())]
    Unusable { path: PathBuf, why: std::io::Error },
    /// A bug: what came back is not an answer.
    #[error("the front end, {}, gave no program: {why}", path.display())]
    NoAnswer { path: PathBuf, why: String },
}
