//! `pleach reach --backward`: from a target to the inputs of the function that it is in.

use crate::args::ReachArgs;
use crate::assemble;
use pleach_backward::Config;
use pleach_backward_session::BackwardSession;
use pleach_command::{CliError, Code};

pub fn run(args: ReachArgs) -> Result<Code, CliError> {
    refuse(&args)?;
    let config = config(&args);
    pleach_backward_session::run(&BackwardSession {
        // A style that was asked for decides itself.
        survey: !args.no_survey && config.abstract_loops && config.style == Config::default().style,
        config,
        compile: assemble::compile(&args.run.compile, false),
        replay: args.proof.replay.options(),
        files: args.run.files,
        targets: args.target,
        all_asserts: args.all_asserts,
        all_errors: args.all_errors,
        warnings: args.warnings,
        entry: args.run.entry,
        to: args.to.map(|root| (root, args.climb.unwrap_or(6))),
        max_time: args.run.max_time,
        output_dir: args.run.output_dir,
        json: args.run.json,
    })
}

/// Flags that mean something forward only.
fn refuse(args: &ReachArgs) -> Result<(), CliError> {
    let usage = |what: &str| Err(CliError::Usage(format!("--backward does not take {what}")));
    match () {
        () if args.each => usage("--each: every target has an answer of its own"),
        () if args.proof.no_prune => usage("--no-prune: nothing is pruned"),
        () if args.all_blocks => usage("--all-blocks"),
        () if args.run.compile.malloc_may_fail => usage("--malloc-may-fail: there, allocations succeed"),
        () if !args.run.param.is_empty() => usage("--param"),
        () if !args.run.args.is_empty() => usage("arguments of the program"),
        () => Ok(()),
    }
}

pub fn config(args: &ReachArgs) -> Config {
    let default = Config::default();
    Config {
        style: args.backward.unwrap_or(default.style),
        unwind: args.proof.unwind.unwrap_or(default.unwind),
        inline: args.inline.unwrap_or(default.inline),
        abstract_loops: !args.no_abstract_loops,
        time: args.run.max_time,
        backend: assemble::backend(&args.run),
        ..default
    }
}
