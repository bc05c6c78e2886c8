//! `run.json`: what replay needs to rebuild the program of a run.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::input::InputType;

/// A parameter of the entry function, made symbolic by the engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name; also the name of the test's object.
    pub name: String,
    /// C type of the test's object: the parameter itself, or what it points to.
    pub ty: InputType,
    /// The parameter is a pointer, and the object is what it points to.
    pub by_pointer: bool,
}

/// How execution starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum EntryKind {
    /// `main(argc, argv)` with given arguments.
    #[default]
    Main,
    /// A function with symbolic parameters. When it returns, the program exits with 0.
    Function {
        /// In order.
        parameters: Vec<Parameter>,
        /// What it returns; none for `void`.
        #[serde(default)]
        returns: Option<InputType>,
    },
    /// `LLVMFuzzerTestOneInput(data, size)`; the data is the test's first object. A second one called `size` says
    /// how much of it is passed; without it, all. When the function returns, the program exits with 0.
    Fuzz,
}

/// The program of a run and how it was built.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Program files (`.c`, `.bc`, `.ll`).
    #[serde(with = "crate::paths::list")]
    pub sources: Vec<PathBuf>,
    /// Directory that relative paths (sources and flags) are relative to.
    #[serde(with = "crate::paths::one")]
    pub directory: PathBuf,
    /// Compiler flags of the user: `-I -D -m32 -std=` and those of `--cc-arg`.
    pub cc_flags: Vec<String>,
    /// Linker flags for the libraries that a program given as such was linked with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub libraries: Vec<String>,
    /// Functions of the program whose call is an error, whatever they do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub error_functions: Vec<String>,
    /// An input decides whether an allocation of the program fails.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub malloc_may_fail: bool,
    /// Function where execution starts.
    pub entry: String,
    /// How it is called.
    pub entry_kind: EntryKind,
    /// Program arguments, the program's name first.
    pub argv: Vec<String>,
    /// The command line of the run, human-readable.
    pub command: Vec<String>,
}
