//! Compares `summary.json` of all fixtures between two builds of `pleach`: `compare-summaries FIRST SECOND [PART]`.
//!
//! PART selects fixtures by a part of their name. A refactoring changes nothing; the last lines say at which places of
//! the summaries the two differ, and in how many runs. A renamed key shows as two keys of one program only.

use pleach_testkit::fixture::{self, summaries};
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: compare-summaries FIRST SECOND [PART]";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (first, second, part) = match &args[..] {
        [first, second] => (first, second, ""),
        [first, second, part] => (first, second, part.as_str()),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    // Fixtures run in their own directories.
    let absolute = |path: &str| std::path::absolute(path).unwrap_or_else(|_| Path::new(path).to_owned());
    let (first, second) = (absolute(first), absolute(second));
    let mut places = summaries::Places::default();
    let (mut runs, mut other_values, mut failed) = (0, 0, 0);
    for fixture in fixture::all().into_iter().flatten().filter(|f| f.name.contains(part)) {
        let compared = match summaries::compare(&fixture, &first, &second) {
            Ok(compared) => compared,
            Err(why) => {
                println!("{}: {why}", fixture.name);
                failed += 1;
                continue;
            }
        };
        for (command, found) in compared {
            runs += 1;
            places.add(&found);
            let values: Vec<_> = found.iter().filter(|d| !d.is_key()).collect();
            other_values += u64::from(!values.is_empty());
            for d in values {
                println!("{} ({command}): {}", fixture.name, summaries::describe(d));
            }
        }
    }
    for (what, places) in [("other values", &places.values), ("only of one program", &places.keys)] {
        places.iter().for_each(|(at, n)| println!("{what}: {at} in {n} runs"));
    }
    println!("{runs} runs, {other_values} with other values, {failed} that failed");
    let equal = places.values.is_empty() && places.keys.is_empty() && failed == 0;
    if equal { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
