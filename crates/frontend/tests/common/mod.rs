//! Helpers for tests: a scratch directory, compiling a text, running clang natively.
#![allow(dead_code)]

pub mod interp;
mod interp_ops;

use pleach_frontend::{FrontendError, Options, load};
use pleach_ir::Program;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A directory of its own, gone when dropped.
pub struct Scratch(TempDir);

impl Scratch {
    pub fn new() -> Scratch {
        Scratch(tempfile::tempdir().expect("a temporary directory"))
    }
    pub fn path(&self) -> &Path {
        self.0.path()
    }
    pub fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, contents).expect("write");
        path
    }
    pub fn options(&self, inputs: Vec<PathBuf>) -> Options {
        Options { inputs, work_dir: self.0.path().join("work"), ..Options::default() }
    }
    pub fn load(&self, inputs: Vec<PathBuf>) -> Result<Program, FrontendError> {
        load(&self.options(inputs))
    }
}

/// Lowers C text; the result must satisfy the verifier.
pub fn lower(source: &str) -> Program {
    lower_with(source, |_| {})
}

pub fn lower_with(source: &str, change: impl FnOnce(&mut Options)) -> Program {
    let scratch = Scratch::new();
    let file = scratch.file("t.c", source);
    let mut options = scratch.options(vec![file]);
    change(&mut options);
    let program = load(&options).unwrap_or_else(|e| panic!("{e}"));
    check(&program);
    program
}

pub fn lower_text(ir: &str) -> Program {
    let scratch = Scratch::new();
    let file = scratch.file("t.ll", ir);
    let program = scratch.load(vec![file]).unwrap_or_else(|e| panic!("{e}"));
    check(&program);
    program
}

pub fn check(program: &Program) {
    if let Err(problems) = pleach_ir::verify::verify(program) {
        panic!("{}\n{}", problems.join("\n"), pleach_ir::text::print(program));
    }
}

/// The text of one function.
pub fn text(program: &Program, name: &str) -> String {
    let id = program.function_named(name).unwrap_or_else(|| panic!("no function {name}"));
    pleach_ir::text::print_function(program, id)
}

/// Whether 32-bit programs compile here.
pub fn has_m32_headers() -> bool {
    let scratch = Scratch::new();
    let file = scratch.file("t.c", "#include <stdio.h>\nint main(void){return 0;}\n");
    let mut options = scratch.options(vec![file]);
    options.m32 = true;
    load(&options).is_ok()
}
