//! `klee-replay`: runs a native program with the arguments, files and standard streams of a test, in replay's sandbox.

use super::{attributes, usage};
use pleach::temporary_directory;
use pleach_command::{CliError, Code};
use pleach_replay::{Arranged, Ended, Isolation, Laid, Limits};
use pleach_report::KTest;
use pleach_report::environment::{self, File, TestEnvironment};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{Seek, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

const TOOL: &str = "klee-replay";
/// In seconds, from the environment.
const TIMEOUT: &str = "KLEE_REPLAY_TIMEOUT";
/// Seconds where nothing is said.
const FOREVER: u64 = 10_000_000;
/// Most that is shown of what the program prints.
const OUTPUT: usize = 16 << 20;

fn note(text: std::fmt::Arguments) {
    eprintln!("KLEE-REPLAY: NOTE: {text}");
}

pub fn main(args: Vec<String>) -> Result<Code, CliError> {
    let mut keep = false;
    let mut only_files = false;
    let mut isolation = Isolation::Required;
    let mut rest = Vec::new();
    for arg in args {
        match arg.strip_prefix("--create-files-only=") {
            Some(file) => (only_files, rest) = (true, vec![file.to_owned()]),
            None => match arg.as_str() {
                "-k" | "--keep-replay-dir" => keep = true,
                "-f" | "--create-files-only" => only_files = true,
                "--unsafe" => isolation = Isolation::AsFarAsPossible,
                a if a.starts_with('-') => return Err(usage(TOOL, format!("unknown option {a}"))),
                _ => rest.push(arg),
            },
        }
    }
    match &rest[..] {
        [test] if only_files => {
            let directory = temporary_directory()?;
            files(directory.path(), &read(test)?)?;
            let _ = directory.keep();
            Ok(Code::Fine)
        }
        [program, tests @ ..] if !only_files && !tests.is_empty() => {
            let executable = fs::canonicalize(program).map_err(|why| usage(TOOL, format!("{program}: {why}")))?;
            for test in tests {
                let directory = temporary_directory()?;
                replay(program, &executable, test, directory.path(), isolation)?;
                if keep {
                    note(format_args!("What the program wrote is gone with its sandbox"));
                    let _ = directory.keep();
                }
            }
            Ok(Code::Fine)
        }
        _ => Err(usage(TOOL, "give a program and tests, or --create-files-only and a test")),
    }
}

fn read(file: &str) -> Result<TestEnvironment, CliError> {
    let bytes = pleach_load::regular::read(file.as_ref()).map_err(|why| usage(TOOL, format!("{file}: {why}")))?;
    environment::of(&KTest::from_bytes(&bytes)?).map_err(|why| usage(TOOL, format!("{file}: {why}")))
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

fn rights(mode: u32) -> u32 {
    if mode & 0o777 == 0 { 0o644 } else { mode & 0o777 }
}

/// A directory, or a file with these bytes and rights; devices and pipes become files.
fn make(path: &Path, file: &File) -> Result<(), CliError> {
    let mode = attributes::mode(&file.attributes).unwrap_or(0);
    let rights = fs::Permissions::from_mode(rights(mode));
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
fn stream(path: &Path, file: &File) -> Result<OwnedFd, CliError> {
    let mut open = fs::File::options().read(true).write(true).create_new(true).open(path).map_err(system)?;
    open.write_all(&file.bytes).and_then(|()| open.rewind()).map_err(system)?;
    Ok(open.into())
}

/// Standard input that comes through a pipe.
fn piped(bytes: Vec<u8>) -> Result<OwnedFd, CliError> {
    let (reader, mut writer) = std::io::pipe().map_err(system)?;
    // Who does not read it has not asked for it.
    std::thread::spawn(move || writer.write_all(&bytes));
    Ok(reader.into())
}

/// A file as the sandbox lays it out.
fn laid(name: String, file: &File) -> Laid {
    let mode = attributes::mode(&file.attributes).unwrap_or(0);
    let bytes = (mode & attributes::TYPE != attributes::DIRECTORY).then(|| file.bytes.clone());
    Laid { name, bytes, mode: rights(mode) }
}

fn replay(program: &str, executable: &Path, test: &str, directory: &Path, how: Isolation) -> Result<(), CliError> {
    let all = read(test)?;
    note(format_args!("Test file: {test}"));
    let quoted = |a: &OsString| format!(" \"{}\"", a.to_string_lossy());
    note(format_args!("Arguments: \"{program}\"{}", all.args.iter().map(quoted).collect::<String>()));
    files(directory, &all)?;
    let stdin = match &all.stdin {
        Some(f) if attributes::mode(&f.attributes).is_some_and(|m| m & attributes::TYPE == attributes::FIFO) => {
            Some(piped(f.bytes.clone())?)
        }
        Some(f) => Some(stream(&directory.join("fd0"), f)?),
        None => None,
    };
    let stdout = all.stdout.as_ref().map(|f| stream(&directory.join("fd1"), f)).transpose()?;
    let arguments = std::iter::once(OsStr::new(program)).chain(all.args.iter().map(OsString::as_os_str));
    let variable = |(name, value): (OsString, OsString)| [name.as_bytes(), b"=", value.as_bytes()].concat();
    let arranged = Arranged {
        program: executable,
        arguments: arguments.map(|a| a.as_bytes().to_vec()).collect(),
        environment: std::env::vars_os().map(variable).collect(),
        files: ('A'..).zip(&all.files).map(|(letter, f)| laid(letter.to_string(), f)).collect(),
        stdin,
        stdout,
        scratch: &directory.join("sandbox"),
    };
    let limits = Limits { time: time()?, output: OUTPUT, ..Limits::default() };
    let began = Instant::now();
    let ran = arranged.run(how, limits)?;
    let printed = std::io::stdout().write_all(&ran.stdout).and_then(|()| std::io::stderr().write_all(&ran.stderr));
    printed.map_err(|why| CliError::System { what: "show what the program printed", why })?;
    if ran.stdout.len().max(ran.stderr.len()) >= OUTPUT {
        note(format_args!("What the program printed beyond {OUTPUT} bytes is not shown"));
    }
    note(format_args!("EXIT STATUS: {} ({} seconds)", describe(ran.ended), began.elapsed().as_secs()));
    Ok(())
}

/// How long the program may take.
fn time() -> Result<Duration, CliError> {
    let given = std::env::var(TIMEOUT).ok();
    let seconds = given.map(|t| t.parse::<u64>().map_err(|_| usage(TOOL, format!("{TIMEOUT}: `{t}` is not a number"))));
    Ok(Duration::from_secs(seconds.transpose()?.unwrap_or(FOREVER)))
}

fn describe(ended: Ended) -> String {
    match ended {
        Ended::Code(0) => "NORMAL".into(),
        Ended::Code(code) => format!("ABNORMAL {code}"),
        Ended::Signal(signal) => format!("CRASHED signal {signal}"),
        Ended::TimedOut => "TIMED OUT".into(),
    }
}
