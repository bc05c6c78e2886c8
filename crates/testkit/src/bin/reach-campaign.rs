//! Random programs with every line as a target: `reach-campaign --count 5000 --seed 1 [--all-modes] [--print]`.
//!
//! Programs have the seeds SEED, SEED + 1, …; a failing one is repeated with `--count 1 --seed ITS-SEED --all-modes`.

use pleach_testkit::campaign::Programs;
use pleach_testkit::reaching::{BATCH, check_seeds, generate};
use std::process::ExitCode;

const USAGE: &str = "usage: reach-campaign [--count N] [--seed N] [--all-modes] [--print]";

fn main() -> ExitCode {
    let mut all_modes = false;
    let asked = Programs::default().asked(std::env::args().skip(1), |flag, _| {
        all_modes |= flag == "--all-modes";
        (flag == "--all-modes").then_some(())
    });
    let Some(options) = asked else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let end = options.end();
    if options.print {
        (options.seed..end).for_each(|s| print!("{}", generate::program(s).source));
        return ExitCode::SUCCESS;
    }
    let (mut targets, mut reachable, mut left_out, mut wrong) = (0, 0, 0, 0);
    for first in (options.seed..end).step_by(BATCH as usize) {
        let seeds = first..(first + BATCH).min(end);
        let done = seeds.end - options.seed;
        match check_seeds(seeds, all_modes) {
            Ok(report) => {
                (targets, reachable) = (targets + report.targets, reachable + report.reachable);
                left_out += report.left_out;
                wrong += report.wrong.len();
                report.wrong.iter().for_each(|w| println!("WRONG {w}"));
            }
            Err(why) => {
                wrong += 1;
                println!("WRONG {why}");
            }
        }
        eprintln!("{done} of {} programs, {targets} targets, {wrong} wrong", options.count);
    }
    let count = options.count;
    println!("{count} programs with {targets} targets ({reachable} reachable, {left_out} left out): {wrong} wrong");
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
