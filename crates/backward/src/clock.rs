//! How long a query may take.

use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// What the process has used of its processors so far.
pub fn cpu_time() -> Duration {
    let t = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(t.tv_sec.unsigned_abs(), u32::try_from(t.tv_nsec).unwrap_or(0))
}

/// When a query has to end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    deadline: Option<Instant>,
}

pub const OUT_OF_TIME: &str = "the time limit (--max-time) was reached";

impl Clock {
    /// At the earlier of both.
    pub fn new(time: Option<Duration>, deadline: Option<Instant>) -> Clock {
        let own = time.map(|t| Instant::now() + t);
        Clock { deadline: own.into_iter().chain(deadline).min() }
    }

    pub fn is_over(self) -> bool {
        self.left().is_some_and(|t| t.is_zero())
    }

    /// `None` without a limit.
    pub fn left(self) -> Option<Duration> {
        self.deadline.map(|d| d.saturating_duration_since(Instant::now()))
    }

    /// This long from now, but not longer than this.
    pub fn earlier(self, time: Option<Duration>) -> Clock {
        Clock::new(time, self.deadline)
    }

    /// Half of what is left.
    pub fn half(self) -> Clock {
        Clock::new(self.left().map(|t| t / 2), None)
    }
}
