//! Whether pruning pays: the work it costs against the work of execution and the work it saved.
//!
//! *Idea*: everything is counted in units of about one executed instruction, so that decisions do not depend on the
//! clock. While pruning has cost more than its share, states are neither recorded nor compared. *Direction*: resting
//! costs pruning, never soundness: a node below which something was not recorded yields nothing.

use crate::saving_estimate::SavingEstimate;
use pleach_state::seams::Effort;

/// What may be spent before anything must have been gained: in a run that has executed so much, and before. A short run
/// is over before pruning could pay, and to start the program and to write its tests takes as long as this little.
const START: u64 = 300_000;
const SHORT: u64 = 600_000;
const AT_ONCE: u64 = 90_000;
/// A run in which so many sides of forks wait is not over soon, however little it has executed.
const MANY: u64 = 256;
/// Where it begins to pay, that counts so many times in a short run.
const PROMISE: u64 = 8;
/// Of the work done, pruning may cost one part in so many, half of that in a short run; of the work saved, all.
const SHARE: u64 = 6;
/// Of what a run executes beyond this, three times as much as long as no covered state mattered: it may need to learn
/// much before the first one does.
const LONG: u64 = 4_000_000;
/// What the first path may cost beside, for each instruction executed on it; in a short run, once.
const FIRST: u64 = 6;

/// Where so many times what was spent was saved, nobody asks whether that is true.
const PLENTY: u64 = 8;

/// What pruning does, by kind: how often, and what it costs each time, in units.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Work {
    /// a node with its state and trace
    Node,
    /// an instruction walked back over
    StepBack,
    /// a conjunct walked back over an instruction
    StepLiteral,
    /// a condition made small, and each of its conjuncts
    Tighten,
    TightenLiteral,
    /// a state looked at where paths meet; an entry passed over because of a literal that failed before; compared with
    /// an entry; each literal of it
    Look,
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
    (Work::Look, "work: checks", 5),
    (Work::Refute, "work: entries refuted", 1),
    (Work::Try, "work: entries tried", 12),
    (Work::TryLiteral, "work: literals tried", 18),
];

/// A question of pruning's: which constraints it concerns, and the solver chain.
const ASK: u64 = 70;
/// A question of execution's, and one of either to the back end if no link had the answer.
const QUERY: u64 = 25;
const HARD_QUERY: u64 = 2500;
/// The back end asked once more whether it should stop: so it counts its search.
const STEP: u64 = 300;
/// The same for a question of pruning's, mostly a proof.
const STEP_ASK: u64 = 1500;
/// What is executed beside instructions: a side of a fork, with its part of the end of a path.
const FORK: u64 = 75;

#[derive(Default)]
pub struct Budget {
    forks: u64,
    /// by kind of work, in the order of `WORKS`
    done: [u64; WORKS.len()],
    /// questions that pruning asked, and those of them that were hard
    asked: u64,
    hard: u64,
    steps: u64,
    /// what the back end was asked by probes
    aside: Effort,
    /// what covered states would have cost
    saved: u64,
    estimate: SavingEstimate,
    /// what was spent on the first path: it costs most before there is anything to compare with
    first: u64,
    /// what may be spent beside because nothing is known yet of what that saves
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

    /// Questions were asked between the two.
    pub fn asked(&mut self, before: Effort, after: Effort) {
        self.asked += after.queries - before.queries;
        self.hard += after.hard - before.hard;
        self.steps += after.steps - before.steps;
    }

    /// A covered state that counts for `whole` is worth to be explored further after so much.
    pub fn wants_sample(&self, whole: u64, number: u32, effort: Effort, forks: u64) -> bool {
        let spent = self.spent();
        !self.always
            && self.saved / PLENTY < spent
            && self.estimate.wants_sample(whole, number, explored(effort, forks), spent)
    }

    /// What is believed of it if it was not.
    pub fn estimated_saving(&self, whole: u64) -> u64 {
        self.estimate.of(whole)
    }

    /// That was explored aside; what it counts for.
    pub fn sampled(&mut self, whole: u64, effort: Effort, forks: u64, ended: bool) -> u64 {
        // Questions to back ends are counted on by the run, and these are not its own.
        (self.aside.hard, self.aside.steps) = (self.aside.hard + effort.hard, self.aside.steps + effort.steps);
        self.estimate.sampled(whole, explored(effort, forks), ended)
    }

    /// What pruning has cost so far.
    fn spent(&self) -> u64 {
        let work: u64 = self.done.iter().zip(WORKS).map(|(n, (_, _, cost))| n * cost).sum();
        work + self.asked * ASK + self.hard * HARD_QUERY + self.steps * STEP_ASK + self.estimate.cost
    }

    /// What execution has cost so far.
    fn executed(&self, effort: Effort) -> u64 {
        let easy = effort.queries.saturating_sub(self.asked);
        let hard = effort.hard.saturating_sub(self.hard + self.aside.hard);
        let steps = effort.steps.saturating_sub(self.steps + self.aside.steps);
        let own = Effort { queries: easy, hard, steps, ..effort };
        explored(own, self.forks)
    }

    /// Figures by name.
    pub fn list(&self) -> impl Iterator<Item = (String, u64)> + '_ {
        let work = self.done.iter().zip(WORKS).map(|(n, (_, name, _))| (name, *n));
        let asked = [
            ("work: questions", self.asked),
            ("work: hard questions", self.hard),
            ("work: steps of the solver", self.steps),
            ("work: forks", self.forks),
        ];
        let sums = [
            ("units spent", self.spent()),
            ("units of the first path", self.first),
            ("units of probes", self.estimate.cost),
            ("units saved", self.saved),
            ("probes", self.estimate.probes),
            ("probes to the end", self.estimate.ended),
        ];
        work.chain(asked).chain(sums).map(|(name, n)| (name.to_owned(), n))
    }

    /// Too much has been spent for what it brought, as of the last look.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Looks again. Who rests does so until a part of it has been earned back.
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
        if self.estimate.probes == 0 {
            self.exploration_credit = executed.saturating_sub(LONG) / SHARE * 2;
        }
        let allowed = (start + executed / share + self.exploration_credit).saturating_add(self.saved);
        self.paused = !self.always && spent > if self.paused { allowed / 8 * 7 } else { allowed };
    }
}

/// What execution costs.
fn explored(effort: Effort, forks: u64) -> u64 {
    effort.instructions + effort.queries * QUERY + effort.hard * HARD_QUERY + effort.steps * STEP + forks * FORK
}

/// What a subtree costs to explore, in units.
#[derive(Clone, Copy, Default, Debug)]
pub struct Cost {
    /// what was executed
    pub executed: u64,
    /// what it would have cost without pruning, if all was possible that was covered
    pub whole: u64,
}

impl Cost {
    pub fn executed(instructions: u64, forks: u64) -> Cost {
        let executed = instructions + forks * FORK;
        Cost { executed, whole: executed }
    }

    /// Not executed: the state was covered.
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
        b.spend(Work::Look, START);
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
                b.spend(Work::Look, 200);
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
