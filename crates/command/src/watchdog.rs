//! Limits on time, processor time and memory, kept by a thread of its own.
//!
//! *Idea*: the loop looks at its limits between steps. A step may be long: a copy of a large block, a query, a walk
//! back, ten thousand states to be ended. This thread looks at the clock and the memory meanwhile. At a limit it sets
//! the flags of [`Halt`], which long operations look at; if the run has not come to its end soon after, it says the
//! last words in its place and ends the process. *Invariant*: who has [claimed](Watchdog::claim) the end of the run
//! writes the account of it, and nobody else.

use crate::{CliError, Code};
use crate::{allocator, pause, processes};
use pleach_explore::{Halt, limits};
use pleach_state::Cut;
use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a run that has to end may take for it; at a limit of processor time, of that.
const MAX_END: Duration = Duration::from_millis(750);
/// A run at its limit of processor time may need none, because it waits for another process.
const MAX_IDLE_END: Duration = Duration::from_secs(5);
/// The same for one that was interrupted by a signal.
const MAX_END_AFTER_SIGNAL: Duration = Duration::from_secs(2);
/// How long memory may stay above its limit while states are being evicted; processor time, as memory grows by nothing
/// else.
const MAX_ABOVE_MEMORY_LIMIT: Duration = Duration::from_millis(300);
/// A step that does not end for so long while memory is above its limit will not give any back; processor time.
const STUCK: Duration = Duration::from_millis(5);
/// How far ahead of itself a step that takes memory is seen: so long a halt may take to reach it; processor time.
const AHEAD: Duration = Duration::from_millis(3);
/// How long the last words are written before the run, if it goes on to take memory, is allowed to.
const MAX_PAUSE: Duration = Duration::from_millis(300);
/// Between two looks, at most and at least.
const LOOKS: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));
/// Memory grows by at most this many bytes in a microsecond.
const BYTES_PER_US: u64 = 12_000;
/// The distance kept from the processor time at which the system kills the process.
const BEFORE_THE_KILL: Duration = Duration::from_secs(2);

/// Writes and prints the account of a run that did not come to its end; the reason is given.
pub type LastWords = Box<dyn FnOnce(Cut) -> Code + Send>;

/// What is kept.
pub struct Bounds {
    pub halt: Halt,
    pub deadline: Option<Instant>,
    /// bytes
    pub memory: Option<u64>,
}

/// The thread, as long as this lives.
pub struct Watchdog {
    ended: Arc<AtomicBool>,
    last: Arc<Mutex<Option<LastWords>>>,
    _done: Sender<()>,
}

impl Watchdog {
    pub fn start(bounds: Bounds) -> Watchdog {
        let (ended, last) = (Arc::<AtomicBool>::default(), Arc::<Mutex<Option<LastWords>>>::default());
        let (done, ends) = channel();
        let mut eye = Eye::new(bounds);
        let (claim, words) = (ended.clone(), last.clone());
        let thread = std::thread::Builder::new().name("watchdog".into()).spawn(move || {
            if let Some(max) = eye.bounds.memory {
                allocator::keep_limit(percent(max, 104));
            }
            if let Some(why) = eye.watch(&ends)
                && !claim.swap(true, Ordering::SeqCst)
            {
                if why == Cut::Memory {
                    pause::others(MAX_PAUSE);
                }
                processes::end_children();
                let say = words.lock().unwrap_or_else(PoisonError::into_inner).take();
                let code = catch_unwind(AssertUnwindSafe(|| match say {
                    Some(say) => say(why),
                    None => before_the_run(&why),
                }));
                signal_hook::low_level::exit(code.unwrap_or(Code::Bug).status().into());
            }
        });
        if let Err(why) = thread {
            eprintln!("pleach: limits are looked at between steps only, because no thread can be started: {why}");
        }
        Watchdog { ended, last, _done: done }
    }

    /// What to say when the run has to be ended from here.
    pub fn last_words(&self, words: LastWords) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(words);
    }

    /// The run has come to its end by itself. If it was given up before, this does not return.
    pub fn claim(&self) {
        allocator::lift_limit();
        while self.ended.swap(true, Ordering::SeqCst) {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
}

/// Nothing was explored yet.
fn before_the_run(why: &Cut) -> Code {
    let error = CliError::TooEarly { why: why.clone(), signal: None };
    eprintln!("pleach: {error}");
    error.exit_code()
}

#[derive(Clone, Copy)]
struct Halted {
    since: Instant,
    processor: Duration,
    memory: u64,
}

/// What the thread knows.
struct Eye {
    bounds: Bounds,
    /// processor time at which the run has to end, and at which there is no time for more
    processor: Option<(Duration, Duration)>,
    /// since when the run is to end, with what was in use then
    halted: Option<Halted>,
    /// the processor time since which memory is above its limit
    above: Option<Duration>,
    /// the last round of the loop that was seen, and the processor time when it was new
    beat: (u64, Duration),
    /// processor time and memory at the last look
    last: (Duration, u64),
}

impl Eye {
    fn new(bounds: Bounds) -> Eye {
        Eye {
            bounds,
            processor: processor_limits(),
            halted: None,
            above: None,
            beat: (0, Duration::ZERO),
            last: (Duration::ZERO, 0),
        }
    }

    /// Returns when the run has ended (`None`) or must be ended.
    fn watch(&mut self, ends: &Receiver<()>) -> Option<Cut> {
        let mut wait = LOOKS.0;
        while let Err(RecvTimeoutError::Timeout) = ends.recv_timeout(wait) {
            let now = Instant::now();
            let used = limits::resident_bytes().unwrap_or(0);
            self.poll(now, processor_time(), used);
            if allocator::is_refused() {
                self.bounds.halt.memory_is_up();
            }
            if allocator::is_refused() || self.is_too_late(now, used) {
                return self.bounds.halt.reason();
            }
            wait = self.next_poll(now, used);
        }
        None
    }

    fn poll(&mut self, now: Instant, spent: Duration, used: u64) {
        let halt = &self.bounds.halt;
        if self.bounds.deadline.is_some_and(|d| now >= d) {
            halt.time_is_up();
        }
        if self.processor.is_some_and(|(soft, _)| spent >= soft) {
            halt.processor_time_is_up();
        }
        let same_step = halt.beats() == self.beat.0;
        if !same_step {
            self.beat = (halt.beats(), spent);
        }
        let (before, used_before) = std::mem::replace(&mut self.last, (spent, used));
        let Some(max) = self.bounds.memory else { return };
        let short = used > limits::soft(max);
        halt.short().store(short, Ordering::Relaxed);
        if !short {
            self.above = None;
            return;
        }
        let above = spent.saturating_sub(*self.above.get_or_insert(spent));
        let stuck = above > STUCK && spent.saturating_sub(self.beat.1) > STUCK;
        // One step that takes memory faster than a halt takes effect.
        let rate = used.saturating_sub(used_before) as f64 / spent.saturating_sub(before).as_secs_f64().max(0.001);
        let soon = used + (rate * AHEAD.as_secs_f64()) as u64;
        let rushes = same_step && soon > percent(max, 104);
        if rushes || used > max && stuck || used > percent(max, 102) && above > MAX_ABOVE_MEMORY_LIMIT {
            halt.memory_is_up();
        }
    }

    fn is_too_late(&mut self, now: Instant, used: u64) -> bool {
        let Some(why) = self.bounds.halt.reason() else { return false };
        let spent = processor_time();
        let halted = *self.halted.get_or_insert(Halted { since: now, processor: spent, memory: used });
        let grows =
            self.bounds.memory.is_some_and(|max| used > percent(max, 102) && used > percent(halted.memory, 101));
        grows || halted.is_overdue(&why, now, spent) || self.processor.is_some_and(|(_, hard)| spent >= hard)
    }

    fn next_poll(&self, now: Instant, used: u64) -> Duration {
        let (least, most) = LOOKS;
        let mut wait = if self.halted.is_some() { least * 2 } else { most };
        if let Some(deadline) = self.bounds.deadline.filter(|d| *d > now) {
            wait = wait.min(deadline - now);
        }
        if let Some((soft, _)) = self.processor {
            // There may be other threads; they need the time twice as fast.
            wait = wait.min(soft.saturating_sub(processor_time()) / 2);
        }
        if let Some(max) = self.bounds.memory {
            let room =
                [limits::soft(max), max, percent(max, 102)].into_iter().find(|m| *m > used).map_or(0, |m| m - used);
            wait = wait.min(Duration::from_micros(room / BYTES_PER_US));
        }
        wait.max(least)
    }
}

impl Halted {
    /// Has the run had its time to come to an end?
    fn is_overdue(&self, why: &Cut, now: Instant, spent: Duration) -> bool {
        let waited = now - self.since;
        match why {
            Cut::Interrupted => waited > MAX_END_AFTER_SIGNAL,
            Cut::Processor => spent.saturating_sub(self.processor) > MAX_END || waited > MAX_IDLE_END,
            _ => waited > MAX_END,
        }
    }
}

fn percent(of: u64, n: u64) -> u64 {
    of / 100 * n
}

/// The processor time that the system allows: a signal comes at the soft limit, the end at the hard one.
fn processor_limits() -> Option<(Duration, Duration)> {
    let limit = getrlimit(Resource::Cpu);
    let (soft, hard) = (limit.current.map(Duration::from_secs), limit.maximum.map(Duration::from_secs));
    let kept = hard.map_or(Duration::ZERO, |h| BEFORE_THE_KILL.min(h / 4));
    let before = |kept: Duration| hard.map_or(Duration::MAX, |h| h.saturating_sub(kept));
    (soft.is_some() || hard.is_some()).then(|| (soft.unwrap_or(Duration::MAX).min(before(kept)), before(kept / 2)))
}

/// Of this process so far.
fn processor_time() -> Duration {
    let t = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(t.tv_sec.unsigned_abs(), t.tv_nsec.unsigned_abs() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eye(memory: u64) -> Eye {
        Eye { processor: None, ..Eye::new(Bounds { halt: Halt::new(), deadline: None, memory: Some(memory) }) }
    }

    #[test]
    fn states_are_evicted_before_the_run_ends() {
        let (mut e, start) = (eye(100_000), Instant::now());
        let ms = Duration::from_millis;
        // The wall clock says nothing: the machine may be busy.
        let later = start + Duration::from_secs(60);
        e.poll(start, ms(100), 95_000);
        assert!(!e.bounds.halt.is_short());
        e.poll(start, ms(110), 99_000);
        assert!(e.bounds.halt.is_short() && e.bounds.halt.reason().is_none());
        // Above the limit: a loop that goes round has time to do something about it, a step that does not end has not.
        e.beat = (0, ms(120));
        e.poll(later, ms(120), 101_500);
        e.beat = (0, ms(200));
        e.poll(later, ms(200), 102_500);
        assert!(e.bounds.halt.reason().is_none());
        e.poll(later, ms(201), 90_000);
        e.poll(later, ms(210), 100_500);
        e.poll(later, ms(216), 100_600);
        assert_eq!(e.bounds.halt.reason(), Some(Cut::Memory));
        assert!(!e.is_too_late(later, 100_600));
        assert!(e.is_too_late(later, 102_500), "it goes on to grow");
    }

    #[test]
    fn a_step_that_rushes_past_the_limit_is_halted_before() {
        let (now, ms) = (Instant::now(), Duration::from_millis);
        let (mut slow, mut fast, mut loops) = (eye(100_000), eye(100_000), eye(100_000));
        for e in [&mut slow, &mut fast, &mut loops] {
            e.poll(now, ms(100), 94_000);
        }
        slow.poll(now, ms(102), 97_000);
        assert!(slow.bounds.halt.reason().is_none(), "it takes 1,500 bytes in a millisecond");
        loops.beat.0 = u64::MAX;
        loops.poll(now, ms(101), 97_000);
        assert!(loops.bounds.halt.reason().is_none(), "the loop goes round and can evict states");
        fast.poll(now, ms(101), 97_000);
        assert_eq!(fast.bounds.halt.reason(), Some(Cut::Memory));
    }

    #[test]
    fn a_run_that_does_not_end_is_ended() {
        let (mut e, start) = (eye(100_000), Instant::now());
        e.bounds.deadline = Some(start);
        e.poll(start, Duration::ZERO, 1);
        assert_eq!(e.bounds.halt.reason(), Some(Cut::Time));
        assert!(!e.is_too_late(start, 1));
        assert!(e.is_too_late(start + Duration::from_millis(800), 1));
    }

    /// On a busy machine a run gets little processor time for its end.
    #[test]
    fn patience_at_a_limit_of_processor_time_is_of_that() {
        let (now, ms) = (Instant::now(), Duration::from_millis);
        let halted = Halted { since: now, processor: ms(1000), memory: 1 };
        let overdue = |why: &Cut, wall, spent: u64| halted.is_overdue(why, now + ms(wall), ms(1000 + spent));
        assert!(!overdue(&Cut::Processor, 3000, 700) && overdue(&Cut::Processor, 3000, 800));
        assert!(overdue(&Cut::Processor, 6000, 0));
        assert!(overdue(&Cut::Time, 800, 0) && !overdue(&Cut::Time, 700, 700));
    }

    #[test]
    fn looks_are_closer_near_a_limit() {
        let e = eye(100 << 20);
        let now = Instant::now();
        assert_eq!(e.next_poll(now, 1), Duration::from_micros((limits::soft(100 << 20) - 1) / BYTES_PER_US));
        assert_eq!(e.next_poll(now, 100 << 20), LOOKS.0);
        assert_eq!(eye(10 << 30).next_poll(now, 1), LOOKS.1);
    }
}
