//! Helpers for tests: a scratch directory, compiling a text, running clang natively.
#![allow(dead_code)]

pub mod interp;
mod interp_ops;

use pleach_frontend::{FrontendError, Options, load};
use pleach_ir::Program;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory of its own, gone when dropped.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new() -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("pleach-frontend-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let dir = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&dir).expect("scratch directory");
        Scratch(dir)
    }
    pub fn path(&self) -> &Path {
        &self.0
    }
    pub fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, contents).expect("write");
        path
    }
    pub fn options(&self, inputs: Vec<PathBuf>) -> Options {
        Options { inputs, work_dir: self.0.join("work"), ..Options::default() }
    }
    pub fn load(&self, inputs: Vec<PathBuf>) -> Result<Program, FrontendError> {
        load(&self.options(inputs))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
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
