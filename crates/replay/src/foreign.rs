//! One call of a function of this machine, in a process of its own: limited in time, memory and files, and gone afterwards.
//!
//! The request goes to the child's standard input, the answer comes from its standard output; what the function prints goes to standard
//! error. Objects are mapped at the addresses that the engine gave them, so that pointers mean the same there.

#![allow(unsafe_code)]

use crate::landlock::WriteOnly;
use serde::{Deserialize, Serialize};
use std::ffi::CString;
use std::io::{Read, Write};
use std::os::fd::FromRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// The hidden command of the program that [`serve`]s one request.
pub const COMMAND: &str = "__call";

/// Processor time for one call, in seconds.
const SECONDS: u64 = 5;
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

/// Makes the call by starting `program` once more.
pub fn call(program: &std::path::Path, request: &Request) -> Result<Answer, String> {
    let broken = |why: std::io::Error| format!("cannot be made ({why})");
    let mut command = Command::new(program);
    command.arg(COMMAND).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let own = std::env::temp_dir().join("pleach-native");
    std::fs::create_dir_all(&own).map_err(broken)?;
    let files = WriteOnly::below(&own).map_err(broken)?;
    // SAFETY: between fork and exec there are only system calls on values prepared before.
    unsafe {
        command.pre_exec(move || {
            files.restrict();
            crate::sandbox::limit(libc::RLIMIT_CPU, SECONDS)?;
            crate::sandbox::limit(libc::RLIMIT_CORE, 0)
        })
    };
    let mut child = command.spawn().map_err(broken)?;
    let text = serde_json::to_vec(request).map_err(|e| format!("cannot be written ({e})"))?;
    if let Some(mut to) = child.stdin.take() {
        let _ = to.write_all(&text);
    }
    let mut answer = Vec::new();
    if let Some(mut from) = child.stdout.take() {
        let _ = from.read_to_end(&mut answer);
    }
    let status = child.wait().map_err(broken)?;
    if !status.success() {
        return Err(match String::from_utf8_lossy(&answer).trim() {
            "" => format!("did not return ({status})"),
            why => why.to_owned(),
        });
    }
    serde_json::from_slice(&answer).map_err(|_| "gave no answer".into())
}

/// The child's side; the exit status.
pub fn serve() -> u8 {
    // SAFETY: plain system calls on this process's own descriptors.
    let mut out = unsafe {
        let out = libc::dup(1);
        libc::dup2(2, 1);
        std::fs::File::from_raw_fd(out)
    };
    let mut text = Vec::new();
    let answer = std::io::stdin()
        .read_to_end(&mut text)
        .map_err(|e| e.to_string())
        .and_then(|_| serde_json::from_slice(&text).map_err(|e| e.to_string()))
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
    // The calling convention puts numbers and floats into registers of their own, in order; a variadic callee also learns how many floats there are.
    // SAFETY: none is possible: this is a stranger's function, and the reason for this process.
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
