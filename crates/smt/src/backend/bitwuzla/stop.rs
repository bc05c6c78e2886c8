//! When a check has to end: what the library polls during it.
#![allow(unsafe_code)]

use super::super::{Limits, Steps};
use crate::answer::UnknownReason;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const STEPS: u8 = 1;
const TIME: u8 = 2;
const INTERRUPT: u8 = 3;

/// Shared with the thread of a [detached](super::detached) check, which may outlive the instance.
pub struct Stop {
    pub interrupt: Option<Arc<AtomicBool>>,
    /// where `until` counts from
    origin: Instant,
    /// microseconds
    until: AtomicU64,
    /// how often the library polled during this check, and how often it may
    polled: AtomicU64,
    allowed: AtomicU64,
    why: AtomicU8,
}

impl Stop {
    pub fn new(limits: &Limits) -> Stop {
        Stop {
            interrupt: limits.interrupt.clone(),
            origin: Instant::now(),
            until: AtomicU64::new(u64::MAX),
            polled: AtomicU64::new(0),
            allowed: AtomicU64::new(u64::MAX),
            why: AtomicU8::new(0),
        }
    }

    /// Before a check.
    pub fn arm(&self, steps: &Steps, timeout: Option<Duration>) {
        let until = timeout.map(|t| (self.origin.elapsed() + t).as_micros());
        let until = until.and_then(|t| u64::try_from(t).ok()).unwrap_or(u64::MAX);
        self.until.store(until, Ordering::Relaxed);
        self.polled.store(0, Ordering::Relaxed);
        self.allowed.store(steps.limit.get().unwrap_or(u64::MAX), Ordering::Relaxed);
        self.why.store(0, Ordering::Relaxed);
    }

    /// How often the library has polled since.
    pub fn polled(&self) -> u64 {
        self.polled.load(Ordering::Relaxed)
    }

    pub fn is_interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|i| i.load(Ordering::Relaxed))
    }

    /// Why the check ended without an answer.
    pub fn why(&self) -> Option<UnknownReason> {
        match self.why.load(Ordering::Relaxed) {
            STEPS => Some(UnknownReason::Steps),
            TIME => Some(UnknownReason::Timeout),
            INTERRUPT => Some(UnknownReason::Interrupted),
            _ => None,
        }
    }

    fn poll(&self) -> Option<u8> {
        let polled = self.polled() + 1;
        self.polled.store(polled, Ordering::Relaxed);
        if polled > self.allowed.load(Ordering::Relaxed) {
            return Some(STEPS);
        }
        if self.is_interrupted() {
            return Some(INTERRUPT);
        }
        self.is_overdue().then_some(TIME)
    }

    /// The time of this check is up.
    pub fn is_overdue(&self) -> bool {
        let until = self.until.load(Ordering::Relaxed);
        until != u64::MAX && self.origin.elapsed().as_micros() >= u128::from(until)
    }
}

/// The library's callback.
pub unsafe extern "C" fn poll(state: *mut c_void) -> i32 {
    // SAFETY: `state` is the `Stop` of the `Bitwuzla` that runs the check; it is only ever shared, its fields are
    // atomic, and whoever runs the check holds a count of it.
    let stop = unsafe { &*state.cast::<Stop>() };
    let Some(why) = stop.poll() else { return 0 };
    stop.why.store(why, Ordering::Relaxed);
    1
}
