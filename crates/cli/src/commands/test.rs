//! `pleach test`: explore all paths.

use crate::args::{Check, TestArgs};
use crate::assemble;
use crate::exploration_settings::ExplorationSettings;
use pleach::number_format::count;
use pleach_command::{CliError, Code};
use pleach_exec::LoopBound;
use pleach_present::corpus::Naming;
use pleach_present::{Files, Trace};
use pleach_session::all_entries::AllEntries;
use pleach_session::{Conclude, CoveredCalls, ExplorationResult, Session, SessionConfig, summary};
use pleach_state::Leaks;
use pleach_verify::Cover;
use std::path::Path;
use std::sync::Arc;

/// What the flags say, for this run or one that is executed again.
pub fn configuration(args: &mut TestArgs) -> Result<SessionConfig, CliError> {
    args.run.read_project()?;
    let cover = args.property.as_deref().map(Cover::read).transpose()?;
    if let Some(cover) = &cover {
        super::verify::start_where_the_property_says(&mut args.run, &cover.entry, "the property")?;
    }
    assemble::session(&args.run, &settings(args, cover))
}

pub fn run(mut args: TestArgs) -> Result<Code, CliError> {
    let mut config = configuration(&mut args)?;
    if args.all_entries {
        let how = AllEntries {
            to: args.continue_entries.clone().or_else(|| args.run.output_dir.clone()),
            json: args.run.json,
            require_complete: args.require_complete,
            continued: args.continue_entries.is_some(),
            rest: crate::argv::with_rest_of_entries,
        };
        return pleach_session::all_entries::run(config, how);
    }
    let (json, require_complete, files) = (args.run.json, args.require_complete, args.files.clone());
    let sync = args.afl_sync.clone();
    if let Some(directory) = &sync {
        config.seeds.extend(pleach_session::seeds::read_afl(directory)?);
    }
    let conclude: Conclude = Arc::new(move |found| conclude(found, json, require_complete, &files, sync.as_deref()));
    let session = Session::load(config)?;
    let mut covered = CoveredCalls::new(&session.config.exec.error_functions);
    conclude(session.explore(&mut covered, args.run.output_dir.as_deref(), &conclude)?)
}

fn conclude(
    mut found: ExplorationResult,
    json: bool,
    require_complete: bool,
    files: &Files,
    sync: Option<&Path>,
) -> Result<Code, CliError> {
    found.summary.verdict = summary::verdict(&found.summary).into();
    found.write();
    let text = summary::describe(&found.summary, &found.counters, found.elapsed, &found.place(), found.dir.files());
    found.say(&(text + &summary::costly_lines(&found.counters, &found.timing)), json);
    let traces = found.may_go_on().then_some(super::configuration::traces as Trace);
    found.keep(files.write(found.dir.path(), traces));
    if let Some(directory) = sync {
        let own = directory.join(pleach_session::seeds::INSTANCE);
        found.keep(pleach_present::corpus::write_run(found.dir.path(), Naming::Afl, &own));
    }
    let s = &found.summary;
    let new = files.new_errors(&s.errors)?.len();
    if new < s.errors.len() && !json {
        println!("{new} of {} are not in the baseline.", count(s.errors.len() as u64, "error"));
    }
    let code = match (new, found.signal) {
        _ if found.crashed => Code::Bug,
        (1.., _) => Code::Found,
        (0, Some(signal)) => Code::of_signal(signal),
        (0, None) if summary::nothing_checked(s) || require_complete && !s.complete => Code::Unknown,
        (0, None) => Code::Fine,
    };
    let code = found.code(code);
    found.forget();
    Ok(code)
}

fn settings(args: &TestArgs, cover: Option<Cover>) -> ExplorationSettings {
    ExplorationSettings {
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
        specification: cover.as_ref().map(|c| c.text.clone()),
        error_functions: cover.map(|c| c.calls).unwrap_or_default(),
        ..ExplorationSettings::default()
    }
}
