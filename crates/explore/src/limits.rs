//! Where a run has to stop. What a limit takes away is always counted as cut, with the limit as the reason.

use pleach_expr::Brake;
use pleach_state::{Cut, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Wall-clock time of the exploration. Default: none.
    pub max_time: Option<Duration>,
    /// Resident memory in MB (10⁶ bytes); above it states are dropped until it holds again. Default: none.
    pub max_memory: Option<u64>,
    /// Instructions over all paths. Default: none.
    pub max_instructions: Option<u64>,
    /// Units of [`Effort`](pleach_state::seams::Effort): instructions, queries and forks, each at its price. Default:
    /// none.
    pub max_effort: Option<u64>,
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
const PROCESSOR: usize = 2;
const MEMORY: usize = 3;
const INTERRUPTED: usize = 4;
/// Plus the number of the signal that interrupted.
const SIGNAL: usize = 1000;

/// A stop from outside, from a signal or another thread. Running solver checks see [`Halt::flag`], long operations also
/// [`Halt::short`].
#[derive(Clone, Default)]
pub struct Halt {
    why: Arc<AtomicUsize>,
    flag: Arc<AtomicBool>,
    short: Arc<AtomicBool>,
    beat: Arc<AtomicU64>,
}

impl Halt {
    pub fn new() -> Halt {
        Halt::default()
    }
    /// Set together with the reason.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.flag.clone()
    }
    /// Set while more memory is in use than allowed.
    pub fn short(&self) -> Arc<AtomicBool> {
        self.short.clone()
    }
    /// For the machine: its long operations poll it.
    pub fn brake(&self) -> Brake {
        Brake::new(self.flag.clone(), self.short.clone())
    }
    pub fn is_short(&self) -> bool {
        self.short.load(Ordering::Relaxed)
    }
    /// The reason, and its value for [`Halt::processor_time_is_up`]: for a signal handler, which may do no more than
    /// store a number.
    pub fn processor_cell(&self) -> (Arc<AtomicUsize>, usize) {
        (self.why.clone(), PROCESSOR)
    }
    /// The same for a signal that interrupts.
    pub fn signal_cell(&self, signal: i32) -> (Arc<AtomicUsize>, usize) {
        (self.why.clone(), SIGNAL + signal.unsigned_abs() as usize)
    }
    pub fn time_is_up(&self) {
        self.set(TIME);
    }
    pub fn processor_time_is_up(&self) {
        self.set(PROCESSOR);
    }
    pub fn memory_is_up(&self) {
        self.set(MEMORY);
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
            PROCESSOR => Some(Cut::Processor),
            MEMORY => Some(Cut::Memory),
            // Someone set the flag alone.
            RUNNING => self.flag.load(Ordering::Relaxed).then_some(Cut::Interrupted),
            _ => Some(Cut::Interrupted),
        }
    }
    /// The signal that interrupted.
    pub fn signal(&self) -> Option<u8> {
        self.why.load(Ordering::Relaxed).checked_sub(SIGNAL).and_then(|s| u8::try_from(s).ok())
    }
    /// The loop goes round: who watches it from another thread sees that no step is under way for long.
    pub(crate) fn beat(&self) {
        self.beat.store(self.beat.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }
    /// How often it went round.
    pub fn beats(&self) -> u64 {
        self.beat.load(Ordering::Relaxed)
    }
}

/// Resident memory of this process in bytes, as far as the system tells.
pub fn resident_bytes() -> Option<u64> {
    const PAGE: u64 = 4096;
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    text.split_ascii_whitespace().nth(1)?.parse::<u64>().ok().map(|pages| pages * PAGE)
}

/// The memory limit counts as reached above this part of it: eviction takes some time and some memory.
pub fn soft(allowed: u64) -> u64 {
    allowed / 100 * 96
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
        let (cell, processor) = h.processor_cell();
        cell.store(processor, Ordering::SeqCst);
        assert_eq!((h.reason(), h.signal()), (Some(Cut::Processor), None));
        let h = Halt::new();
        let (cell, hangup) = h.signal_cell(1);
        cell.store(hangup, Ordering::SeqCst);
        assert_eq!((h.reason(), h.signal()), (Some(Cut::Interrupted), Some(1)));
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
