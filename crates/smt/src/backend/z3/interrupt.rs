//! An interrupt in the middle of a check: Z3 polls nothing of ours, but another thread may interrupt it.
#![allow(unsafe_code)]

use super::ffi;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Between two looks at the flag.
const EVERY: Duration = Duration::from_millis(10);

struct Context(ffi::Context);

// SAFETY: the thread only calls `Z3_interrupt`, which any thread may do while the context is alive.
unsafe impl Send for Context {}

/// Runs a check that ends soon after the flag is set.
pub fn during<T>(context: ffi::Context, flag: Option<&AtomicBool>, check: impl FnOnce() -> T) -> T {
    let Some(flag) = flag else { return check() };
    let (done, ends) = channel::<()>();
    let context = Context(context);
    std::thread::scope(|threads| {
        // Without a thread the check ends when it ends.
        let _ = std::thread::Builder::new().name("interrupt".into()).spawn_scoped(threads, move || {
            let context = context;
            loop {
                if flag.load(Ordering::Relaxed) {
                    // SAFETY: the context outlives the scope. It is interrupted again and again: before a check has
                    // begun an interrupt has no effect.
                    unsafe { ffi::Z3_interrupt(context.0) };
                }
                if ends.recv_timeout(EVERY) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        });
        let answer = check();
        drop(done);
        answer
    })
}
