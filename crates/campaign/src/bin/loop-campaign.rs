//! Loops without end against enumeration: `loop-campaign --count 20000 --seed 1 [--audit N] [--print]`.
//!
//! Programs have the seeds SEED, SEED + 1, …; `--count 1 --seed ITS-SEED` repeats a failing one, with `--print` prints it.

use pleach_campaign::endless::{EndlessProgram, MODES, check, generate};
use pleach_campaign::engine::Bounds;
use pleach_campaign::{batch, generate as bounded};
use pleach_testkit::campaign::Programs;
use std::process::ExitCode;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "usage: loop-campaign [--count N] [--seed N] [--instructions N] [--audit N] [--print]";
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
    let programs = Programs { count: 200, ..Programs::default() };
    let programs = programs.asked(std::env::args().skip(1), |flag, number| {
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
