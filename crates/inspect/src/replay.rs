//! `pleach replay`: does the real program do what was predicted?

use crate::debugger::{self, Debugger};
use crate::view::Configure;
use crate::{find, trace};
use clap::{Args, ValueEnum};
use pleach_command::{CliError, Code};
use pleach_replay::{Counts, Isolation, Limits, Options, Progress, ReplayError, Replayer, SanitizerUse, Verdict};
use pleach_report::RunDir;
use pleach_session::Session;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often the line of progress is written.
const ROUND: u64 = 100;

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Sanitizers {
    /// When an error does not show without them
    Auto,
    /// In every build
    Always,
    /// In no build
    Never,
}

#[derive(Args, Debug)]
pub struct ReplayArgs {
    /// A .ktest file of a run, or with --all the run's directory
    #[arg(value_name = "TEST|RUN")]
    pub path: PathBuf,
    /// Replay every test of the run that is a file
    #[arg(long)]
    pub all: bool,
    /// With --all: also the tests in the archive
    #[arg(long, requires = "all")]
    pub packed: bool,
    /// Start the debugger gdb at the predicted line, without the sandbox
    #[arg(long, conflicts_with_all = ["all", "json", "lldb"])]
    pub gdb: bool,
    /// Start the debugger lldb at the predicted line, without the sandbox
    #[arg(long, conflicts_with_all = ["all", "json"])]
    pub lldb: bool,
    /// Print the path as lines of the source, with the values that change, instead of running the program
    #[arg(long, conflicts_with_all = ["all", "json", "gdb", "lldb"])]
    pub trace: bool,
    /// Build with sanitizers
    #[arg(long, value_enum, default_value_t = Sanitizers::Auto)]
    pub sanitizers: Sanitizers,
    /// Time limit for one run of the program
    #[arg(long, value_name = "TIME", value_parser = pleach_command::duration::parse, default_value = "10s")]
    pub timeout: Duration,
    /// Memory limit for one run of the program, in MB
    #[arg(long, value_name = "MB", default_value_t = 2048)]
    pub memory: u64,
    /// Run the program even if the machine cannot isolate it
    #[arg(long = "unsafe")]
    pub run_unsafely: bool,
    /// Number of tests to replay at the same time
    #[arg(long, short, value_name = "N", default_value_t = 1)]
    pub jobs: usize,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// `configure` says what the flags of the run were, for what is executed in the engine.
pub fn run(args: ReplayArgs, configure: Configure) -> Result<Code, CliError> {
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
    let done = if args.all { all(&args, options) } else { one(&args, options, configure) };
    done.map_err(|error| match error {
        CliError::Replay(why @ ReplayError::Isolation { .. }) => {
            CliError::Usage(format!("{why}; --unsafe runs it anyway"))
        }
        other => other,
    })
}

fn one(args: &ReplayArgs, options: Options, configure: Configure) -> Result<Code, CliError> {
    pleach_load::regular::check(&args.path)
        .map_err(|why| CliError::Usage(format!("{} cannot be replayed: {why}", args.path.display())))?;
    let (run, test) = match find::packed(&args.path)? {
        Some(found) => found,
        None => (find::run_of(&args.path)?, pleach_replay::read_test(&args.path)?),
    };
    if args.trace {
        let info = run.run_info()?;
        std::env::set_current_dir(&info.directory).map_err(|why| CliError::System { what: "go to the run", why })?;
        trace::print(&Session::load(configure(&info)?)?, &test)?;
        return Ok(Code::Fine);
    }
    let replayer = Replayer::new(&run, options)?;
    if args.gdb || args.lldb {
        let which = if args.gdb { Debugger::Gdb } else { Debugger::Lldb };
        return debugger::start(which, &replayer, &test);
    }
    let report = replayer.replay(&test)?;
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

fn all(args: &ReplayArgs, options: Options) -> Result<Code, CliError> {
    let run = RunDir::open(&args.path)?;
    let tests = if args.packed { run.tests()? } else { run.tests_in_files()? };
    let packed = run.summary().map_or(0, |s| s.tests.saturating_sub(tests.len() as u64));
    let stop = Arc::new(AtomicBool::new(false));
    // The second interrupt ends the process.
    signal_hook::flag::register_conditional_shutdown(signal_hook::consts::SIGINT, 130, stop.clone())
        .and_then(|_| signal_hook::flag::register(signal_hook::consts::SIGINT, stop.clone()))
        .map_err(|why| CliError::System { what: "watch for signals", why })?;
    let line = ProgressLine::new();
    let rows = pleach_replay::replay_all(&run, &tests, options, &stop, &|progress, _| line.show(progress))?;
    line.clear();
    let counts = Counts::of(&rows);
    let missing = tests.len() - rows.len();
    if args.json {
        println!("{}", json(&serde_json::json!({ "tests": rows, "counts": counts, "not-replayed": missing })));
    } else {
        print!("{}", pleach_replay::table(&rows));
        if !args.packed && packed > 0 {
            println!("{packed} more in the archive: --packed replays them, too.");
        }
    }
    if missing > 0 {
        eprintln!("pleach: interrupted: {missing} of {} tests were not replayed", tests.len());
    }
    Ok(match (counts.disagrees, missing) {
        (1.., _) => Code::Found,
        (0, 1..) => Code::Interrupted,
        (0, 0) => Code::Fine,
    })
}

/// One line on the terminal.
struct ProgressLine {
    shows: bool,
    begun: Instant,
    /// When it was written last, in milliseconds.
    written: AtomicU64,
}

impl ProgressLine {
    fn new() -> Self {
        Self { shows: std::io::stderr().is_terminal(), begun: Instant::now(), written: AtomicU64::new(0) }
    }

    fn show(&self, progress: Progress) {
        let now = self.begun.elapsed().as_millis() as u64;
        let due = now >= self.written.load(Ordering::Relaxed) + ROUND;
        if self.shows && due {
            self.written.store(now, Ordering::Relaxed);
            let rate = progress.done as u64 * 1000 / now.max(1);
            eprint!("\r\x1b[2K{} of {} tests, {rate} per second", progress.done, progress.total);
        }
    }

    fn clear(&self) {
        if self.shows {
            eprint!("\r\x1b[2K");
        }
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|e| format!("{{\"error\": \"{e}\"}}"))
}
