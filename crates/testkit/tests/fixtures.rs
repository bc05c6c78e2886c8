//! Every program below `tests/fixtures` does what its comments say, and every generated input does natively what was
//! predicted. One test per fixture; those marked so are also run twice and compared with brute force.

use libtest_mimic::{Arguments, Failed, Trial};
use pleach_testkit::fixture::{self, Fixture};

fn main() {
    let mut args = Arguments::from_args();
    args.test_threads = args.test_threads.or(Some(2));
    let mut trials = Vec::new();
    // Set by ./test where the sources of the C library cannot be had; it says so.
    let without_libc = std::env::var_os("PLEACH_WITHOUT_LIBC").is_some();
    for found in fixture::all() {
        let (name, fixture) = match found {
            Ok(fixture) => (fixture.name.clone(), fixture),
            Err((name, why)) => {
                trials.push(Trial::test(name, move || Err(Failed::from(why))));
                continue;
            }
        };
        let without = without_libc && name.starts_with("libc/");
        let extra: [(&str, bool, Check); 6] = [
            ("twice", fixture.repeat, fixture::equal_bytes),
            ("brute-force", fixture.brute.is_some(), fixture::brute_force),
            ("answers", !fixture.verdict_checks.is_empty(), fixture::verdict_check::answers),
            ("policies", fixture::policies::applies(&fixture), fixture::policies::same_findings),
            ("merged", fixture::merging::applies(&fixture), fixture::merging::same_findings),
            ("pruned", fixture::pruning::applies(&fixture), fixture::pruning::same_findings),
        ];
        for (what, wanted, check) in extra {
            if wanted {
                let fixture = fixture.clone();
                let trial = Trial::test(format!("{name} {what}"), move || Ok(check(&fixture)?));
                trials.push(trial.with_ignored_flag(without));
            }
        }
        if !fixture.only_asks() {
            trials.push(Trial::test(name, move || Ok(fixture::check(&fixture)?)).with_ignored_flag(without));
        }
    }
    libtest_mimic::run(&args, trials).exit();
}

type Check = fn(&Fixture) -> Result<(), String>;
