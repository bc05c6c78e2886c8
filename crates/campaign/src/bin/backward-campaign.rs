//! Random functions with small heaps, backward against brute force: `backward-campaign --count 10000 --seed 1`.
//!
//! `--all-styles` decides each mark in all styles. Functions have the seeds SEED, SEED + 1, …; `--count 1 --seed
//! ITS-SEED --print` prints one.

use pleach_campaign::backward::{FUNCTIONS, Function, Totals, check, prelude};
use pleach_testkit::campaign::Programs;
use std::process::ExitCode;
use std::time::Instant;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let mut all_styles = false;
    let asked = Programs { count: 300, ..Programs::default() }.asked(std::env::args().skip(1), |flag, _| {
        all_styles |= flag == "--all-styles";
        (flag == "--all-styles").then_some(())
    });
    let Some(asked) = asked else {
        eprintln!("usage: backward-campaign [--count N] [--seed N] [--all-styles] [--print]");
        return ExitCode::from(2);
    };
    let functions: Vec<(u64, Function)> =
        (asked.seed..asked.seed + asked.count).map(|s| (s, Function::new(s))).collect();
    if asked.print {
        print!("{}", prelude());
        functions.iter().for_each(|(_, f)| print!("{}", f.text()));
        return ExitCode::SUCCESS;
    }
    let start = Instant::now();
    let mut totals = Totals::default();
    for batch in functions.chunks(FUNCTIONS as usize) {
        if let Err(why) = one_batch(batch, all_styles, &mut totals) {
            eprintln!("backward-campaign: {why}");
            return ExitCode::FAILURE;
        }
    }
    println!(
        "{} functions, {} reachable, {} unreachable, {} unreachable within the bound, {} unknown; {} reached by brute \
         force; {} wrong; {:.1} s",
        totals.functions,
        totals.reachable,
        totals.unreachable,
        totals.within,
        totals.unknown,
        totals.reached,
        totals.wrong.len(),
        start.elapsed().as_secs_f64()
    );
    println!("  all marks of a function at once: {:?}", totals.surveyed);
    for (why, n) in &totals.reasons {
        println!("  {n} unknown: {why}");
    }
    for (style, (seconds, n)) in &totals.times {
        println!("  {style}: {n} queries, {seconds:.1} s of CPU time");
    }
    println!("  slowest: {:.1} s, {}", totals.slowest.0, totals.slowest.1);
    totals.wrong.iter().for_each(|w| println!("WRONG {w}"));
    if totals.wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn one_batch(batch: &[(u64, Function)], all_styles: bool, totals: &mut Totals) -> Result<(), String> {
    let mut text = prelude().to_owned();
    batch.iter().for_each(|(_, f)| text.push_str(&f.text()));
    let scratch = pleach::temporary_directory().map_err(|e| e.to_string())?;
    let file = scratch.path().join("functions.c");
    std::fs::write(&file, text).map_err(|e| e.to_string())?;
    let program = pleach::load(&[&file], &pleach::CompileOptions::default()).map_err(|e| e.to_string())?;
    for (seed, f) in batch {
        check(&program, f, *seed, all_styles, totals);
    }
    Ok(())
}
