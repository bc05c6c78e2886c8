//! Random programs against native execution: `differential --count 2000 --seed 1 [--values | --merging] [--jobs 2]`.
//!
//! Programs have the seeds SEED, SEED + 1, …; a failing one is repeated with `--count 1 --seed ITS-SEED`.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use pleach_testkit::campaign::Programs;
use pleach_testkit::differential::{BATCH, Comparison, MERGE_MODES, compare_modes, compare_seed, compare_values};
use pleach_testkit::outcome::PathOutcome;
use pleach_testkit::random;

const USAGE: &str = "usage: differential [--count N] [--seed N] [--values | --merging] [--jobs N] [--print]";

fn source(seed: u64, values: bool) -> String {
    if values { random::values::program(seed).source() } else { random::program(seed).source }
}

fn main() -> ExitCode {
    let usual = Programs { jobs: 2, ..Programs::default() };
    let (mut values, mut merging) = (false, false);
    let own = |flag: &str, _: pleach_testkit::campaign::Number| {
        match flag {
            "--values" => values = true,
            "--merging" => merging = true,
            _ => return None,
        }
        Some(())
    };
    let Some(options) = usual.asked(std::env::args().skip(1), own) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let seeds = options.seed..options.end();
    if options.print {
        seeds.for_each(|s| println!("{}", source(s, values)));
        return ExitCode::SUCCESS;
    }
    let (next, failed) = (AtomicU64::new(seeds.start), AtomicU64::new(0));
    let (done, seen) = (AtomicU64::new(0), Mutex::new(Seen::default()));
    let step = if values { BATCH } else { 1 };
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let first = next.fetch_add(step, Ordering::Relaxed);
                    if !seeds.contains(&first) {
                        return;
                    }
                    let some = first..(first + step).min(seeds.end);
                    let size = some.end - some.start;
                    let compared = match values {
                        true => compare_values(some, &[]),
                        false if merging => compare_modes(first, &MERGE_MODES).map(|c| vec![(first, c)]),
                        false => compare_seed(first).map(|c| vec![(first, c)]),
                    };
                    let compared = compared.unwrap_or_else(|why| vec![(first, Comparison::Different(why))]);
                    for (seed, comparison) in compared {
                        match comparison {
                            Comparison::Equal { inputs, tests, outcomes } => {
                                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                                seen.add(inputs, tests, &outcomes);
                            }
                            Comparison::Different(how) => {
                                failed.fetch_add(1, Ordering::Relaxed);
                                println!("DIFFERENT, seed {seed}\n{how}");
                            }
                        }
                    }
                    let before = done.fetch_add(size, Ordering::Relaxed);
                    if before / 100 != (before + size) / 100 {
                        let failed = failed.load(Ordering::Relaxed);
                        eprintln!("{} of {} programs, {failed} different", before + size, options.count);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner();
    let seen = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("{seen}");
    println!("{} programs: {} passed, {failed} failed", options.count, options.count - failed);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What the programs that passed did.
#[derive(Default)]
struct Seen {
    inputs: usize,
    tests: usize,
    /// Different ends of a program, summed up over the programs.
    kinds: BTreeMap<String, usize>,
}

impl Seen {
    fn add(&mut self, inputs: usize, tests: usize, outcomes: &BTreeSet<PathOutcome>) {
        (self.inputs, self.tests) = (self.inputs + inputs, self.tests + tests);
        for outcome in outcomes {
            let kind = match outcome {
                PathOutcome::Error(kind, _) => kind.to_string(),
                PathOutcome::Exit(_) => "exit".into(),
                other => other.to_string(),
            };
            *self.kinds.entry(kind).or_default() += 1;
        }
    }
}

impl std::fmt::Display for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let outcomes: usize = self.kinds.values().sum();
        write!(f, "{} inputs, {} tests, {outcomes} outcomes:", self.inputs, self.tests)?;
        self.kinds.iter().try_for_each(|(kind, n)| write!(f, " {kind} {n}"))
    }
}
