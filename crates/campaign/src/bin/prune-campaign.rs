//! The soundness campaign of the pruning: `prune-campaign --count 20000 --seed 1 [--jobs 2] [--print]`.
//!
//! Programs have the seeds SEED, SEED + 1, …; `--count 1 --seed ITS-SEED` repeats a failing one, with `--print` prints
//! it, with `--reduce` prints what is needed of it.

use pleach_campaign::compare::{Totals, compare};
use pleach_campaign::engine::Bounds;
use pleach_campaign::reduce::reduce;
use pleach_campaign::{batch, generate};
use pleach_testkit::campaign::Programs;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "usage: prune-campaign [--count N] [--seed N] [--jobs N] [--instructions N] [--audit N] [--targets] [--memory] \
    [--merging] [--patterns] [--sizes] [--some N] [--print | --reduce]";
/// Programs per compilation.
const BATCH: u64 = 40;

struct Options {
    programs: Programs,
    instructions: u64,
    /// Nodes per run whose interpolant is audited.
    audit: u64,
    /// Programs that choose between objects by a symbolic index.
    targets: bool,
    /// The same, only the modes of memory.
    memory: bool,
    /// Only the modes of merging.
    merging: bool,
    /// Programs that scan buffers, only the modes of merging by patterns.
    patterns: bool,
    /// Programs with objects whose size depends on inputs.
    sizes: bool,
    /// Only N modes per program, all of them in turn.
    some: Option<usize>,
    /// Print them without the lines that a difference does not need.
    reduce: bool,
}

fn options() -> Option<Options> {
    let mut options = Options {
        programs: Programs { count: 200, ..Programs::default() },
        instructions: 40_000,
        audit: 60,
        targets: false,
        memory: false,
        merging: false,
        patterns: false,
        sizes: false,
        some: None,
        reduce: false,
    };
    options.programs = options.programs.asked(std::env::args().skip(1), |flag, number| {
        match flag {
            "--audit" => options.audit = number()?,
            "--instructions" => options.instructions = number()?,
            "--targets" => options.targets = true,
            "--memory" => options.memory = true,
            "--merging" => options.merging = true,
            "--patterns" => options.patterns = true,
            "--sizes" => options.sizes = true,
            "--some" => options.some = Some(number()? as usize),
            "--reduce" => options.reduce = true,
            _ => return None,
        }
        Some(())
    })?;
    Some(options)
}

fn main() -> ExitCode {
    let Some(mut options) = options() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    options.programs.seed += match () {
        () if options.patterns => generate::SCANS,
        () if options.sizes => generate::SIZES,
        () if options.memory || options.targets => generate::TARGETS,
        () => 0,
    };
    let end = options.programs.end();
    if options.programs.print {
        (options.programs.seed..end).for_each(|s| println!("{}", generate::standalone(s)));
        return ExitCode::SUCCESS;
    }
    let bounds = Bounds {
        instructions: options.instructions,
        time: Duration::from_secs(20),
        recheck: 4000,
        audit: options.audit as usize,
        modes: match (options.memory, options.merging) {
            _ if options.patterns => "patterns",
            (true, _) => "memory",
            (_, true) => "merging",
            _ => "",
        },
        some: options.some,
    };
    if options.reduce {
        for seed in options.programs.seed..end {
            println!("{}", reduce(seed, promoted(seed), bounds));
        }
        return ExitCode::SUCCESS;
    }
    let start = Instant::now();
    let next = AtomicU64::new(options.programs.seed / BATCH);
    let all = Mutex::new(Totals::default());
    std::thread::scope(|scope| {
        for _ in 0..options.programs.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let batch = next.fetch_add(1, Ordering::Relaxed);
                    if batch * BATCH >= end {
                        return;
                    }
                    let seeds = (batch * BATCH).max(options.programs.seed)..((batch + 1) * BATCH).min(end);
                    work(seeds, bounds, &all, start);
                }
            });
        }
    });
    let all = all.into_inner().unwrap_or_else(|e| e.into_inner());
    print!("{all}");
    println!("{} seconds", start.elapsed().as_secs());
    if all.different == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Every third batch keeps all locals in memory.
fn promoted(seed: u64) -> bool {
    (seed / BATCH) % 3 != 2
}

fn work(seeds: std::ops::Range<u64>, bounds: Bounds, all: &Mutex<Totals>, start: Instant) {
    let mut sum = Totals::default();
    match batch::compile(seeds.clone(), promoted(seeds.start)) {
        Err(why) => {
            println!("seeds {}–{}: {why}", seeds.start, seeds.end);
            sum.different += 1;
        }
        Ok(program) => {
            for seed in seeds {
                let (totals, differences) = compare(&program, seed, bounds);
                if !differences.is_empty() {
                    println!("DIFFERENT, seed {seed}\n{differences}");
                }
                sum.add(&totals);
            }
        }
    }
    let mut all = all.lock().unwrap_or_else(|e| e.into_inner());
    let before = all.programs;
    all.add(&sum);
    if before / 1000 != all.programs / 1000 {
        eprintln!("{} programs, {} different, {} s", all.programs, all.different, start.elapsed().as_secs());
    }
}
