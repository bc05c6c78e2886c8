//! How one long operation is ended from outside: large copies, arrays of many bytes, walks over many terms.
//!
//! *Idea*: whoever watches the limits sets a flag; a long operation looks at it now and then and leaves off. What it
//! then returns is a valid term without meaning, and the work under way is *spoiled*: whoever began it calls
//! [`Brake::take`] and drops the result together with the path. *Invariant*: nothing that was made while the work was
//! spoiled is kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Flags that others set, and whether an operation left off because of one.
#[derive(Clone, Debug, Default)]
pub struct Brake {
    /// the run ends
    halt: Arc<AtomicBool>,
    /// the memory limit is reached: what allocates a lot at once has to stop
    short: Arc<AtomicBool>,
    spoiled: Option<Spoiled>,
}

/// Why an operation left off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spoiled {
    Halt,
    Memory,
}

impl Brake {
    pub fn new(halt: Arc<AtomicBool>, short: Arc<AtomicBool>) -> Brake {
        Brake { halt, short, spoiled: None }
    }

    /// Whether the run ends.
    #[inline]
    pub fn halted(&self) -> bool {
        self.halt.load(Ordering::Relaxed)
    }

    /// Whether the memory limit is reached.
    #[inline]
    pub fn is_short(&self) -> bool {
        self.short.load(Ordering::Relaxed)
    }

    /// To be polled within a long operation that allocates memory, and not by a short one: what allocates little may go
    /// on at the memory limit. True if the operation has to stop; its work is spoiled then.
    pub fn pulled(&mut self) -> bool {
        if self.spoiled.is_none() {
            self.spoiled = match () {
                () if self.halted() => Some(Spoiled::Halt),
                () if self.short.load(Ordering::Relaxed) => Some(Spoiled::Memory),
                () => None,
            };
        }
        self.spoiled.is_some()
    }

    pub fn is_spoiled(&self) -> bool {
        self.spoiled.is_some()
    }

    /// Whether the work until now is spoiled; what follows is new work.
    #[inline]
    pub fn take(&mut self) -> Option<Spoiled> {
        self.spoiled.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spoiled_until_it_is_taken() {
        let (halt, short) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let mut b = Brake::new(halt.clone(), short.clone());
        assert!(!b.pulled() && b.take().is_none());
        short.store(true, Ordering::Relaxed);
        assert!(b.pulled());
        short.store(false, Ordering::Relaxed);
        assert!(b.pulled(), "what was spoiled stays so");
        assert_eq!(b.take(), Some(Spoiled::Memory));
        assert!(!b.pulled());
        halt.store(true, Ordering::Relaxed);
        assert!(b.halted() && b.pulled());
        assert_eq!((b.take(), b.spoiled), (Some(Spoiled::Halt), None));
    }
}
