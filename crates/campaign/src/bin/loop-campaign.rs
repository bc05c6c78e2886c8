//! Loops without end against enumeration: `loop-campaign --count 20000 --seed 1 [--audit N] [--print]`.
//!
//! With `--recursion` the programs are recursive functions, proved by contracts.
//! Programs have the seeds SEED, SEED + 1, …; `--count 1 --seed ITS-SEED` repeats a failing one, with `--print` prints
//! it.

use pleach_campaign::endless::{EndlessProgram, MODES, check, generate};
use pleach_campaign::engine::Bounds;
use pleach_campaign::recursive::{self, RecursiveProgram};
use pleach_campaign::{batch, generate as bounded};
use pleach_testkit::campaign::Programs;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str =
    "usage: loop-campaign [--count N] [--seed N] [--instructions N] [--audit N] [--recursion] [--print]";
/// Programs per compilation.
const BATCH: usize = 40;

#[derive(Default)]
struct Totals {
    programs: u64,
    faulty: u64,
    runs: u64,
    decided: u64,
    audited: u64,
    wrong: u64,
}

fn main() -> ExitCode {
    let (mut instructions, mut audit) = (60_000, 0);
    let recursion = std::env::args().any(|a| a == "--recursion");
    let programs = Programs { count: 200, ..Programs::default() };
    let programs = programs.asked(std::env::args().skip(1).filter(|a| a != "--recursion"), |flag, number| {
        match flag {
            "--instructions" => instructions = number()?,
            "--audit" => audit = number()?,
            _ => return None,
        }
        Some(())
    });
    let Some(programs) = programs else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let seeds: Vec<u64> = (programs.seed..programs.end()).collect();
    if recursion {
        return recursive_programs(&seeds, programs.print, instructions);
    }
    if programs.print {
        seeds.iter().for_each(|s| println!("{}{}", bounded::PRELUDE, generate(*s).text));
        return ExitCode::SUCCESS;
    }
    let time = Duration::from_secs(20);
    let bounds = Bounds { instructions, time, recheck: 0, audit: audit as usize, modes: "", some: None };
    let (mut all, start) = (Totals::default(), Instant::now());
    for batch in seeds.chunks(BATCH) {
        let generated: Vec<EndlessProgram> = batch.iter().map(|s| generate(*s)).collect();
        work(&generated, batch[0] / BATCH as u64 % 3 != 2, bounds, &mut all);
    }
    println!(
        "{} programs ({} faulty), {} of {} runs decided, {} edges audited, {} wrong, {} s",
        all.programs,
        all.faulty,
        all.decided,
        all.runs,
        all.audited,
        all.wrong,
        start.elapsed().as_secs()
    );
    if all.wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Recursive functions against evaluation.
fn recursive_programs(seeds: &[u64], print: bool, instructions: u64) -> ExitCode {
    let time = Duration::from_secs(10);
    let bounds = Bounds { instructions, time, recheck: 0, audit: 0, modes: "", some: None };
    let (mut proved, mut faulty, mut wrong, start) = (0, 0, 0, Instant::now());
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for batch in seeds.chunks(BATCH) {
        let generated: Vec<RecursiveProgram> = batch.iter().map(|s| recursive::generate(*s)).collect();
        let text: String = generated.iter().map(|p| p.text.as_str()).collect();
        if print {
            println!("{}{text}", bounded::PRELUDE);
            continue;
        }
        let program = match batch::compile_text(&text, true) {
            Ok(program) => program,
            Err(why) => {
                println!("seeds from {}: {why}", batch[0]);
                wrong += 1;
                continue;
            }
        };
        for p in &generated {
            let is_faulty = p.is_faulty();
            faulty += u64::from(is_faulty);
            match recursive::prove(&program, p, bounds) {
                Ok(_) if is_faulty => {
                    wrong += 1;
                    println!("WRONG, seed {}: a program with an error is proved", p.seed);
                }
                Ok(_) => proved += 1,
                Err(why) if is_faulty => drop(why),
                // Names of functions differ from program to program.
                Err(why) => *reasons.entry(why.replace(&format!("s{}_", p.seed), "")).or_default() += 1,
            }
        }
    }
    reasons.iter().for_each(|(why, n)| println!("{n:6} not proved: {why}"));
    println!(
        "{} recursive programs ({faulty} faulty), {proved} proved, {wrong} wrong, {} s",
        seeds.len(),
        start.elapsed().as_secs()
    );
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn work(generated: &[EndlessProgram], promote: bool, bounds: Bounds, all: &mut Totals) {
    let text: String = generated.iter().map(|p| p.text.as_str()).collect();
    let program = match batch::compile_text(&text, promote) {
        Ok(program) => program,
        Err(why) => {
            println!("seeds from {}: {why}", generated[0].seed);
            all.wrong += 1;
            return;
        }
    };
    let mut first_line = bounded::PRELUDE.lines().count() as u32 + 1;
    for p in generated {
        all.programs += 1;
        let mut faulty = false;
        for mode in MODES {
            all.runs += 1;
            match check(&program, p, first_line, *mode, bounds) {
                Ok(outcome) => {
                    faulty = outcome.faulty;
                    all.decided += u64::from(outcome.decided);
                    all.audited += outcome.audited;
                    if let Some(why) = outcome.wrong {
                        all.wrong += 1;
                        println!("WRONG, seed {}, {}: {why}", p.seed, mode.name);
                    }
                }
                Err(why) => {
                    all.wrong += 1;
                    println!("WRONG, seed {}, {}: {why}", p.seed, mode.name);
                }
            }
        }
        all.faulty += u64::from(faulty);
        first_line += p.text.lines().count() as u32;
    }
}
