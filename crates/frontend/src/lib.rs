//! C and bitcode to ir: clang, linking, lowering; all LLVM FFI lives here.
//!
//! [`load`] compiles the C inputs with clang, reads bitcode and textual IR, links everything into one module and
//! lowers it to a [`pleach_ir::Program`]. LLVM is gone when it returns.

mod clang;
mod error;
mod input;
mod link;
mod llvm;
mod lower;

pub use error::FrontendError;

use pleach_ir::Program;
use std::path::PathBuf;

/// What to load and how to compile it.
#[derive(Clone, Debug)]
pub struct Options {
    /// `.c`, `.bc` and `.ll` files, linked in this order. Anything that is not bitcode or textual IR is given to clang.
    pub inputs: Vec<PathBuf>,
    /// `-I`, searched before the directory of our own headers. Default: none.
    pub include_dirs: Vec<PathBuf>,
    /// `-D`, as `NAME` or `NAME=VALUE`. Default: none.
    pub defines: Vec<String>,
    /// Compile for the 32-bit variant of the target. Default: off.
    pub m32: bool,
    /// `-std=`. Default: clang's own.
    pub std: Option<String>,
    /// Further arguments for clang, after all others. Default: none.
    pub cc_args: Vec<String>,
    /// The directory that holds `klee/klee.h`. Default: none.
    pub runtime_include: Option<PathBuf>,
    /// Scalar locals whose address does not escape become slots. Default: on.
    pub promote: bool,
    /// Where compiled files go; created if missing. Default: the system's directory for temporary files.
    pub work_dir: PathBuf,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            inputs: Vec::new(),
            include_dirs: Vec::new(),
            defines: Vec::new(),
            m32: false,
            std: None,
            cc_args: Vec::new(),
            runtime_include: None,
            promote: true,
            work_dir: std::env::temp_dir().join(format!("pleach-{}", std::process::id())),
        }
    }
}

/// Compiles, links and lowers all inputs.
pub fn load(options: &Options) -> Result<Program, FrontendError> {
    let inputs = input::read_all(options)?;
    let context = llvm::Context::new();
    let module = link::link(&context, inputs)?;
    lower::lower(&module, options.promote)
}
