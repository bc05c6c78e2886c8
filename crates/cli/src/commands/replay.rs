//! `pleach replay`: does the real program do what was predicted?

use crate::args::{ReplayArgs, Sanitizers};
use pleach_command::{CliError, Code};
use pleach_replay::{Counts, Isolation, Limits, Options, ReplayError, Replayer, SanitizerUse, Verdict};
use pleach_report::{KTest, RunDir, TestCase, TestId};
use std::io::IsTerminal;
use std::path::Path;

pub fn run(args: ReplayArgs) -> Result<Code, CliError> {
    let options = Options {
        sanitizers: match args.sanitizers {
            Sanitizers::Auto => SanitizerUse::WhenNeeded,
            Sanitizers::Always => SanitizerUse::Always,
            Sanitizers::Never => SanitizerUse::Never,
        },
        limits: Limits { time: args.timeout, memory: args.memory << 20, ..Limits::default() },
        jobs: args.jobs,
        isolation: if args.run_unsafely { Isolation::AsFarAsPossible } else { Isolation::Required },
        ..Options::default()
    };
    if args.path.is_dir() && !args.all {
        let path = args.path.display();
        return Err(CliError::Usage(format!(
            "{path} is a directory; replay one of its .ktest files or all of them with --all"
        )));
    }
    let done = if args.all { all(&args, options) } else { one(&args, options) };
    done.map_err(|error| match error {
        CliError::Replay(why @ ReplayError::Isolation { .. }) => {
            CliError::Usage(format!("{why}; --unsafe runs it anyway"))
        }
        other => other,
    })
}

fn one(args: &ReplayArgs, options: Options) -> Result<Code, CliError> {
    pleach_load::regular::check(&args.path)
        .map_err(|why| CliError::Usage(format!("{} cannot be replayed: {why}", args.path.display())))?;
    let report = match packed(&args.path)? {
        Some((run, test)) => Replayer::new(&run, options)?.replay(&test)?,
        None => pleach_replay::replay_path(&args.path, options)?,
    };
    if args.json {
        println!("{}", json(&report));
    } else {
        println!("{}", report.verdict);
        println!("Observed: {}.", report.observed);
        for note in &report.observed.notes {
            println!("Note: {note}.");
        }
    }
    Ok(if matches!(report.verdict, Verdict::Disagrees { .. }) { Code::Found } else { Code::Fine })
}

/// The test that `path` names, when it is in the run's archive and not a file.
fn packed(path: &Path) -> Result<Option<(RunDir, TestCase)>, CliError> {
    let whole = path.exists() && path.with_extension("json").exists();
    if whole {
        return Ok(None);
    }
    if path.exists() {
        // The prediction is in the archive, unless the file is someone else's.
        return Ok(find(path).filter(|(_, test)| same_input(path, test)));
    }
    let missing = || CliError::Usage(format!("{}: no such file", path.display()));
    find(path).map(Some).ok_or_else(missing)
}

/// The test of that name in the run that the path is in.
fn find(path: &Path) -> Option<(RunDir, TestCase)> {
    let id = path.file_name().and_then(|n| TestId::from_file_name(&n.to_string_lossy()))?;
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let run = RunDir::open(parent).ok()?;
    let test = run.tests().ok()?.into_iter().find(|t| t.id == id)?;
    Some((run, test))
}

/// Nobody has changed the file by hand.
fn same_input(path: &Path, test: &TestCase) -> bool {
    std::fs::read(path).is_ok_and(|bytes| bytes == KTest::from(test).to_bytes())
}

fn all(args: &ReplayArgs, options: Options) -> Result<Code, CliError> {
    let run = RunDir::open(&args.path)?;
    let shows = std::io::stderr().is_terminal();
    let rows = pleach_replay::replay_all(&run, options, &|progress, _| {
        if shows {
            eprint!("\r\x1b[2K{} of {} tests", progress.done, progress.total);
        }
    })?;
    if shows {
        eprint!("\r\x1b[2K");
    }
    let counts = Counts::of(&rows);
    if args.json {
        println!("{}", json(&serde_json::json!({ "tests": rows, "counts": counts })));
    } else {
        print!("{}", pleach_replay::table(&rows));
    }
    Ok(if counts.disagrees > 0 { Code::Found } else { Code::Fine })
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|e| format!("{{\"error\": \"{e}\"}}"))
}
