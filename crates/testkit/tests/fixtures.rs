//! Every program below `tests/fixtures` does what its comments say, and every generated input does natively what was
//! predicted. One test per fixture; those marked so are also run twice and compared with brute force.

use libtest_mimic::{Arguments, Failed, Trial};
use pleach_testkit::fixture::{self, Fixture};

fn main() {
    let mut args = Arguments::from_args();
    args.test_threads = args.test_threads.or(Some(2));
    let mut trials = Vec::new();
    for found in fixture::all() {
        let (name, fixture) = match found {
            Ok(fixture) => (fixture.name.clone(), fixture),
            Err((name, why)) => {
                trials.push(Trial::test(name, move || Err(Failed::from(why))));
                continue;
            }
        };
        let extra: [(&str, bool, Check); 4] = [
            ("twice", fixture.repeat, fixture::equal_bytes),
            ("brute-force", fixture.brute.is_some(), fixture::brute_force),
            ("answers", !fixture.questions.is_empty(), fixture::question::answers),
            ("pruned", fixture::pruning::applies(&fixture), fixture::pruning::same_findings),
        ];
        for (what, wanted, check) in extra {
            if wanted {
                let fixture = fixture.clone();
                trials.push(Trial::test(format!("{name} {what}"), move || Ok(check(&fixture)?)));
            }
        }
        if !fixture.only_asks() {
            trials.push(Trial::test(name, move || Ok(fixture::check(&fixture)?)));
        }
    }
    libtest_mimic::run(&args, trials).exit();
}

type Check = fn(&Fixture) -> Result<(), String>;
