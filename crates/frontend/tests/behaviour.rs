//! Each program of `tests/programs` gives the same exit status natively and lowered, with and without promotion, and
//! lowered from optimised code.

mod common;

use common::{Scratch, check, interp};
use pleach_frontend::load;
use std::path::{Path, PathBuf};
use std::process::Command;

fn programs() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut found: Vec<PathBuf> = std::fs::read_dir(dir).expect("programs").map(|e| e.expect("entry").path()).collect();
    found.retain(|p| p.extension().is_some_and(|e| e == "c"));
    found.sort();
    assert!(!found.is_empty());
    found
}

fn native(program: &Path, scratch: &Scratch) -> u64 {
    let out = scratch.path().join("native");
    let compiled = Command::new("clang-19").arg("-w").arg("-O0").arg(program).arg("-o").arg(&out).arg("-lm").status();
    assert!(compiled.expect("clang-19").success());
    let code = Command::new(&out).status().expect("run").code();
    code.unwrap_or_else(|| panic!("{}: died natively", program.display())) as u64
}

#[test]
fn lowered_programs_do_what_native_ones_do() {
    for program in programs() {
        let scratch = Scratch::new();
        let expected = native(&program, &scratch);
        for (promote, level) in [(true, "-O0"), (false, "-O0"), (true, "-O1"), (true, "-O2")] {
            let mut options = scratch.options(vec![program.clone()]);
            options.promote = promote;
            options.cc_args = vec![level.to_owned()];
            let lowered = load(&options).unwrap_or_else(|e| panic!("{e}"));
            check(&lowered);
            let got = interp::run(&lowered).expect("an end") & 0xff;
            assert_eq!(got, expected, "{} promote={promote} {level}", program.display());
        }
    }
}

#[test]
fn lowering_is_deterministic() {
    for program in programs() {
        let scratch = Scratch::new();
        let print = || {
            let lowered = scratch.load(vec![program.clone()]).unwrap_or_else(|e| panic!("{e}"));
            pleach_ir::text::print(&lowered)
        };
        assert_eq!(print(), print(), "{}", program.display());
    }
}
