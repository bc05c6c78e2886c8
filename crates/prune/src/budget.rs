//! Whether pruning pays: the work it costs against the work of execution and the work it saved.
//!
//! *Idea*: everything is counted in units of about one executed instruction, so that decisions do not depend on the
//! clock. While pruning has cost more than its share, states are neither recorded nor compared. *Direction*: a pause
//! costs pruning, never soundness: a node below which something was not recorded yields nothing.

use crate::saving_estimate::SavingEstimate;
use pleach_state::seams::Effort;

/// What may be spent before anything is gained: in a run that has executed at least `SHORT`, and before. A short run is
/// over before pruning could pay off, and starting the program and writing its tests takes as long.
const START: u64 = 300_000;
const SHORT: u64 = 600_000;
const AT_ONCE: u64 = 90_000;
/// A run with at least this many waiting sides of forks is not over soon, however little it has executed.
const MANY: u64 = 256;
/// In a short run the first savings count this many times.
const PROMISE: u64 = 8;
/// Pruning may cost one part in `SHARE` of the work done, half of that in a short run, and all of the work saved.
const SHARE: u64 = 6;
/// Of what a run executes beyond this, pruning may cost three times as much as long as no subsumed state mattered: it
/// may need to learn much before the first one does.
const LONG: u64 = 4_000_000;
/// What the first path may cost in addition, for each instruction executed on it; in a short run, once.
const FIRST: u64 = 6;

/// If the estimated saving is this many times the cost, it is not sampled any more.
const PLENTY: u64 = 8;

/// What pruning does, by kind: how often, and what it costs each time, in units.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Work {
    /// a node with its state and trace
    Node,
    /// an instruction in backward propagation
    StepBack,
    /// a conjunct propagated backward over an instruction
    StepLiteral,
    /// a condition made small, and each of its conjuncts
    Tighten,
    TightenLiteral,
    /// a state checked where paths meet; an entry skipped because of a literal that failed before; an entry compared;
    /// each literal of it
    Check,
    Refute,
    Try,
    TryLiteral,
}

const WORKS: [(Work, &str, u64); 9] = [
    (Work::Node, "work: nodes", 12),
    (Work::StepBack, "work: steps back", 8),
    (Work::StepLiteral, "work: conjuncts stepped back", 2),
    (Work::Tighten, "work: conditions tightened", 10),
    (Work::TightenLiteral, "work: conjuncts tightened", 14),
    (Work::Check, "work: checks", 5),
    (Work::Refute, "work: entries refuted", 1),
    (Work::Try, "work: entries tried", 12),
    (Work::TryLiteral, "work: literals tried", 18),
];

/// A query of the pruner: the slice of constraints, and the solver chain.
const PRUNER_QUERY: u64 = 70;
/// One that reaches the back end.
const HARD_QUERY: u64 = 2500;
/// The back end polled once more whether it should stop: this counts its search, mostly for a proof.
const PRUNER_STEP: u64 = 1500;
/// What is executed besides instructions: a side of a fork, with its part of the end of a path.
const FORK: u64 = 75;

/// What had been spent at some time.
#[derive(Clone, Copy)]
pub struct Mark {
    work: u64,
    effort: Effort,
}

#[derive(Default)]
pub struct Budget {
    forks: u64,
    /// by kind of work, in the order of `WORKS`
    done: [u64; WORKS.len()],
    /// queries of the pruner, and those of them that were hard
    queries: u64,
    hard: u64,
    steps: u64,
    /// the effort of the back end for cost samples
    sampled_effort: Effort,
    /// what subsumed states would have cost
    saved: u64,
    estimate: SavingEstimate,
    /// what was spent on the first path: it costs most before there is anything to compare with
    first: u64,
    /// what may be spent in addition because the saving is not known yet
    exploration_credit: u64,
    paused: bool,
    /// pruning goes on whatever it costs
    pub always: bool,
}

impl Budget {
    pub fn forked(&mut self) {
        self.forks += 1;
    }

    pub fn saved(&mut self, work: u64) {
        self.saved = self.saved.saturating_add(work);
    }

    pub fn spend(&mut self, work: Work, times: u64) {
        self.done[work as usize] += times;
    }

    /// Counts the queries between the two.
    pub fn count_queries(&mut self, before: Effort, after: Effort) {
        self.queries += after.queries - before.queries;
        self.hard += after.hard - before.hard;
        self.steps += after.steps - before.steps;
    }

    /// Whether a subsumed state that counts for `whole` is worth exploring further after this effort.
    pub fn wants_sample(&self, whole: u64, number: u32, effort: Effort, forks: u64) -> bool {
        let spent = self.spent();
        !self.always
            && self.saved / PLENTY < spent
            && self.estimate.wants_sample(whole, number, explored(effort, forks), spent)
    }

    /// The estimate for it if it was not explored.
    pub fn estimated_saving(&self, whole: u64) -> u64 {
        self.estimate.of(whole)
    }

    /// It was explored in a sub-exploration; what it counts for.
    pub fn sampled(&mut self, whole: u64, effort: Effort, forks: u64, ended: bool) -> u64 {
        // The run counts all queries to back ends, and these are not its own.
        (self.sampled_effort.hard, self.sampled_effort.steps) =
            (self.sampled_effort.hard + effort.hard, self.sampled_effort.steps + effort.steps);
        self.estimate.sampled(whole, explored(effort, forks), ended)
    }

    /// What pruning has cost so far.
    pub fn spent(&self) -> u64 {
        self.work()
            + self.queries * PRUNER_QUERY
            + self.hard * HARD_QUERY
            + self.steps * PRUNER_STEP
            + self.estimate.cost
    }

    fn work(&self) -> u64 {
        self.done.iter().zip(WORKS).map(|(n, (_, _, cost))| n * cost).sum()
    }

    /// The cost of what the pruner does from here on is measured by [`Budget::since`].
    pub fn mark(&self, now: Effort) -> Mark {
        Mark { work: self.work(), effort: now }
    }

    /// What the pruner has done since then, its queries included.
    pub fn since(&self, mark: Mark, now: Effort) -> u64 {
        let e = now.since(mark.effort);
        self.work() - mark.work + e.queries * PRUNER_QUERY + e.hard * HARD_QUERY + e.steps * PRUNER_STEP
    }

    /// What execution has cost so far.
    pub fn executed(&self, effort: Effort) -> u64 {
        let easy = effort.queries.saturating_sub(self.queries);
        let hard = effort.hard.saturating_sub(self.hard + self.sampled_effort.hard);
        let steps = effort.steps.saturating_sub(self.steps + self.sampled_effort.steps);
        let own = Effort { queries: easy, hard, steps, ..effort };
        explored(own, self.forks)
    }

    /// Statistics by name.
    pub fn list(&self) -> impl Iterator<Item = (String, u64)> + '_ {
        let work = self.done.iter().zip(WORKS).map(|(n, (_, name, _))| (name, *n));
        let queries = [
            ("work: queries", self.queries),
            ("work: hard queries", self.hard),
            ("work: steps of the solver", self.steps),
            ("work: forks", self.forks),
        ];
        let sums = [
            ("units spent", self.spent()),
            ("units of the first path", self.first),
            ("units of cost samples", self.estimate.cost),
            ("units saved", self.saved),
            ("cost samples", self.estimate.samples),
            ("complete cost samples", self.estimate.ended),
        ];
        work.chain(queries).chain(sums).map(|(name, n)| (name.to_owned(), n))
    }

    /// Too much has been spent for what it brought, as of the last poll.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Decides again. A pause lasts until a part of the cost has been earned back.
    pub fn poll(&mut self, effort: Effort, leaves: u64) {
        let spent = self.spent();
        if leaves <= 1 {
            self.first = spent.min(effort.instructions * FIRST);
        }
        let executed = self.executed(effort);
        // One of the two sides of each fork ended a path meanwhile, or waits.
        let waiting = (self.forks / 2).saturating_sub(leaves);
        let (start, share) = match executed < SHORT && waiting < MANY {
            true => {
                let start = self.saved.saturating_mul(PROMISE).saturating_add(AT_ONCE).min(START);
                (start + self.first / FIRST, 2 * SHARE)
            }
            false => (START + self.first, SHARE),
        };
        if self.estimate.samples == 0 {
            self.exploration_credit = executed.saturating_sub(LONG) / SHARE * 2;
        }
        let allowed = (start + executed / share + self.exploration_credit).saturating_add(self.saved);
        self.paused = !self.always && spent > if self.paused { allowed / 8 * 7 } else { allowed };
    }
}

/// What execution costs.
fn explored(effort: Effort, forks: u64) -> u64 {
    effort.units(forks)
}

/// What a subtree costs to explore, in units.
#[derive(Clone, Copy, Default, Debug)]
pub struct Cost {
    /// what was executed
    pub executed: u64,
    /// what it would have cost without pruning, if everything that was subsumed was feasible
    pub whole: u64,
}

impl Cost {
    pub fn executed(instructions: u64, forks: u64) -> Cost {
        let executed = instructions + forks * FORK;
        Cost { executed, whole: executed }
    }

    /// Not executed: the state was subsumed.
    pub fn saved(whole: u64) -> Cost {
        Cost { executed: 0, whole }
    }

    pub fn and(self, other: Cost) -> Cost {
        Cost { executed: self.executed + other.executed, whole: self.whole.saturating_add(other.whole) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_path_is_paid_for_by_its_length() {
        let mut b = Budget::default();
        b.spend(Work::Check, START);
        b.poll(Effort { instructions: 10, ..Effort::default() }, 1);
        assert!(b.is_paused());
        let long = Effort { instructions: START, ..Effort::default() };
        b.poll(long, 1);
        assert!(b.is_paused(), "it may be a short run");
        b.poll(Effort { hard: SHORT / HARD_QUERY, ..long }, 1);
        assert!(!b.is_paused());
    }

    #[test]
    fn work_that_saves_nothing_ends() {
        let mut b = Budget::default();
        let mut effort = Effort::default();
        let mut worked = 0;
        for _ in 0..100_000 {
            effort.instructions += 1000;
            b.poll(effort, 2);
            if !b.is_paused() {
                b.spend(Work::Check, 200);
                worked += 1000;
            }
        }
        assert!(worked <= START + effort.instructions * 3 / SHARE + 1000 && worked > START);
        assert!(worked > START + effort.instructions * 2 / SHARE, "a long run is patient while nothing is known");
        b.saved(u64::MAX);
        b.poll(effort, 2);
        assert!(!b.is_paused());
    }

    #[test]
    fn a_short_run_spends_little_unless_it_pays() {
        let mut b = Budget::default();
        b.spend(Work::Refute, AT_ONCE + 2);
        b.poll(Effort::default(), 2);
        assert!(b.is_paused());
        b.saved(AT_ONCE / PROMISE);
        b.poll(Effort::default(), 2);
        assert!(!b.is_paused());
        b.spend(Work::Refute, 2 * START);
        b.poll(Effort::default(), 2);
        assert!(b.is_paused());
    }

    #[test]
    fn a_run_that_many_states_wait_in_is_not_short() {
        let mut b = Budget::default();
        b.spend(Work::Refute, START / 2);
        (0..2 * MANY).for_each(|_| b.forked());
        b.poll(Effort::default(), 1);
        assert!(b.is_paused());
        (0..2).for_each(|_| b.forked());
        b.poll(Effort::default(), 1);
        assert!(!b.is_paused());
    }
}
