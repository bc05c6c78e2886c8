//! `pleach replay --gdb`, `--lldb`: the native build in a debugger, stopped at the predicted line.

use pleach_command::{CliError, Code};
use pleach_replay::{DebugBuild, Replayer};
use pleach_report::{Prediction, TestCase};
use std::io::ErrorKind;
use std::process::Command;

/// The debuggers we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Debugger {
    /// GNU's.
    Gdb,
    /// LLVM's.
    Lldb,
}

impl Debugger {
    /// The names of its program; Debian's packages have the version in it.
    pub fn programs(self) -> &'static [&'static str] {
        match self {
            Debugger::Gdb => &["gdb"],
            Debugger::Lldb => &["lldb", "lldb-19"],
        }
    }

    fn command(self, program: &str, build: &DebugBuild, stop: &Stop) -> Command {
        let mut command = Command::new(program);
        let (execute, end, lines) = match self {
            Debugger::Gdb => ("-ex", "--args", gdb(build, stop)),
            Debugger::Lldb => ("-o", "--", lldb(build, stop)),
        };
        for line in lines {
            command.args([execute, &line]);
        }
        command.arg(end);
        command.arg(&build.program).args(build.arguments.iter().skip(1)).current_dir(&build.directory);
        command
    }
}

/// Where it stops first.
enum Stop {
    Line(String, u32),
    Function(String),
}

fn gdb(build: &DebugBuild, stop: &Stop) -> Vec<String> {
    let mut lines = vec!["set startup-with-shell off".to_owned()];
    lines.extend(build.environment.iter().map(|(name, value)| format!("set environment {name} {value}")));
    lines.push(match stop {
        Stop::Line(file, line) => format!("break {file}:{line}"),
        Stop::Function(name) => format!("break {name}"),
    });
    lines.push("run".into());
    lines
}

fn lldb(build: &DebugBuild, stop: &Stop) -> Vec<String> {
    let mut lines = Vec::new();
    if !build.environment.is_empty() {
        // One command: each sets the whole environment.
        let all: Vec<String> = build.environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
        lines.push(format!("settings set target.env-vars {}", all.join(" ")));
    }
    lines.push(match stop {
        Stop::Line(file, line) => format!("breakpoint set --file {file} --line {line}"),
        Stop::Function(name) => format!("breakpoint set --name {name}"),
    });
    lines.push("process launch".into());
    lines
}

/// Runs the debugger on the terminal and waits for its end.
pub fn start(which: Debugger, replayer: &Replayer, test: &TestCase) -> Result<Code, CliError> {
    let build = replayer.debug_build(test)?;
    let stop = match &test.predicted {
        Prediction::Error { file, line, .. } if *line > 0 => Stop::Line(file.clone(), *line),
        _ => Stop::Function(build.entry.clone()),
    };
    eprintln!("pleach: the program runs without the sandbox, in {}", build.directory.display());
    // An interrupt is for the debugger.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, std::sync::Arc::default());
    let tried = which.programs().iter().map(|program| which.command(program, &build, &stop).status());
    let missing = |result: &std::io::Result<_>| matches!(result, Err(why) if why.kind() == ErrorKind::NotFound);
    let status = tried.into_iter().find(|result| !missing(result));
    build.remove();
    match status {
        Some(Ok(_)) => Ok(Code::Fine),
        Some(Err(why)) => Err(CliError::Usage(format!("cannot start {}: {why}", which.programs()[0]))),
        None => Err(CliError::Usage(format!("{} is not installed", which.programs().join(" or ")))),
    }
}
