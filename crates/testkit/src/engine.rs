//! Running the built program.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::scratch::Scratch;

/// How a process ended and what it wrote.
#[derive(Debug)]
pub struct Finished {
    /// Exit code; none after a signal or when time was up.
    pub code: Option<i32>,
    pub timed_out: bool,
    pub stdout: String,
    pub stderr: String,
    pub elapsed: Duration,
}

impl Finished {
    /// Everything it wrote.
    pub fn output(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// Whether it ended by a panic or a signal, which no input may cause.
    pub fn crashed(&self) -> bool {
        self.code.is_none() && !self.timed_out || self.code == Some(101) || self.stderr.contains("panicked at")
    }
}

/// The program under test: `PLEACH_BIN`, or the one next to this process.
pub fn binary() -> Result<PathBuf, String> {
    if let Some(given) = std::env::var_os("PLEACH_BIN") {
        return Ok(given.into());
    }
    let me = std::env::current_exe().map_err(|e| e.to_string())?;
    let places = me.ancestors().skip(1).take(2).map(|d| d.join("pleach"));
    let found = places.into_iter().find(|p| p.is_file());
    found.ok_or_else(|| "there is no built `pleach`; run `cargo build --profile tests -p pleach-cli` first".into())
}

/// Runs a command for at most `limit`. Output goes through files, so that a chatty program cannot block.
pub fn run(command: &mut Command, limit: Duration) -> std::io::Result<Finished> {
    let scratch = Scratch::new("output");
    let (out, err) = (scratch.file("out"), scratch.file("err"));
    command.stdin(Stdio::null()).stdout(File::create(&out)?).stderr(File::create(&err)?);
    let started = Instant::now();
    let mut child = command.spawn()?;
    let mut wait = Duration::from_micros(500);
    let (status, timed_out) = loop {
        if let Some(status) = child.try_wait()? {
            break (Some(status), false);
        }
        if started.elapsed() > limit {
            let _ = child.kill();
            break (child.wait().ok(), true);
        }
        std::thread::sleep(wait);
        wait = (wait * 2).min(Duration::from_millis(10));
    };
    let text = |path: &Path| fs::read(path).map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default();
    Ok(Finished {
        code: status.filter(|_| !timed_out).and_then(|s| s.code()),
        timed_out,
        stdout: text(&out),
        stderr: text(&err),
        elapsed: started.elapsed(),
    })
}

/// `pleach ARGS…` in `directory`, for at most `limit`.
pub fn pleach<S: Into<OsString>>(
    args: impl IntoIterator<Item = S>,
    directory: &Path,
    limit: Duration,
) -> Result<Finished, String> {
    program(&binary()?, args, directory, limit)
}

/// The same with another `pleach`.
pub fn program<S: Into<OsString>>(
    binary: &Path,
    args: impl IntoIterator<Item = S>,
    directory: &Path,
    limit: Duration,
) -> Result<Finished, String> {
    let mut command = Command::new(binary);
    command.args(args.into_iter().map(Into::into)).current_dir(directory);
    run(&mut command, limit).map_err(|e| format!("cannot run {}: {e}", binary.display()))
}

/// `pleach ARGS…`, with at most `memory` MiB of address space.
pub fn pleach_within(memory: u64, args: &[&str], directory: &Path, limit: Duration) -> Result<Finished, String> {
    let mut command = Command::new("bash");
    command.arg("-c").arg(format!("ulimit -v {}; exec \"$0\" \"$@\"", memory << 10));
    command.arg(binary()?).args(args).current_dir(directory);
    run(&mut command, limit).map_err(|e| format!("cannot run pleach: {e}"))
}
