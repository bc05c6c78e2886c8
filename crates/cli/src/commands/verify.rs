//! `pleach verify`: does a property hold of all executions?

use crate::args::{RunArgs, VerifyArgs};
use crate::assemble;
use crate::exploration_settings::ExplorationSettings;
use pleach_command::{CliError, Code};
use pleach_exec::LoopBound;
use pleach_present::Trace;
use pleach_session::unsupported_property;
use pleach_session::verdict_text::conclude;
use pleach_session::witness_check::WitnessCheck;
use pleach_session::{Conclude, CorrectnessWitness, Counterexample, Session, SessionConfig};
use pleach_state::Leaks;
use pleach_verify::{Goal, Property, PropertyError};
use std::sync::{Arc, PoisonError};

/// What the flags say, for a run that is executed again.
pub fn configuration(mut args: VerifyArgs) -> Result<SessionConfig, CliError> {
    let property = Property::parse(&args.property)?;
    args.run.read_project()?;
    if let Some(entry) = property.entry() {
        start_where_the_property_says(&mut args.run, entry, &args.property)?;
    }
    assemble::session(&args.run, &settings(&args, property))
}

pub fn run(mut args: VerifyArgs) -> Result<Code, CliError> {
    let property = match Property::parse(&args.property) {
        Err(PropertyError::Unsupported(name)) => {
            let (run, to) = (&args.run, args.run.output_dir.as_deref());
            let dir = unsupported_property::answer(name, &run.files, to, run.json)?;
            args.files.write(dir.path(), None)?;
            return Ok(Code::Unknown);
        }
        property => property?,
    };
    args.run.read_project()?;
    if let Some(entry) = property.entry() {
        start_where_the_property_says(&mut args.run, entry, &args.property)?;
    }
    let (name, settings) = (property.name(), settings(&args, property));
    let config = assemble::session(&args.run, &settings)?;
    if let Some(witness) = args.check_witness {
        let (replay, output_dir) = (args.proof.replay.options(), args.run.output_dir);
        return WitnessCheck { config, witness, replay, output_dir, json: args.run.json }.run();
    }
    let session = Session::load_for_property(config)?;
    let mut judge = Counterexample::new(&session, args.proof.replay.options());
    let judged = judge.judged();
    let (json, files) = (args.run.json, args.files.clone());
    let conclude: Conclude = Arc::new(move |found| {
        let judged = judged.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let traces = found.may_go_on().then_some(super::configuration::traces as Trace);
        conclude(found, &judged, &name, json, |run| files.write(run, traces))
    });
    let found = session.explore(&mut judge, args.run.output_dir.as_deref(), &conclude)?;
    let witness = CorrectnessWitness::new(&session, &found);
    let code = conclude(found)?;
    witness.write(code)?;
    Ok(code)
}

/// `init(f())` of a property file is an entry like `--entry f`.
pub fn start_where_the_property_says(run: &mut RunArgs, entry: &str, file: &str) -> Result<(), CliError> {
    match &run.entry {
        None if entry == "main" => {}
        None => run.entry = Some(entry.to_owned()),
        Some(given) if given == entry => {}
        Some(given) => {
            return Err(CliError::Usage(format!("--entry says `{given}`, but {file} says `{entry}`")));
        }
    }
    Ok(())
}

fn settings(args: &VerifyArgs, property: Property) -> ExplorationSettings {
    let leaks = match () {
        () if property.has(Goal::ValidMemcleanup) => Leaks::Unfreed,
        () if property.has(Goal::ValidMemtrack) => Leaks::LostAnyway,
        () => Leaks::Ignored,
    };
    ExplorationSettings {
        search: args.proof.search.join(","),
        prune: !args.proof.no_prune && !args.check_uninit,
        unbounded: args.proof.unwind.is_none(),
        contracts: args.proof.unwind.is_none() && !property.is_everything(),
        portfolio: args.proof.unwind.is_none(),
        errors_only: true,
        overflow: property.has(Goal::NoOverflow),
        uninit: args.check_uninit,
        leaks,
        loop_bound: args.proof.unwind.map(LoopBound::Cut),
        error_functions: property.error_functions().to_vec(),
        property,
        ..ExplorationSettings::default()
    }
}
