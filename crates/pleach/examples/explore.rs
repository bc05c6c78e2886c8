//! Explores a C file with pruning and prints what was found: `cargo run --example explore -- FILE.c`.

use pleach::{CompileOptions, Engine, PruneConfig, Verdict};
use std::process::ExitCode;
use std::rc::Rc;

fn explore(file: &str) -> Result<Verdict, pleach::Error> {
    let program = Rc::new(pleach::load(&[file], &CompileOptions::default())?);
    let found = Engine::builder(program).prune(PruneConfig::default()).explore()?;
    println!("{:?}: {} paths, {} subsumed", found.verdict, found.counters.paths(), found.counters.pruned);
    for error in &found.errors {
        println!("  {} at {}:{}: {}", error.kind, error.file, error.line, error.message);
        for input in found.test_of(error).iter().flat_map(|t| &t.inputs) {
            println!("    {} = {:?}", input.name, input.bytes);
        }
    }
    for cut in &found.cuts {
        println!("  cut: {} {}", cut.reason, cut.detail);
    }
    Ok(found.verdict)
}

fn main() -> ExitCode {
    let Some(file) = std::env::args().nth(1) else {
        eprintln!("usage: explore FILE.c");
        return ExitCode::from(2);
    };
    match explore(&file) {
        Ok(_) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("explore: {why}");
            ExitCode::FAILURE
        }
    }
}
