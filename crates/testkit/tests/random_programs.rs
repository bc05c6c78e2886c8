//! A hundred random programs and seventy about values do natively what the engine says, and a few get the answers that
//! follow from it; `docs/testing.md` has the command for more.

use pleach_testkit::answers::check_seed;
use pleach_testkit::differential::{
    Comparison, MEMORY_MODES, MERGE_MODES, compare_modes, compare_seed, compare_values,
};
use pleach_testkit::outcome::PathOutcome;
use pleach_testkit::reaching::check_seeds;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

const FIRST: u64 = 1;
const COUNT: u64 = 100;

#[test]
fn a_hundred_random_programs() {
    let (next, failures) = (AtomicU64::new(FIRST), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let seed = next.fetch_add(1, Ordering::Relaxed)
                    && seed < FIRST + COUNT
                {
                    if let Ok(Comparison::Different(how)) | Err(how) = compare_seed(seed) {
                        failures.lock().unwrap_or_else(|e| e.into_inner()).push(how);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap_or_else(|e| e.into_inner());
    assert!(failures.is_empty(), "{} of {COUNT} programs differ:\n{}", failures.len(), failures.join("\n\n"));
}

/// Blocks whose size the path knows, read at a symbolic offset: what lies behind their end was never written.
#[test]
fn what_lies_behind_the_end_of_a_block_decides_nothing() {
    for seed in [1016, 1059] {
        if let Ok(Comparison::Different(how)) | Err(how) = compare_seed(seed) {
            panic!("{how}");
        }
    }
}

/// 30 that look for signed overflow, 40 that do not.
#[test]
fn values_and_inputs_with_equal_names() {
    let compared = compare_values(20..90, &[]).unwrap_or_else(|why| panic!("{why}"));
    let wrong = different(&compared);
    assert!(wrong.is_empty(), "{} of {} programs differ:\n{}", wrong.len(), compared.len(), wrong.join("\n\n"));
    let all = compared.iter().filter_map(|(_, c)| match c {
        Comparison::Equal { outcomes, .. } => Some(outcomes),
        Comparison::Different(_) => None,
    });
    let errors = all.flatten().filter(|o| matches!(o, PathOutcome::Error(..))).count();
    assert!(compared.len() == 70 && errors > 20, "{errors} errors in {} programs", compared.len());
}

/// Tests of merged paths do natively what was predicted, and merging loses no error.
#[test]
fn merged_paths() {
    let wrong = different_in(&MERGE_MODES, 41);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// How eight programs differ in one of the modes.
fn different_in(modes: &[&[&str]], step: u64) -> Vec<String> {
    let compared = (1..=8).map(|n| compare_modes(n * step, modes));
    let wrong = compared.filter_map(|c| match c {
        Ok(Comparison::Different(how)) | Err(how) => Some(how),
        Ok(Comparison::Equal { .. }) => None,
    });
    wrong.collect()
}

fn different(compared: &[(u64, Comparison)]) -> Vec<&str> {
    let how = compared.iter().filter_map(|(_, c)| match c {
        Comparison::Different(how) => Some(how.as_str()),
        Comparison::Equal { .. } => None,
    });
    how.collect()
}

#[test]
fn caches_and_policies_change_nothing() {
    let wrong = different_in(&MEMORY_MODES, 37);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let compared = compare_values(1000..1025, MEMORY_MODES[2]).unwrap_or_else(|why| panic!("{why}"));
    assert!(different(&compared).is_empty(), "{}", different(&compared).join("\n"));
}

#[test]
fn answers_follow_from_what_is_found() {
    let wrong: Vec<String> = (1..=3).flat_map(|seed| check_seed(seed).unwrap_or_else(|why| vec![why])).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_line_is_reached_or_is_not() {
    let report = check_seeds(1..21, false).unwrap_or_else(|why| panic!("{why}"));
    assert!(report.reachable > 100 && report.targets > report.reachable + 50, "too few targets");
    assert!(report.wrong.is_empty(), "{}", report.wrong.join("\n"));
}
