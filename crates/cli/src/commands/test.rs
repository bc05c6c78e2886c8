//! `pleach test`: explore all paths.

use crate::args::{Check, TestArgs};
use crate::error::{CliError, Code};
use crate::observer::Nobody;
use crate::plan::Plan;
use crate::session::Session;
use crate::summary;
use pleach_exec::LoopBound;
use pleach_state::Leaks;
use pleach_verify::Property;

pub fn run(args: TestArgs) -> Result<Code, CliError> {
    let plan = plan(&args);
    let mut found = Session::load(&args.run, &plan)?.explore(&plan, &mut Nobody, args.run.output_dir.as_deref())?;
    found.summary.verdict = summary::verdict(&found.summary).into();
    found.write()?;
    if args.run.json {
        println!("{}", serde_json::to_string_pretty(&found.summary).unwrap_or_default());
    } else {
        print!("{}", summary::words(&found.summary, &found.counters, found.elapsed, &found.place()));
    }
    let s = &found.summary;
    Ok(match s.errors.len() {
        _ if found.crashed => Code::Bug,
        1.. => Code::Found,
        0 if summary::nothing_checked(s) || args.require_complete && !s.complete => Code::Unknown,
        0 => Code::Fine,
    })
}

fn plan(args: &TestArgs) -> Plan {
    Plan {
        search: args.search.join(","),
        prune: args.prune,
        overflow: args.check.contains(&Check::SignedOverflow),
        uninit: args.check.contains(&Check::Uninit),
        leaks: if args.check.contains(&Check::Leak) { Leaks::Lost } else { Leaks::Ignored },
        loop_bound: args.loop_limit.map(LoopBound::Error),
        max_tests: args.max_tests,
        emit_all_errors: args.emit_all_errors,
        exit_on_error: args.exit_on_error,
        exit_on_error_type: args.exit_on_error_type.clone(),
        error_functions: Vec::new(),
        property: Property::default(),
    }
}
