//! Starts the front end, tells it what to do, takes its answer.

use crate::limits::{Ended, LoadLimits};
use crate::wire::{self, FrontendReply};
use crate::{LoadError, Options, find, regular};
use pleach_ir::Program;
use rustix::process::Signal;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Compiles, links and lowers all inputs, in a process that is gone when this returns.
pub fn load(options: &Options) -> Result<Program, LoadError> {
    load_within(options, &LoadLimits::default())
}

/// The same, if it does not take too long or too much memory.
pub fn load_within(options: &Options, limits: &LoadLimits) -> Result<Program, LoadError> {
    for path in &options.inputs {
        regular::check(path).map_err(|why| LoadError::NotAFile { path: path.clone(), why })?;
    }
    let frontend = find::frontend(options);
    let request = wire::encode_request(options)
        .map_err(|why| LoadError::NoAnswer { path: frontend.clone(), why: why.to_string() })?;
    let (output, ended) = run(&frontend, &request, limits).map_err(|why| match why.kind() {
        ErrorKind::NotFound => LoadError::NotFound { path: frontend.clone() },
        _ => LoadError::Unusable { path: frontend.clone(), why },
    })?;
    let reply = wire::decode_reply(&output.stdout);
    match (reply.outcome, output.status.signal()) {
        (FrontendReply::Program(program), None) => Ok(*program),
        (FrontendReply::Refused(why), None) => Err(LoadError::Refused(why)),
        (FrontendReply::OutOfTime, None) => Err(LoadError::OutOfTime),
        (_, Some(_)) if ended.is_some() => Err(match ended {
            Some(Ended::Interrupted) => LoadError::Interrupted,
            Some(Ended::Memory) => LoadError::OutOfMemory { input: culprit(options, reply.input) },
            Some(Ended::Time) | None => LoadError::OutOfTime,
        }),
        (_, Some(signal)) if signal == Signal::XCPU.as_raw() => Err(LoadError::OutOfTime),
        (_, Some(signal)) => Err(LoadError::Crashed { input: culprit(options, reply.input), signal }),
        (FrontendReply::Cut, None) => {
            let said = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
            if output.status.code() == Some(wire::GAVE_UP.into()) {
                return Err(LoadError::Refused(format!("{}: {said}", culprit(options, reply.input))));
            }
            let why = if said.is_empty() { output.status.to_string() } else { format!("{}\n{said}", output.status) };
            Err(LoadError::NoAnswer { path: frontend, why })
        }
    }
}

fn run(frontend: &Path, request: &[u8], limits: &LoadLimits) -> std::io::Result<(Output, Option<Ended>)> {
    let mut command = Command::new(frontend);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = LoadLimits::group(&mut command).spawn()?;
    let watch = limits.watch(&child);
    // The front end reads all of it before it writes anything. One that ended early shows in its status.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(request));
    let output = hear(child, limits.compiled.as_deref());
    let ended = watch.end();
    Ok((output?, ended))
}

/// Waits for the end. What comes on standard output is counted on the way.
fn hear(mut child: Child, compiled: Option<&AtomicUsize>) -> std::io::Result<Output> {
    let (out, error) = (child.stdout.take(), child.stderr.take());
    let complaints = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = error.map(|mut e| e.read_to_end(&mut bytes));
        bytes
    });
    let (mut stdout, mut chunk) = (Vec::new(), vec![0; 1 << 16]);
    if let Some(mut out) = out {
        loop {
            let n = match out.read(&mut chunk) {
                Err(why) if why.kind() == ErrorKind::Interrupted => continue,
                read => read?,
            };
            stdout.extend_from_slice(&chunk[..n]);
            if let Some(compiled) = compiled {
                compiled.store(wire::compiled(&stdout), Ordering::Relaxed);
            }
            if n == 0 {
                break;
            }
        }
    }
    let stderr = complaints.join().unwrap_or_default();
    Ok(Output { status: child.wait()?, stdout, stderr })
}

/// The input being read, or all of them.
fn culprit(options: &Options, input: Option<u32>) -> String {
    let one = input.and_then(|i| options.inputs.get(i as usize)).map(|p| p.display().to_string());
    one.unwrap_or_else(|| options.inputs.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", "))
}
