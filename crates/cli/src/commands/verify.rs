//! `pleach verify`: does a property hold of all executions?

use crate::args::VerifyArgs;
use crate::assemble;
use crate::exploration_settings::ExplorationSettings;
use pleach_command::{CliError, Code};
use pleach_exec::LoopBound;
use pleach_session::verdict_text::conclude;
use pleach_session::witness_check::WitnessCheck;
use pleach_session::{Conclude, CorrectnessWitness, Counterexample, Session};
use pleach_state::Leaks;
use pleach_verify::{Goal, Property};
use std::sync::{Arc, PoisonError};

pub fn run(mut args: VerifyArgs) -> Result<Code, CliError> {
    let property = Property::parse(&args.property)?;
    start_where_the_property_says(&mut args, &property)?;
    let (name, settings) = (property.name(), settings(&args, property));
    let config = assemble::session(&args.run, &settings)?;
    if let Some(witness) = args.check_witness {
        let (replay, output_dir) = (args.proof.replay.options(), args.run.output_dir);
        return WitnessCheck { config, witness, replay, output_dir, json: args.run.json }.run();
    }
    let session = Session::load_for_property(config)?;
    let mut judge = Counterexample::new(&session, args.proof.replay.options());
    let judged = judge.judged();
    let json = args.run.json;
    let conclude: Conclude = Arc::new(move |found| {
        let judged = judged.lock().unwrap_or_else(PoisonError::into_inner).clone();
        conclude(found, &judged, &name, json)
    });
    let found = session.explore(&mut judge, args.run.output_dir.as_deref(), &conclude)?;
    let witness = CorrectnessWitness::new(&session, &found);
    let code = conclude(found)?;
    witness.write(code)?;
    Ok(code)
}

/// `init(f())` of a property file is an entry like `--entry f`.
fn start_where_the_property_says(args: &mut VerifyArgs, property: &Property) -> Result<(), CliError> {
    let Some(entry) = property.entry() else { return Ok(()) };
    match &args.run.entry {
        None if entry == "main" => {}
        None => args.run.entry = Some(entry.to_owned()),
        Some(given) if given == entry => {}
        Some(given) => {
            let file = &args.property;
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
