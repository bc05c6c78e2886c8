//! The front end as a process: one request on standard input, one answer on standard output.

use crate::cache::Known;
use crate::{FrontendError, Options, Step, load_watched};
use pleach_load::wire::{self, Message};
use std::io::{Read, Write, stdin, stdout};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

/// Answers the request on standard input. A refusal is an answer; failure means that the other side is not there.
pub fn serve() -> ExitCode {
    match answer() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn answer() -> Result<(), Box<dyn std::error::Error>> {
    let mut request = Vec::new();
    stdin().read_to_end(&mut request)?;
    let mut reply = Vec::new();
    match wire::decode_request(&request) {
        Ok(options) => {
            let known = Known::of(&options);
            match known.as_ref().and_then(Known::program) {
                Some(before) => reply = before,
                None => compile(&options, known.as_ref(), &mut reply)?,
            }
        }
        Err(why) => wire::write(&Message::Refused(why), &mut reply)?,
    }
    stdout().write_all(&reply)?;
    Ok(())
}

fn compile(options: &Options, known: Option<&Known>, reply: &mut Vec<u8>) -> Result<(), Box<dyn std::error::Error>> {
    let out = Mutex::new(stdout());
    let watch = |step| {
        let message = match step {
            Step::Compiled => Message::Compiled,
            Step::Reading(input) => Message::Reading(input as u32),
            Step::Lowering => Message::Lowering,
        };
        let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
        // Said before LLVM may crash. If nobody listens, the answer will fail to be written, too.
        let _ = wire::write(&message, &mut *out).map(|()| out.flush());
    };
    match load_watched(options, known, &watch) {
        Ok(program) => {
            wire::write_program(&program, reply)?;
            known.inspect(|k| k.keep_program(options, reply));
        }
        Err(FrontendError::OutOfTime) => wire::write(&Message::OutOfTime, reply)?,
        Err(why) => wire::write(&Message::Refused(why.to_string()), reply)?,
    }
    Ok(())
}
