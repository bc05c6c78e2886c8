//! Random programs of csmith (`apt install csmith libcsmith-dev`) print the same checksum natively and lowered.
//! `cargo test -p pleach-frontend --test random -- --ignored`

mod common;

use common::{Scratch, check, interp};
use pleach_frontend::load;
use std::path::Path;
use std::process::Command;

const PROGRAMS: u32 = 60;

/// What the program prints after `checksum = `; `None` when it does not end in time.
fn native(source: &Path, scratch: &Scratch) -> Option<u128> {
    let out = scratch.path().join("native");
    let flags = ["-w", "-O0", "-I/usr/include/csmith"];
    let compiled = Command::new("clang-19").args(flags).arg(source).arg("-o").arg(&out).status();
    assert!(compiled.expect("clang-19").success());
    let output = Command::new("timeout").arg("2").arg(&out).output().expect("run");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let checksum = text.trim().strip_prefix("checksum = ")?;
    Some(u128::from_str_radix(checksum, 16).expect("a checksum"))
}

#[test]
#[ignore = "takes minutes and needs csmith"]
fn random_programs_agree() {
    let mut compared = 0;
    for seed in 1..=PROGRAMS {
        let scratch = Scratch::new();
        let source = scratch.path().join("r.c");
        let args = ["--seed", &seed.to_string(), "--no-argc", "-o"];
        // It leaves a file where it runs.
        let made = Command::new("csmith").current_dir(scratch.path()).args(args).arg(&source).status();
        assert!(made.expect("csmith").success());
        let Some(expected) = native(&source, &scratch) else { continue };
        for (promote, level) in [(true, "-O0"), (false, "-O0"), (true, "-O1")] {
            let mut options = scratch.options(vec![source.clone()]);
            options.include_dirs = vec!["/usr/include/csmith".into()];
            options.promote = promote;
            options.cc_args = vec![level.to_owned()];
            let lowered = load(&options).unwrap_or_else(|e| panic!("{e}"));
            check(&lowered);
            let Some(outcome) = interp::run(&lowered) else { continue };
            assert_eq!(outcome.printed, Some(expected), "seed {seed} promote={promote} {level}");
            compared += 1;
        }
    }
    assert!(compared > PROGRAMS, "too few programs end: {compared}");
}
