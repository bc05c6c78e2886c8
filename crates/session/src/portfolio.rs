//! Other ways to explore the program, which take turns with the run of a verification.
//!
//! *Idea*: which technique decides a program is not known before. A loop that forks in each round wants merging, one
//! that counts wants an invariant, one with few rounds wants neither. When the run has cost some effort, each member of
//! the portfolio explores the program from its start for a part of that effort; then the run goes on, and they have
//! their next turn when it has cost several times as much. The first member that comes to an end, or to a violation,
//! decides: the run ends, and the member explores once more, for the account. *Invariant*: each member is a complete
//! exploration with techniques that a flag switches on, too; nothing goes from one to another. *Direction*: a turn that
//! decides nothing costs time. *Checked by*: fixtures that only a member decides, and the campaign for merging.

use crate::observer::Observer;
use crate::result::ExplorationResult;
use crate::session::{Conclude, Session};
use crate::verdict_text::allocates;
use pleach::{EndOfRun, GuidedExecutor};
use pleach_command::CliError;
use pleach_exec::{Seed, SizeMode};
use pleach_explore::{Ended, Halt, Limits, Sink};
use pleach_merge::MergeConfig;
use pleach_report::PortfolioRecord;
use pleach_state::seams::Portfolio;
use pleach_state::{Cut, End};
use pleach_verify::{Class, Property, called};
use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// What the run has cost before the first turn, in units of effort, and how much later the next one is.
const FIRST: u64 = 2_000_000;
const GROWS: u64 = 4;
/// The first budget of a query in a turn is one search step for each of this many units of the turn.
const PER_QUERY_STEP: u64 = 20_000;
/// No turn if more memory is in use, in percent of what is allowed.
const ROOM: u64 = 50;

/// A way to explore.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Member {
    /// states merge, sizes of objects are terms
    Merging,
    /// states merge, and each size of an object is a path of its own
    MergingBySize,
    /// loops are unrolled, and each size of an object is a path of its own
    Unrolling,
}

impl Member {
    const ALL: [Member; 3] = [Member::Merging, Member::MergingBySize, Member::Unrolling];

    /// The flags that choose it.
    fn flags(self) -> &'static str {
        match self {
            Member::Merging => "--merge",
            Member::MergingBySize => "--merge --symbolic-size=fork",
            Member::Unrolling => "--no-unbounded --symbolic-size=fork",
        }
    }

    /// It may cost what the run has cost, divided by this: all turns together cost at most half as much as the run.
    /// Where the program makes objects of its own, merging pays more often, and may cost twice as much.
    fn part(self, allocates: bool) -> u64 {
        match self {
            Member::Merging if allocates => 2,
            Member::Merging => 4,
            _ => 12,
        }
    }

    /// What these flags say.
    fn choose(self, session: &mut Session) {
        let config = &mut session.config;
        if let Some(prune) = &mut config.prune {
            (prune.unbounded, prune.induction) = (false, None);
        }
        config.merge = (self != Member::Unrolling).then(MergeConfig::default);
        if self != Member::Merging {
            config.exec.sizes.mode = SizeMode::Fork;
        }
        (config.contracts, config.portfolio) = (false, false);
        config.added_flags = self.flags().split(' ').collect();
    }
}

/// What became of the turns.
#[derive(Default)]
pub(crate) struct TurnsTaken {
    turns: Cell<u64>,
    decided: RefCell<Option<(Member, Decision)>>,
}

/// What a member has found.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Decision {
    /// everything is explored
    Complete,
    /// an execution with this input violates the property
    Violation(Seed),
    /// nothing that decides
    Open,
}

/// The members next to a run.
pub(crate) struct Turns {
    session: Session,
    halt: Halt,
    /// the program makes blocks on the heap
    allocates: bool,
    /// when the next turn is
    next: u64,
    taken: Rc<TurnsTaken>,
}

impl Portfolio for Turns {
    fn has_decided(&mut self, spent: u64) -> bool {
        if spent < self.next {
            return false;
        }
        self.next = spent * GROWS;
        for member in Member::ALL {
            if !self.has_room() || self.halt.reason().is_some() {
                return false;
            }
            self.taken.turns.set(self.taken.turns.get() + 1);
            let decision = self.session.decides(member, spent / member.part(self.allocates), &self.halt);
            if decision != Decision::Open {
                *self.taken.decided.borrow_mut() = Some((member, decision));
                return true;
            }
        }
        false
    }
}

impl Turns {
    fn has_room(&self) -> bool {
        let run = &self.session.config.run;
        let allowed = run.limits.max_memory.map_or(u64::MAX, |mb| mb * 1_000_000 / 100 * ROOM);
        (run.memory)().is_none_or(|used| used <= allowed)
    }
}

impl Session {
    /// Neither a way to explore nor a bound was chosen.
    fn has_turns(&self) -> bool {
        let config = &self.config;
        let limits = &config.run.limits;
        let bounded = limits.max_instructions.is_some() || limits.max_forks.is_some() || limits.max_depth.is_some();
        let unbounded = config.prune.as_ref().is_none_or(|p| p.unbounded);
        let chosen = config.merge.is_some() || config.exec.sizes.mode != SizeMode::Symbolic || !unbounded;
        let special = !config.seeds.is_empty() || config.run.check_pruning.is_some();
        config.portfolio && !bounded && !chosen && !special
    }

    /// Explores while others have their turns, if there are any; and once more as the one that has decided.
    pub(crate) fn explore_in_turns(
        &self,
        observer: &mut dyn Observer,
        to: Option<&Path>,
        conclude: &Conclude,
    ) -> Result<ExplorationResult, CliError> {
        if !self.has_turns() {
            return self.explore_once(observer, to, conclude, None);
        }
        let (start, limit) = (Instant::now(), self.config.run.limits.max_time);
        let taken = Rc::new(TurnsTaken::default());
        let mut found = self.explore_once(observer, to, conclude, Some(&taken))?;
        let decided = taken.decided.take();
        if let Some((member, decision)) = &decided {
            drop(found.left.take());
            let dir = found.dir.path().to_owned();
            found.dir.remove()?;
            let left = limit.map(|all| all.saturating_sub(start.elapsed()).max(Duration::from_millis(1)));
            let mut other = self.again();
            match decision {
                // A merged path has several inputs: this one alone shows the violation best.
                Decision::Violation(input) => {
                    Member::Unrolling.choose(&mut other);
                    other.config.seeds = vec![input.clone()];
                }
                _ => member.choose(&mut other),
            }
            found = other.with_max_time(left).explore_once(observer, Some(&dir), conclude, None)?;
            found.elapsed = start.elapsed();
        }
        let decided_by = decided.map(|(member, _)| member.flags().to_owned());
        found.summary.portfolio =
            (taken.turns.get() > 0).then(|| PortfolioRecord { turns: taken.turns.get(), decided_by });
        Ok(found)
    }

    /// Those that explore next to a run that this signal ends.
    pub(crate) fn turns(&self, taken: &Rc<TurnsTaken>, halt: &Halt) -> Box<dyn Portfolio> {
        let allocates = allocates(&self.program);
        Box::new(Turns { session: self.again(), halt: halt.clone(), allocates, next: FIRST, taken: taken.clone() })
    }

    /// What an exploration by this member finds within so much effort.
    fn decides(&self, member: Member, effort: u64, halt: &Halt) -> Decision {
        let mut session = self.again();
        member.choose(&mut session);
        session.config.run.limits =
            Limits { max_effort: Some(effort), max_time: None, ..session.config.run.limits.clone() };
        session.config.run.flush_time = Duration::ZERO;
        // A query that would take most of the turn waits for the others first.
        session.config.exec.query_budget = Some((effort / PER_QUERY_STEP).max(1));
        let Ok(mut engine) = session.engine(Default::default(), halt) else { return Decision::Open };
        let mut judge = Judge { session: &session, decision: None };
        let end = engine.explore(&mut judge);
        let machine = &engine.executor.machine;
        let complete = end == EndOfRun::Done && engine.run.counters.is_complete() && machine.disagreements.is_empty();
        match judge.decision {
            Some(decision) => decision,
            // SOUND: only a hint that it is worth to explore so; that exploration is judged like any other.
            None if complete => Decision::Complete,
            None => Decision::Open,
        }
    }
}

/// Looks for an end of a path that says more than that it is an end.
struct Judge<'a> {
    session: &'a Session,
    /// a violation, or something that leaves the answer open
    decision: Option<Decision>,
}

impl Sink<GuidedExecutor> for Judge<'_> {
    fn on_path_end(&mut self, executor: &mut GuidedExecutor, ended: Ended) -> u32 {
        let property: &Property = &self.session.config.property;
        let found = match ended.end {
            End::Error(error) => match property.class(error.kind, called(&self.session.program, ended.state)) {
                Class::Violation(_) => {
                    let inputs = executor.machine.test_inputs(ended.state);
                    Some(Decision::Violation(Seed::Objects(inputs.into_iter().map(|i| (i.name, i.bytes)).collect())))
                }
                Class::Undefined => Some(Decision::Open),
                Class::End => None,
            },
            // What is cut cannot end any more, and a violation is for the run to find.
            End::Cut(_) => Some(Decision::Open),
            _ => None,
        };
        self.decision = self.decision.take().or(found);
        0
    }
    fn stop(&mut self) -> Option<Cut> {
        self.decision.as_ref().map(|_| Cut::Stopped("nothing more is to be found".into()))
    }
}
