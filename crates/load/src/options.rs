//! The request to the front end.

use crate::wire::{path, path_list, path_option};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What to load and how to compile it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Options {
    /// `.c`, `.bc` and `.ll` files, linked in this order. Anything that is not bitcode or textual IR is given to clang.
    #[serde(with = "path_list")]
    pub inputs: Vec<PathBuf>,
    /// `-I`, searched before the directory of our own headers. Default: none.
    #[serde(with = "path_list")]
    pub include_dirs: Vec<PathBuf>,
    /// `-D`, as `NAME` or `NAME=VALUE`. Default: none.
    pub defines: Vec<String>,
    /// Compile for the 32-bit variant of the target. Default: off.
    pub m32: bool,
    /// `-std=`. Default: clang's own.
    pub std: Option<String>,
    /// Further arguments for clang, after all others. Default: none.
    pub cc_args: Vec<String>,
    /// Check whether the results of left shifts of signed values fit. Default: off.
    pub check_shifts: bool,
    /// An input decides whether an allocation of the program fails. Default: off.
    pub malloc_may_fail: bool,
    /// The directory that holds `klee/klee.h`. Default: none.
    #[serde(with = "path_option")]
    pub runtime_include: Option<PathBuf>,
    /// Scalar locals whose address does not escape become slots. Default: on.
    pub promote: bool,
    /// Parameters keep the value they were passed, and only names that the program's IR has. Default: off.
    pub passed_params: bool,
    /// Where compiled files go; created if missing. Default: the system's directory for temporary files.
    #[serde(with = "path")]
    pub work_dir: PathBuf,
    /// The C library to link with. Default: none.
    pub library: Option<Library>,
    /// Where to write the program as textual IR, as it is linked. Default: nowhere.
    #[serde(with = "path_option")]
    pub assembly: Option<PathBuf>,
    /// Where the front end keeps what it compiled, for the next time. Default: nowhere.
    #[serde(with = "path_option")]
    pub cache: Option<PathBuf>,
    /// The front end's executable. Default: `pleach-frontend` next to this process, then in `PATH`.
    #[serde(skip)]
    pub frontend: Option<PathBuf>,
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
            check_shifts: false,
            malloc_may_fail: false,
            runtime_include: None,
            promote: true,
            passed_params: false,
            work_dir: std::env::temp_dir().join(format!("pleach-{}", std::process::id())),
            library: None,
            assembly: None,
            cache: None,
            frontend: None,
        }
    }
}

/// A function that prints, and what its model needs to know of a call: where these arguments are.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OutputFunction {
    pub name: String,
    /// the format: a constant string with conversions that the model knows
    pub format: Option<u32>,
    /// the arguments are a list (`va_list`), into which the model does not look
    pub list: bool,
    /// the stream: standard output or standard error
    pub stream: Option<u32>,
    /// the model's result is the real one
    pub result: bool,
}

/// A C library as bitcode, and what is not taken from it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Library {
    /// an archive of bitcode with a symbol table
    #[serde(with = "path")]
    pub archive: PathBuf,
    /// functions of the engine that win over the library's
    pub kept: Vec<String>,
    /// functions that the engine stands in for as long as the library is not linked
    pub stand_ins: Vec<String>,
    /// of these, functions that stand in only for calls of the simple kind
    pub output: Vec<OutputFunction>,
    /// link it also when the program calls nothing that is neither defined nor modelled
    pub always: bool,
}
