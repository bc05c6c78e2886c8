//! Other threads wait for a moment.
//!
//! *Idea*: a run that is ended because of its memory must not take more while its last words are written. A signal
//! stops each of the other threads in its handler, wherever it is: in our code, in the solver, or in a copy.
//! *Invariant*: a thread may hold a lock that the writing needs, so no thread waits beyond the given time; then both go
//! on.
#![allow(unsafe_code)]

use rustix::time::{ClockId, Timespec, clock_gettime};
use signal_hook::consts::SIGURG;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The end of the pause, in nanoseconds of the monotonic clock.
static UNTIL: AtomicU64 = AtomicU64::new(0);
/// How often a waiting thread looks whether the pause is over.
const NAP: Timespec = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };

/// The signal is one that does nothing to a process that does not ask for it.
const SIGNAL: i32 = SIGURG;

/// Stops all threads but this one, for at most so long.
pub fn others(most: Duration) {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        // SAFETY: the handler reads a clock and an atomic and sleeps; all of that may be done in a handler.
        let _ = unsafe { signal_hook::low_level::register(SIGNAL, wait) };
    });
    UNTIL.store(now() + u64::try_from(most.as_nanos()).unwrap_or(0), Ordering::SeqCst);
    let own = rustix::thread::gettid().as_raw_nonzero().get();
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return };
    let ids = threads.flatten().filter_map(|t| t.file_name().to_str()?.parse::<i32>().ok());
    for id in ids.filter(|id| *id != own) {
        let process = std::process::id();
        // SAFETY: a signal to a thread of this process, or to none if it has ended; its handler was installed above.
        unsafe { libc::syscall(libc::SYS_tgkill, process, id, SIGNAL) };
    }
}

/// Lets them go on.
#[cfg(test)]
fn end() {
    UNTIL.store(0, Ordering::SeqCst);
}

fn wait() {
    while now() < UNTIL.load(Ordering::SeqCst) {
        let _ = rustix::thread::nanosleep(&NAP);
    }
}

fn now() -> u64 {
    let t = clock_gettime(ClockId::Monotonic);
    t.tv_sec.unsigned_abs() * 1_000_000_000 + t.tv_nsec.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread::sleep;
    use std::time::Instant;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// One test, because all threads of this process are stopped.
    #[test]
    fn other_threads_wait_until_the_pause_is_over() {
        let (count, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (counted, stopped) = (count.clone(), stop.clone());
        let thread = std::thread::spawn(move || {
            while stopped.load(Ordering::Relaxed) == 0 {
                counted.fetch_add(1, Ordering::Relaxed);
            }
        });
        while count.load(Ordering::Relaxed) == 0 {
            sleep(MS(1));
        }
        others(Duration::from_secs(600));
        sleep(MS(50));
        let before = count.load(Ordering::Relaxed);
        sleep(MS(50));
        assert_eq!(count.load(Ordering::Relaxed), before, "it was stopped");
        end();
        let start = Instant::now();
        while count.load(Ordering::Relaxed) == before {
            assert!(start.elapsed() < Duration::from_secs(60), "it goes on");
            sleep(MS(1));
        }
        others(MS(20));
        let start = Instant::now();
        let before = count.load(Ordering::Relaxed);
        while count.load(Ordering::Relaxed) < before + 1000 {
            assert!(start.elapsed() < Duration::from_secs(60), "the pause ends by itself");
            sleep(MS(1));
        }
        stop.store(1, Ordering::Relaxed);
        thread.join().expect("the thread ends");
    }
}
