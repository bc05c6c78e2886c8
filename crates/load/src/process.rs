//! Starts the front end, tells it what to do, takes its answer.

use crate::wire::{self, Outcome};
use crate::{LoadError, Options, find};
use pleach_ir::Program;
use std::io::{ErrorKind, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Compiles, links and lowers all inputs, in a process that is gone when this returns.
pub fn load(options: &Options) -> Result<Program, LoadError> {
    let frontend = find::frontend(options);
    let request = wire::encode_request(options)
        .map_err(|why| LoadError::NoAnswer { path: frontend.clone(), why: why.to_string() })?;
    let output = run(&frontend, &request).map_err(|why| match why.kind() {
        ErrorKind::NotFound => LoadError::NotFound { path: frontend.clone() },
        _ => LoadError::Unusable { path: frontend.clone(), why },
    })?;
    let reply = wire::decode_reply(&output.stdout);
    match (reply.outcome, output.status.signal()) {
        (Outcome::Program(program), None) => Ok(*program),
        (Outcome::Refused(why), None) => Err(LoadError::Refused(why)),
        (_, Some(signal)) => Err(LoadError::Crashed { input: culprit(options, reply.input), signal }),
        (Outcome::Cut, None) => {
            let said = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
            if output.status.code() == Some(wire::GAVE_UP.into()) {
                return Err(LoadError::Refused(format!("{}: {said}", culprit(options, reply.input))));
            }
            let why = if said.is_empty() { output.status.to_string() } else { format!("{}\n{said}", output.status) };
            Err(LoadError::NoAnswer { path: frontend, why })
        }
    }
}

fn run(frontend: &Path, request: &[u8]) -> std::io::Result<Output> {
    let mut child =
        Command::new(frontend).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    // The front end reads all of it before it writes anything. One that ended early shows in its status.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(request));
    child.wait_with_output()
}

/// The input being read, or all of them.
fn culprit(options: &Options, input: Option<u32>) -> String {
    let one = input.and_then(|i| options.inputs.get(i as usize)).map(|p| p.display().to_string());
    one.unwrap_or_else(|| options.inputs.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", "))
}
