//! `klee-replay`: runs a native program with the arguments, files and standard streams of a test.

use super::test_environment::{self, File, TestEnvironment};
use super::{attributes, usage};
use pleach::Scratch;
use pleach_command::{CliError, Code};
use pleach_report::KTest;
use std::ffi::OsString;
use std::fs;
use std::io::{Seek, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

const TOOL: &str = "klee-replay";
/// In seconds, from the environment.
const TIMEOUT: &str = "KLEE_REPLAY_TIMEOUT";

fn note(text: std::fmt::Arguments) {
    eprintln!("KLEE-REPLAY: NOTE: {text}");
}

pub fn main(args: Vec<String>) -> Result<Code, CliError> {
    let mut keep = false;
    let mut only_files = false;
    let mut rest = Vec::new();
    for arg in args {
        match arg.strip_prefix("--create-files-only=") {
            Some(file) => (only_files, rest) = (true, vec![file.to_owned()]),
            None => match arg.as_str() {
                "-k" | "--keep-replay-dir" => keep = true,
                "-f" | "--create-files-only" => only_files = true,
                a if a.starts_with('-') => return Err(usage(TOOL, format!("unknown option {a}"))),
                _ => rest.push(arg),
            },
        }
    }
    match &rest[..] {
        [test] if only_files => {
            let directory = Scratch::new()?;
            files(&directory.0, &read(test)?)?;
            std::mem::forget(directory);
            Ok(Code::Fine)
        }
        [program, tests @ ..] if !only_files && !tests.is_empty() => {
            let executable = fs::canonicalize(program).map_err(|why| usage(TOOL, format!("{program}: {why}")))?;
            for test in tests {
                let directory = Scratch::new()?;
                replay(program, &executable, test, &directory.0)?;
                if keep {
                    std::mem::forget(directory);
                }
            }
            Ok(Code::Fine)
        }
        _ => Err(usage(TOOL, "give a program and tests, or --create-files-only and a test")),
    }
}

fn read(file: &str) -> Result<TestEnvironment, CliError> {
    let bytes = pleach_load::regular::read(file.as_ref()).map_err(|why| usage(TOOL, format!("{file}: {why}")))?;
    test_environment::of(&KTest::from_bytes(&bytes)?).map_err(|why| usage(TOOL, format!("{file}: {why}")))
}

/// Makes the files `A`, `B`, … in a directory.
fn files(directory: &Path, all: &TestEnvironment) -> Result<(), CliError> {
    note(format_args!("Storing KLEE replay files in {}", directory.display()));
    for (letter, file) in ('A'..).zip(&all.files) {
        make(&directory.join(letter.to_string()), file)?;
    }
    Ok(())
}

fn system(why: std::io::Error) -> CliError {
    CliError::System { what: "make the files of the test", why }
}

/// A directory, or a file with these bytes and rights; devices and pipes become files.
fn make(path: &Path, file: &File) -> Result<(), CliError> {
    let mode = attributes::mode(&file.attributes).unwrap_or(0);
    let rights = fs::Permissions::from_mode(if mode & 0o777 == 0 { 0o644 } else { mode & 0o777 });
    let made = match mode & attributes::TYPE {
        attributes::DIRECTORY => fs::create_dir(path),
        kind => {
            if let attributes::DEVICE | attributes::FIFO = kind {
                note(format_args!("{} becomes a regular file", path.display()));
            }
            note(format_args!("Creating file {} of length {}", path.display(), file.bytes.len()));
            fs::write(path, &file.bytes)
        }
    };
    made.and_then(|()| fs::set_permissions(path, rights)).map_err(system)
}

/// A standard stream from a file of its own.
fn stream(path: &Path, file: &File) -> Result<Stdio, CliError> {
    let mut open = fs::File::options().read(true).write(true).create_new(true).open(path).map_err(system)?;
    open.write_all(&file.bytes).and_then(|()| open.rewind()).map_err(system)?;
    Ok(Stdio::from(open))
}

fn replay(program: &str, executable: &Path, test: &str, directory: &Path) -> Result<(), CliError> {
    let all = read(test)?;
    note(format_args!("Test file: {test}"));
    let shown = |a: &OsString| format!(" \"{}\"", a.to_string_lossy());
    note(format_args!("Arguments: \"{program}\"{}", all.args.iter().map(shown).collect::<String>()));
    files(directory, &all)?;
    let mut command = Command::new(executable);
    command.args(&all.args).current_dir(directory);
    let mut through_pipe = None;
    match &all.stdin {
        Some(f) if attributes::mode(&f.attributes).is_some_and(|m| m & attributes::TYPE == attributes::FIFO) => {
            command.stdin(Stdio::piped());
            through_pipe = Some(f.bytes.clone());
        }
        Some(f) => drop(command.stdin(stream(&directory.join("fd0"), f)?)),
        None => {}
    }
    if let Some(f) = &all.stdout {
        command.stdout(stream(&directory.join("fd1"), f)?);
    }
    let began = Instant::now();
    let mut child = command.spawn().map_err(|why| usage(TOOL, format!("{program}: {why}")))?;
    if let (Some(bytes), Some(mut pipe)) = (through_pipe, child.stdin.take()) {
        // A caller that does not read it does not need it.
        std::thread::spawn(move || pipe.write_all(&bytes));
    }
    let status = wait(&mut child, began)?;
    note(format_args!("EXIT STATUS: {} ({} seconds)", describe(status), began.elapsed().as_secs()));
    Ok(())
}

/// How it ended; none if its time was up.
fn wait(child: &mut Child, began: Instant) -> Result<Option<ExitStatus>, CliError> {
    let failed = |why| CliError::System { what: "wait for the program", why };
    let given = std::env::var(TIMEOUT).ok();
    let seconds = given.map(|t| t.parse::<u64>().map_err(|_| usage(TOOL, format!("{TIMEOUT}: `{t}` is not a number"))));
    let Some(limit) = seconds.transpose()?.map(Duration::from_secs) else {
        return child.wait().map(Some).map_err(failed);
    };
    while began.elapsed() < limit {
        if let Some(status) = child.try_wait().map_err(failed)? {
            return Ok(Some(status));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().and_then(|()| child.wait()).map_err(failed)?;
    Ok(None)
}

fn describe(status: Option<ExitStatus>) -> String {
    match status.map(|s| (s.code(), s.signal())) {
        Some((Some(0), _)) => "NORMAL".into(),
        Some((Some(code), _)) => format!("ABNORMAL {code}"),
        Some((None, signal)) => format!("CRASHED signal {}", signal.unwrap_or(0)),
        None => "TIMED OUT".into(),
    }
}
