//! Calls of functions of this machine, each in a process of its own: isolated and limited like a replayed program, and
//! gone afterwards.
//!
//! The request is the input of the sandbox, the answer comes from the child's standard output; what the function prints
//! goes to standard error. Objects are mapped at the addresses that the engine gave them, so that pointers mean the
//! same there.

#![allow(unsafe_code)]

use crate::options::{Isolation, Limits};
use crate::sandbox::{Exit, Places, Refusal, Run, Sandbox};
use serde::{Deserialize, Serialize};
use std::ffi::CString;
use std::io::Write;
use std::os::fd::FromRawFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The hidden command of the program that [`serve`]s one request.
pub const COMMAND: &str = "__call";
/// The variable that names the file with the request.
const REQUEST: &str = "PLEACH_CALL";

/// Time for one call.
const TIME: Duration = Duration::from_secs(5);
/// Largest answer: the memory that was handed over comes back.
const ANSWER: usize = 1 << 30;
const PAGE: u64 = 4096;

#[derive(Serialize, Deserialize)]
pub struct Request {
    pub name: String,
    /// bits and whether they are a float's
    pub args: Vec<(u64, bool)>,
    /// whether the result is a float
    pub float: bool,
    pub memory: Vec<(u64, Vec<u8>)>,
}

#[derive(Serialize, Deserialize)]
pub struct Answer {
    pub result: u64,
    pub memory: Vec<Vec<u8>>,
}

/// Makes calls by starting a program once more for each.
pub struct Caller {
    program: PathBuf,
    sandbox: Sandbox,
}

impl Caller {
    /// `program` must [`serve`] when it is started with [`COMMAND`].
    pub fn new(program: &Path) -> std::io::Result<Self> {
        let limits = Limits { time: TIME, output: ANSWER, ..Limits::default() };
        Ok(Self { program: program.to_owned(), sandbox: Sandbox::new(Isolation::Required, limits)? })
    }

    /// Makes one call.
    pub fn call(&self, request: &Request) -> Result<Answer, String> {
        let run = Run {
            program: &self.program,
            arguments: vec![b"pleach".to_vec(), COMMAND.into()],
            environment: &|places: &Places| vec![(REQUEST, places.input.display().to_string())],
            input: &serde_json::to_vec(request).map_err(|e| format!("cannot be written ({e})"))?,
            variables: Vec::new(),
            files: &[],
            stdin: None,
            stdout: None,
            scratch: &std::env::temp_dir().join(format!("pleach-native-{}", std::process::id())),
            limit_memory: false,
            serves: false,
        };
        let finished = self.sandbox.run(&run).map_err(|refusal| match refusal {
            Refusal::Isolation(step, why) => format!("is not made: this machine does not give it {step} ({why})"),
            Refusal::System(why) => format!("cannot be made ({why})"),
        })?;
        let _ = std::io::stderr().write_all(&finished.stderr);
        match finished.exit {
            Exit::Code(0) => serde_json::from_slice(&finished.stdout).map_err(|_| "returned unknown".into()),
            Exit::TimedOut => Err("did not return in time".into()),
            Exit::Signal(number) => Err(format!("did not return (signal {number})")),
            Exit::Code(code) => Err(match String::from_utf8_lossy(&finished.stdout).trim() {
                "" => format!("did not return (exit status {code})"),
                why => why.to_owned(),
            }),
        }
    }
}

/// The child's side; the exit status.
pub fn serve() -> u8 {
    // SAFETY: plain system calls on this process's own descriptors.
    let mut out = unsafe {
        let out = libc::dup(1);
        libc::dup2(2, 1);
        std::fs::File::from_raw_fd(out)
    };
    let answer = std::env::var_os(REQUEST)
        .ok_or_else(|| format!("{REQUEST} is not set"))
        .and_then(|path| std::fs::read(path).map_err(|e| e.to_string()))
        .and_then(|text| serde_json::from_slice(&text).map_err(|e| e.to_string()))
        .and_then(|r: Request| perform(&r))
        .and_then(|a| serde_json::to_vec(&a).map_err(|e| e.to_string()));
    match answer {
        Ok(answer) => u8::from(out.write_all(&answer).is_err()),
        Err(why) => {
            let _ = out.write_all(why.as_bytes());
            1
        }
    }
}

fn perform(r: &Request) -> Result<Answer, String> {
    let ints: Vec<u64> = r.args.iter().filter(|a| !a.1).map(|a| a.0).collect();
    let floats: Vec<f64> = r.args.iter().filter(|a| a.1).map(|a| f64::from_bits(a.0)).collect();
    if ints.len() > 6 || floats.len() > 8 {
        return Err("with more arguments than registers hold".into());
    }
    let name = CString::new(r.name.as_str()).map_err(|_| "with a zero in its name".to_owned())?;
    // SAFETY: a name that ends with zero; null if nobody defines it.
    let function = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    if function.is_null() {
        return Err("of which this machine has no code".into());
    }
    map(&r.memory)?;
    let i = |k: usize| ints.get(k).copied().unwrap_or(0);
    let d = |k: usize| floats.get(k).copied().unwrap_or(0.0);
    // The calling convention puts numbers and floats into registers of their own, in order; a variadic callee also
    // learns how many floats there are. SAFETY: none is possible: this is a stranger's function, and the reason for
    // this process.
    let result = unsafe {
        if r.float {
            type Function = unsafe extern "C" fn(u64, ...) -> f64;
            let f: Function = std::mem::transmute(function);
            f(i(0), i(1), i(2), i(3), i(4), i(5), d(0), d(1), d(2), d(3), d(4), d(5), d(6), d(7)).to_bits()
        } else {
            type Function = unsafe extern "C" fn(u64, ...) -> u64;
            let f: Function = std::mem::transmute(function);
            f(i(0), i(1), i(2), i(3), i(4), i(5), d(0), d(1), d(2), d(3), d(4), d(5), d(6), d(7))
        }
    };
    // SAFETY: what the function printed may still lie in the library's buffers.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    let memory = r
        .memory
        .iter()
        // SAFETY: mapped by us.
        .map(|(at, bytes)| unsafe { std::slice::from_raw_parts(*at as *const u8, bytes.len()) }.to_vec())
        .collect();
    Ok(Answer { result, memory })
}

/// Puts the objects where they belong.
fn map(memory: &[(u64, Vec<u8>)]) -> Result<(), String> {
    let mut pages: Vec<u64> = memory.iter().flat_map(|(at, b)| at / PAGE..=(at + b.len() as u64) / PAGE).collect();
    pages.sort_unstable();
    pages.dedup();
    for page in pages {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        let at = (page * PAGE) as *mut libc::c_void;
        // SAFETY: takes only addresses that are free.
        let got = unsafe { libc::mmap(at, PAGE as usize, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if got != at {
            return Err("with an object at an address that is taken there".into());
        }
    }
    for (at, bytes) in memory {
        // SAFETY: mapped above.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), *at as *mut u8, bytes.len()) };
    }
    Ok(())
}
