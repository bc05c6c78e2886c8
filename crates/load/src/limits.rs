//! How long the front end may take and how much memory; beyond that it is ended, and what it started with it.

use rustix::process::{Pid, Signal, kill_process_group};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Between two looks.
const EVERY: Duration = Duration::from_millis(20);
const PAGE: u64 = 4096;

/// Limits for the front end. Default: none.
#[derive(Clone, Debug, Default)]
pub struct LoadLimits {
    pub deadline: Option<Instant>,
    /// set from outside to end it
    pub halt: Option<Arc<AtomicBool>>,
    /// bytes, of the front end and of the compiler that it starts
    pub memory: Option<u64>,
    /// told how many of the inputs are compiled
    pub compiled: Option<Arc<AtomicUsize>>,
}

/// Why the front end was ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ended {
    Time,
    Memory,
    Interrupted,
}

/// The thread that looks after a front end.
pub(crate) struct Watch {
    thread: JoinHandle<Option<Ended>>,
    done: std::sync::mpsc::Sender<()>,
}

impl LoadLimits {
    /// A process of its own group, so that all of it can be ended.
    pub(crate) fn group(command: &mut Command) -> &mut Command {
        command.process_group(0)
    }

    pub(crate) fn watch(&self, child: &Child) -> Watch {
        let (limits, pid) = (self.clone(), child.id());
        let (done, ends) = channel();
        let thread = std::thread::spawn(move || {
            loop {
                let left = limits.deadline.map_or(EVERY, |d| d.saturating_duration_since(Instant::now()).min(EVERY));
                match ends.recv_timeout(left) {
                    Err(RecvTimeoutError::Timeout) => {}
                    _ => return None,
                }
                if let Some(why) = limits.is_over(pid) {
                    let group = i32::try_from(pid).ok().and_then(Pid::from_raw);
                    let _ = group.map(|g| kill_process_group(g, Signal::KILL));
                    return Some(why);
                }
            }
        });
        Watch { thread, done }
    }

    fn is_over(&self, pid: u32) -> Option<Ended> {
        if self.deadline.is_some_and(|d| Instant::now() >= d) {
            return Some(Ended::Time);
        }
        if self.halt.as_ref().is_some_and(|h| h.load(Ordering::Relaxed)) {
            return Some(Ended::Interrupted);
        }
        self.memory.filter(|max| memory_of(pid) > *max).map(|_| Ended::Memory)
    }
}

impl Watch {
    /// The front end has ended: by itself, or for this reason.
    pub(crate) fn end(self) -> Option<Ended> {
        drop(self.done);
        self.thread.join().ok().flatten()
    }
}

/// Resident memory of a process and of those that it started.
fn memory_of(pid: u32) -> u64 {
    let read = |file: String| std::fs::read_to_string(file).unwrap_or_default();
    let statm = read(format!("/proc/{pid}/statm"));
    let own = statm.split_ascii_whitespace().nth(1).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0) * PAGE;
    let children = read(format!("/proc/{pid}/task/{pid}/children"));
    own + children.split_ascii_whitespace().filter_map(|c| c.parse().ok()).map(memory_of).sum::<u64>()
}
