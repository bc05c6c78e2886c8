//! The allocator of the binaries, and how it keeps the memory limit.
//!
//! *Idea*: a table that doubles takes as much memory within a millisecond as the run took until then. Nobody who looks
//! at the memory now and then sees that in time. So a large block is asked for here: what would go beyond the limit is
//! [refused](is_refused), and its thread waits for the watchdog to end the run. *Invariant*: it does not wait for ever,
//! and nothing waits once the [limit is lifted](lift_limit), which is done before a run writes its results.
#![allow(unsafe_code)]

use mimalloc::MiMalloc;
use pleach_explore::limits;
use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::time::Duration;

unsafe extern "C" {
    // SAFETY: the allocator's own function: any thread may call it at any time. Where the binary has another allocator,
    // there is nothing to give back.
    safe fn mi_collect(force: bool);
}

/// Blocks smaller than this come one by one; whoever polls the memory sees them.
const LARGE: usize = 1 << 20;
/// How long a refused thread waits to be ended.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// Bytes; 0: no limit.
static LIMIT: AtomicU64 = AtomicU64::new(0);
/// The thread that keeps the limit: it is never refused.
static KEEPER: AtomicI32 = AtomicI32::new(0);
static REFUSED: AtomicBool = AtomicBool::new(false);

/// Allocates, and refuses large blocks beyond the limit.
pub struct LimitedAllocator;

// SAFETY: all of it is done by the allocator within; before a large block, the thread may wait.
unsafe impl GlobalAlloc for LimitedAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() >= LARGE {
            before_large(layout.size());
        }
        // SAFETY: what the caller promises.
        unsafe { MiMalloc.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // Pages of zeros take no memory until something is written to them.
        // SAFETY: what the caller promises.
        unsafe { MiMalloc.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: what the caller promises.
        unsafe { MiMalloc.dealloc(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // What is there is copied; what is new is not written yet.
        if size >= LARGE && layout.size() >= LARGE {
            before_large(layout.size().min(size));
        }
        // SAFETY: what the caller promises.
        unsafe { MiMalloc.realloc(block, layout, size) }
    }
}

/// Gives what this thread has freed back to the system.
pub fn release() {
    mi_collect(true);
}

/// From now on large blocks beyond this many bytes are refused to all threads but this one.
pub(crate) fn keep_limit(bytes: u64) {
    KEEPER.store(rustix::thread::gettid().as_raw_nonzero().get(), Ordering::SeqCst);
    LIMIT.store(bytes, Ordering::SeqCst);
}

/// The run comes to its end: nothing is refused any more.
pub(crate) fn lift_limit() {
    LIMIT.store(0, Ordering::SeqCst);
}

/// A thread needs more than the limit allows, and waits.
pub(crate) fn is_refused() -> bool {
    REFUSED.load(Ordering::SeqCst)
}

/// Whether a block of this many bytes goes beyond the limit.
fn is_beyond(limit: u64, used: u64, bytes: u64) -> bool {
    limit != 0 && used.saturating_add(bytes) > limit
}

#[cold]
fn before_large(bytes: usize) {
    let limit = LIMIT.load(Ordering::Relaxed);
    if limit == 0 || !is_beyond(limit, limits::resident_bytes().unwrap_or(0), bytes as u64) {
        return;
    }
    // What was freed may be enough.
    release();
    if !is_beyond(limit, limits::resident_bytes().unwrap_or(0), bytes as u64)
        || rustix::thread::gettid().as_raw_nonzero().get() == KEEPER.load(Ordering::SeqCst)
    {
        return;
    }
    REFUSED.store(true, Ordering::SeqCst);
    let start = std::time::Instant::now();
    while LIMIT.load(Ordering::SeqCst) != 0 && start.elapsed() < MAX_WAIT {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_not_refused() {
        assert!(!is_beyond(0, 1 << 40, 1 << 40), "there is no limit");
        assert!(!is_beyond(200, 100, 100));
        assert!(is_beyond(200, 100, 101));
        assert!(is_beyond(200, 100, u64::MAX));
    }
}
