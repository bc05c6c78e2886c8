//! Many programs in one file, compiled once.

use crate::generate;
use pleach_ir::Program;
use pleach_testkit::scratch::Scratch;
use std::rc::Rc;

/// The programs of these seeds.
pub fn compile(seeds: std::ops::Range<u64>, promote: bool) -> Result<Rc<Program>, String> {
    compile_text(&seeds.map(generate::program).collect::<String>(), promote)
}

/// A text after the prelude. With `promote` scalars whose address is not taken are registers, else everything is in
/// memory.
pub fn compile_text(text: &str, promote: bool) -> Result<Rc<Program>, String> {
    let scratch = Scratch::new("campaign");
    let source = scratch.file("programs.c");
    std::fs::write(&source, format!("{}{text}", generate::PRELUDE)).map_err(|e| e.to_string())?;
    let options = pleach_load::Options {
        inputs: vec![source],
        cc_args: vec!["-w".into()],
        promote,
        work_dir: scratch.file("work"),
        ..pleach_load::Options::default()
    };
    pleach_load::load(&options).map(Rc::new).map_err(|e| e.to_string())
}
