//! Where a run has to stop. What a limit takes away is always counted as cut, with the limit as the reason.

use pleach_state::{Cut, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Wall-clock time of the exploration. Default: none.
    pub max_time: Option<Duration>,
    /// Resident memory in MB (10⁶ bytes); above it states are dropped until it holds again. Default: none.
    pub max_memory: Option<u64>,
    /// Instructions over all paths. Default: none.
    pub max_instructions: Option<u64>,
    /// Forks; further ones follow one side and cut the others. Default: none.
    pub max_forks: Option<u64>,
    /// Forks on one path; deeper states are cut. Default: none.
    pub max_depth: Option<u32>,
    /// Tests written. Default: none.
    pub max_tests: Option<u64>,
    /// Stop at the first error. Default: no.
    pub exit_on_error: bool,
    /// Stop at the first error of one of these kinds. Default: none.
    pub exit_on_error_type: Vec<ErrorKind>,
}

const RUNNING: usize = 0;
const TIME: usize = 1;
const INTERRUPTED: usize = 2;

/// A stop from outside, from a signal or another thread. Running solver checks see [`Halt::flag`].
#[derive(Clone, Default)]
pub struct Halt {
    why: Arc<AtomicUsize>,
    flag: Arc<AtomicBool>,
}

impl Halt {
    pub fn new() -> Halt {
        Halt::default()
    }
    /// Set together with the reason.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.flag.clone()
    }
    /// The reason, and its value for [`Halt::time_is_up`]: for a signal handler, which may do no more than store a number.
    pub fn time_cell(&self) -> (Arc<AtomicUsize>, usize) {
        (self.why.clone(), TIME)
    }
    pub fn time_is_up(&self) {
        self.set(TIME);
    }
    pub fn interrupt(&self) {
        self.set(INTERRUPTED);
    }
    fn set(&self, why: usize) {
        // The first reason stays.
        let _ = self.why.compare_exchange(RUNNING, why, Ordering::SeqCst, Ordering::SeqCst);
        self.flag.store(true, Ordering::SeqCst);
    }
    pub fn reason(&self) -> Option<Cut> {
        match self.why.load(Ordering::Relaxed) {
            TIME => Some(Cut::Time),
            INTERRUPTED => Some(Cut::Interrupted),
            // Someone set the flag alone, as a signal handler does.
            _ => self.flag.load(Ordering::Relaxed).then_some(Cut::Interrupted),
        }
    }
}

/// Resident memory of this process in bytes, as far as the system tells.
pub fn resident_bytes() -> Option<u64> {
    const PAGE: u64 = 4096;
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    text.split_ascii_whitespace().nth(1)?.parse::<u64>().ok().map(|pages| pages * PAGE)
}

/// How many of `states` go when `used` exceeds `allowed`: the share that is too much, at least one.
pub fn how_many_to_drop(states: usize, used: u64, allowed: u64) -> usize {
    if used <= allowed || states == 0 {
        return 0;
    }
    let keep = (states as u128 * u128::from(allowed) / u128::from(used)) as usize;
    (states - keep).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_to_halt_stays() {
        let h = Halt::new();
        assert_eq!(h.reason(), None);
        h.time_is_up();
        h.interrupt();
        assert_eq!(h.reason(), Some(Cut::Time));
        let h = Halt::new();
        h.flag().store(true, Ordering::SeqCst);
        assert_eq!(h.reason(), Some(Cut::Interrupted));
        let h = Halt::new();
        let (cell, time) = h.time_cell();
        cell.store(time, Ordering::SeqCst);
        assert_eq!(h.reason(), Some(Cut::Time));
    }

    #[test]
    fn dropping_is_proportional() {
        assert_eq!(how_many_to_drop(100, 150, 100), 34);
        assert_eq!(how_many_to_drop(100, 100, 100), 0);
        assert_eq!(how_many_to_drop(1, 101, 100), 1);
        assert_eq!(how_many_to_drop(0, 101, 100), 0);
        assert!(resident_bytes().is_none_or(|b| b > 0));
    }
}
