//! The loop's eye on its limits.

use crate::limits::{how_many_to_drop, soft};
use crate::run::{Run, RunContext};
use crate::sink::Progress;
use crate::step::{Child, Stepper};
use pleach_state::seams::Age;
use pleach_state::{Cut, End, StateId};
use std::cmp::Reverse;
use std::time::{Duration, Instant};

/// Steps between two polls of the clock when steps are short.
const STEPS_PER_LOOK: u32 = 16;
/// Time between two polls of the memory in use, at least and at most. In between, as long as it takes to use what is
/// left at [`BYTES_PER_US`]: on a busy machine the watchdog may come late.
pub(crate) const MEMORY_EVERY: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(100));
const BYTES_PER_US: u64 = 4000;

/// Eviction goes on until at most this share of what is allowed is in use, in percent, or this many times.
const ROOM_AFTER_EVICTION: u64 = 90;
const EVICTION_ROUNDS: u32 = 4;

/// The same while memory is above its limit.
const MEMORY_SHORT: Duration = Duration::from_millis(4);

impl Run {
    /// The next [`Run::poll_limits`] reads the clock.
    pub(crate) fn poll_limits_next(&mut self) {
        self.steps_to_poll = 0;
    }

    /// Looks at the limits, now and then at the clock and at memory. True: stop.
    pub(crate) fn poll_limits<M: Stepper>(&mut self, ctx: &mut RunContext<M>) -> bool {
        self.halt.beat();
        if self.stop.is_none() {
            self.stop = self.halt.reason();
        }
        if self.halt.is_short() {
            self.poll_limits_next();
        }
        if self.config.limits.max_instructions.is_some_and(|max| self.counters.instructions >= max) {
            self.stop.get_or_insert(Cut::Instructions);
        }
        if self.config.limits.max_effort.is_some() || self.portfolio.is_some() {
            self.poll_effort(ctx);
        }
        match self.steps_to_poll {
            0 if self.stop.is_none() => {
                self.steps_to_poll = STEPS_PER_LOOK;
                self.poll_clock(ctx);
            }
            n => self.steps_to_poll = n.saturating_sub(1),
        }
        self.stop.is_some()
    }

    /// What the run has cost may be enough, or another exploration have its turn.
    fn poll_effort<M: Stepper>(&mut self, ctx: &mut RunContext<M>) {
        if self.stop.is_some() {
            return;
        }
        let spent = ctx.learners.pruner.run_cost(ctx.machine.logic().effort(), self.counters.forks);
        if self.config.limits.max_effort.is_some_and(|max| spent >= max) {
            self.stop = Some(Cut::Stopped("it has cost as much as was allowed".into()));
        } else if self.portfolio.as_mut().is_some_and(|p| p.has_decided(spent)) {
            self.stop = Some(Cut::Stopped("another exploration has decided the program".into()));
        }
    }

    fn poll_clock<M: Stepper>(&mut self, ctx: &mut RunContext<M>) {
        let now = Instant::now();
        let limits = &self.config.limits;
        if limits.max_time.is_some_and(|max| now - self.started >= max) {
            self.halt.time_is_up();
            self.stop.get_or_insert(Cut::Time);
            return;
        }
        if let Some(max) = limits.max_memory
            && (now >= self.next_memory_poll || self.halt.is_short() && now - self.last_memory_poll >= MEMORY_SHORT)
        {
            let allowed = soft(max * 1_000_000);
            let used = self.make_room(allowed, ctx);
            self.last_memory_poll = Instant::now();
            self.next_memory_poll = self.last_memory_poll + memory_poll_after(used, allowed);
        }
        if self.stop.is_none() {
            self.stop = ctx.sink.stop();
        }
        if now - self.last_poll >= self.config.progress_every {
            self.last_poll = now;
            self.report(ctx, now, false);
        }
    }

    /// After a path ended: is that the last one wanted?
    pub(crate) fn check_stop_conditions(&mut self, end: &End, sink_says: Option<Cut>) {
        let limits = &self.config.limits;
        let mut why = sink_says;
        if limits.max_tests.is_some_and(|max| self.counters.tests >= max) {
            why = Some(Cut::Tests);
        }
        if let End::Error(error) = end
            && (limits.exit_on_error || limits.exit_on_error_type.contains(&error.kind))
        {
            let flag = if limits.exit_on_error { "exit-on-error" } else { "exit-on-error-type" };
            why = Some(Cut::Stopped(format!("an error was found (--{flag})")));
        }
        if self.stop.is_none() {
            self.stop = why;
        }
    }

    /// Ends the children that limits do not allow.
    pub(crate) fn limit_forks(&mut self, children: &mut [Child], depth: u32) {
        let limits = &self.config.limits;
        if limits.max_depth.is_some_and(|max| depth > max) {
            children.iter_mut().filter(|c| c.end.is_none()).for_each(|c| c.end = Some(End::Cut(Cut::Depth)));
        }
        let live = children.iter().filter(|c| c.end.is_none()).count();
        if live > 1 && limits.max_forks.is_some_and(|max| self.counters.forks >= max) {
            let kept = self.rng.below(live);
            let rest = children.iter_mut().filter(|c| c.end.is_none()).enumerate().filter(|(i, _)| *i != kept);
            rest.for_each(|(_, c)| c.end = Some(End::Cut(Cut::Forks)));
        }
    }

    /// Evicts states if more memory is in use than allowed, until there is some room again. What a state holds alone is
    /// not known before it is gone, so memory is measured again and again. Returns what is in use.
    fn make_room<M: Stepper>(&mut self, allowed: u64, ctx: &mut RunContext<M>) -> u64 {
        let measure = self.config.memory;
        let mut used = measure().unwrap_or(0);
        if used <= allowed {
            return used;
        }
        for _ in 0..EVICTION_ROUNDS {
            let in_memory = self.states.len() + self.deferred.in_memory();
            let count = how_many_to_drop(in_memory, used, allowed / 100 * ROOM_AFTER_EVICTION);
            if count == 0 {
                break;
            }
            self.drop_states(count, ctx);
            (self.config.release)();
            used = measure().unwrap_or(0);
        }
        ctx.sink.on_memory_pressure();
        used
    }

    fn drop_states<M: Stepper>(&mut self, count: usize, ctx: &mut RunContext<M>) {
        let count = count - self.evict_deferred(count, ctx);
        // Those that have just shown something new go last. States of one age lie side by side in memory: to evict here
        // and there would free parts of pages only.
        let mut ids: Vec<(bool, StateId)> = self.states.values().map(|s| (s.covered_new, s.id)).collect();
        match self.evicts {
            Age::Oldest => ids.sort_unstable(),
            Age::Newest => ids.sort_unstable_by_key(|(new, id)| (*new, Reverse(*id))),
        }
        for (_, id) in ids.into_iter().take(count) {
            self.evict(id, ctx);
            self.halt.beat();
        }
    }

    /// How things stand after so long.
    pub fn progress(&self, elapsed: Duration) -> Progress<'_> {
        let in_memory = self.deferred.in_memory();
        let states = self.states.len() + in_memory;
        let evicted = self.evicted.len() + self.deferred.len() - in_memory;
        Progress {
            counters: &self.counters,
            states,
            evicted,
            nodes: self.tree.len(),
            elapsed,
            time_left: None,
            long_ahead: false,
        }
    }

    pub(crate) fn report<M: Stepper>(&mut self, ctx: &mut RunContext<M>, now: Instant, long_ahead: bool) {
        let elapsed = now - self.started;
        let time_left = self.config.limits.max_time.map(|max| max.saturating_sub(elapsed));
        let progress = Progress { time_left, long_ahead, ..self.progress(elapsed) };
        ctx.sink.on_progress(ctx.machine, progress);
    }
}

fn memory_poll_after(used: u64, allowed: u64) -> Duration {
    let (least, most) = MEMORY_EVERY;
    match allowed.checked_sub(used) {
        Some(room) => Duration::from_micros(room / BYTES_PER_US).clamp(least, most),
        None => MEMORY_SHORT,
    }
}
