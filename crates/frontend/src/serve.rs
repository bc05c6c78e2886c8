//! The front end as a process: one request on standard input, one answer on standard output.

use crate::{FrontendError, Step, load_watched};
use pleach_load::wire::{self, Message};
use std::io::{BufWriter, Read, Write, stdin, stdout};
use std::process::ExitCode;

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
    let mut out = BufWriter::with_capacity(1 << 16, stdout());
    let result = wire::decode_request(&request).map_err(Message::Refused).and_then(|options| {
        let watch = |step| {
            let message = match step {
                Step::Reading(input) => Message::Reading(input as u32),
                Step::Lowering => Message::Lowering,
            };
            // Said before LLVM may crash. If nobody listens, the answer will fail to be written, too.
            let _ = wire::write(&message, &mut out).map(|()| out.flush());
        };
        load_watched(&options, watch).map_err(|why| match why {
            FrontendError::OutOfTime => Message::OutOfTime,
            why => Message::Refused(why.to_string()),
        })
    });
    match result {
        Ok(program) => wire::write_program(&program, &mut out)?,
        Err(why) => wire::write(&why, &mut out)?,
    }
    out.flush()?;
    Ok(())
}
