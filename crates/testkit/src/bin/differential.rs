//! Random programs against native execution: `differential --count 2000 --seed 1 [--jobs 2] [--print]`.
//!
//! Programs have the seeds SEED, SEED + 1, …; a failing one is repeated with `--count 1 --seed ITS-SEED`.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use pleach_testkit::campaign::Programs;
use pleach_testkit::differential::{Comparison, compare_seed};
use pleach_testkit::random;

const USAGE: &str = "usage: differential [--count N] [--seed N] [--jobs N] [--print]";

fn main() -> ExitCode {
    let usual = Programs { jobs: 2, ..Programs::default() };
    let Some(options) = usual.asked(std::env::args().skip(1), |_, _| None) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let seeds = options.seed..options.end();
    if options.print {
        seeds.for_each(|s| println!("{}", random::program(s).source));
        return ExitCode::SUCCESS;
    }
    let (next, failed) = (AtomicU64::new(seeds.start), AtomicU64::new(0));
    let outcomes = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if !seeds.contains(&seed) {
                        return;
                    }
                    match compare_seed(seed) {
                        Ok(Comparison::Equal { outcomes: n, .. }) => {
                            outcomes.fetch_add(n as u64, Ordering::Relaxed);
                        }
                        Ok(Comparison::Different(how)) | Err(how) => {
                            failed.fetch_add(1, Ordering::Relaxed);
                            println!("DIFFERENT, seed {seed}\n{how}");
                        }
                    }
                    let done = seed + 1 - seeds.start;
                    if done.is_multiple_of(100) {
                        eprintln!("{done} of {} programs, {} different", options.count, failed.load(Ordering::Relaxed));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner();
    println!(
        "{} programs with {} outcomes: {} passed, {failed} failed",
        options.count,
        outcomes.into_inner(),
        options.count - failed
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
