//! Huge pages are for large runs. The allocator requests them from the start; with its first allocations spread over
//! several of them, a small run would take twice the memory. A large one takes an eighth more time without.

use pleach_explore::limits;
use rustix::thread::disable_transparent_huge_pages;

/// Above this the waste is small.
const LARGE_BYTES: u64 = 64 << 20;

/// For now none. Where the kernel knows no such thing, there is nothing to do.
pub fn avoid() {
    let _ = disable_transparent_huge_pages(true);
}

/// The resident set, looked at from time to time; once it is large, what is added comes in huge pages.
pub fn resident_bytes() -> Option<u64> {
    let bytes = limits::resident_bytes();
    if bytes.is_some_and(|b| b > LARGE_BYTES) {
        let _ = disable_transparent_huge_pages(false);
    }
    bytes
}
