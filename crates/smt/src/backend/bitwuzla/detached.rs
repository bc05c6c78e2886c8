//! A check that can be given up.
//!
//! *Idea*: the library polls [`Stop`] while it searches, but not while it rewrites terms and turns them into a circuit,
//! which may take minutes. So a query for which that is much work is checked on a thread of its own. When its time is
//! up or the run is interrupted, and the check does not end soon, the caller goes on without it. *Invariant*: only one
//! thread uses an instance at a time. One that was given up belongs to its thread, which deletes it at the end.
#![allow(unsafe_code)]

use super::stop::Stop;
use super::{Checked, check_on_this_thread, ffi};
use crate::answer::UnknownReason;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

/// Between two looks at the interrupt.
const EVERY: Duration = Duration::from_millis(10);
/// How long a check may take to end after it: a search needs less.
const GRACE: Duration = Duration::from_millis(100);
/// The main thread's usual size is 8 MB; only what is used counts.
const STACK: usize = 64 << 20;

/// At most this many checks whose time is up go on at once; then the caller waits for the next one.
const MAX_GIVEN_UP: usize = 2;
static GIVEN_UP: AtomicUsize = AtomicUsize::new(0);

/// What the thread works on.
struct Task {
    solver: *mut ffi::Solver,
    manager: *mut ffi::TermManager,
    assumptions: Vec<ffi::Term>,
    /// the library polls it
    _stop: Arc<Stop>,
}

// SAFETY: the library ties its instances to no thread, and the one that hands a task over does not touch the instance
// until the answer has come.
unsafe impl Send for Task {}

impl Task {
    /// Nobody else has the instance any more.
    fn delete(self) {
        // SAFETY: the one who gave it up has forgotten both; the solver goes before its manager.
        unsafe {
            ffi::bitwuzla_delete(self.solver);
            ffi::bitwuzla_term_manager_delete(self.manager);
        }
        GIVEN_UP.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Checks on another thread. `Err`: given up for this reason; the instance must not be used, nor deleted, any more.
pub fn check(
    solver: *mut ffi::Solver,
    manager: *mut ffi::TermManager,
    assumptions: &[ffi::Term],
    stop: &Arc<Stop>,
) -> Result<Checked, UnknownReason> {
    let (tell, answer) = channel();
    let task = Task { solver, manager, assumptions: assumptions.to_vec(), _stop: Arc::clone(stop) };
    // Whoever comes second, the end of the check or the caller who gives it up, finds it set.
    let settled = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&settled);
    let thread = std::thread::Builder::new().name("query".into()).stack_size(STACK).spawn(move || {
        // All of it, not only the fields that are used.
        let task = task;
        let outcome = check_on_this_thread(task.solver, &task.assumptions);
        match ended.swap(true, Ordering::SeqCst) {
            true => task.delete(),
            // Someone listens.
            false => drop(tell.send(outcome)),
        }
    });
    if thread.is_err() {
        return Ok(check_on_this_thread(solver, assumptions));
    }
    let mut since = None;
    loop {
        match answer.recv_timeout(EVERY) {
            Ok(outcome) => return Ok(outcome),
            Err(RecvTimeoutError::Disconnected) => return Ok(Checked::failed("the thread of a query ended")),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let Some(why) = reason_to_give_up(stop) else { continue };
        if since.get_or_insert_with(Instant::now).elapsed() > GRACE && !settled.swap(true, Ordering::SeqCst) {
            GIVEN_UP.fetch_add(1, Ordering::SeqCst);
            leave_in_a_hurry();
            return Err(why);
        }
    }
}

fn reason_to_give_up(stop: &Stop) -> Option<UnknownReason> {
    if stop.is_interrupted() {
        return Some(UnknownReason::Interrupted);
    }
    let late = stop.is_overdue() && GIVEN_UP.load(Ordering::SeqCst) < MAX_GIVEN_UP;
    late.then_some(UnknownReason::Timeout)
}

unsafe extern "C" {
    fn on_exit(function: unsafe extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    fn fflush(file: *mut ffi::File) -> c_int;
    fn _exit(status: c_int) -> !;
}

unsafe extern "C" fn exit_now(status: c_int, _: *mut c_void) {
    // SAFETY: null stands for all streams; nothing is done after that.
    unsafe {
        fflush(ptr::null_mut());
        _exit(status);
    }
}

/// The thread that was given up still works: when the process ends, the library's global objects must not be destroyed
/// below it.
fn leave_in_a_hurry() {
    static ONCE: Once = Once::new();
    // SAFETY: the function lives as long as the process. It runs before everything that was registered earlier.
    ONCE.call_once(|| unsafe {
        on_exit(exit_now, ptr::null_mut());
    });
}
