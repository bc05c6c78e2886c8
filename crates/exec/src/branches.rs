//! Branches that are kept in a record or taken from one, and limits on how often one place may fork. All of it is
//! KLEE's; none of it costs anything where it is not enabled.

use crate::feasibility::FeasibleSide;
use crate::flow::Flow;
use crate::machine::{Code, Machine};
use pleach_ir::BlockId;
use pleach_state::{BranchDecision, Cut, Detail, End, ErrorKind, ForkKind, ProgramError, State};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

/// What becomes of conditional branches besides being taken.
#[derive(Clone, Debug, Default)]
pub struct BranchLogging {
    /// keep a record of each path: its branches, and the blocks it was the first to enter
    pub record: bool,
    /// the only branches to take, in order
    pub follow: Option<Rc<[bool]>>,
    pub shares: Option<ForkQuota>,
}

impl BranchLogging {
    pub(crate) fn are_kept(&self) -> bool {
        self.record || self.follow.is_some()
    }
}

/// How much of all forks, or of the time for solving, may go to one place. Beyond it one side of a branch is followed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ForkQuota {
    /// of forks, for an instruction
    pub forks: f64,
    /// of forks, for a function called in this way
    pub call_path_forks: f64,
    /// of the time for solving, for an instruction
    pub solving: f64,
    /// of the time for solving, for a function called in this way
    pub call_path_solving: f64,
    /// forks before it counts
    pub delay: u64,
}

/// Call sites from the bottom of the stack.
type CallPath = Vec<(u32, u32)>;

/// Forks and time, for [`ForkQuota`].
#[derive(Default)]
pub(crate) struct ForkQuotaUse {
    all: (u64, Duration),
    by_place: BTreeMap<(u32, u32), (u64, Duration)>,
    by_call_path: BTreeMap<CallPath, (u64, Duration)>,
}

fn call_path(st: &State) -> CallPath {
    let mut path = vec![(st.frame.func.0, u32::MAX)];
    let mut below = st.callers.as_deref();
    while let Some(c) = below {
        path.push((c.frame.func.0, c.frame.inst));
        below = c.below.as_deref();
    }
    path
}

impl Machine {
    /// What is to be done after a branch with a known side.
    #[cold]
    pub(crate) fn after_branch(&mut self, code: &Code, st: &mut State, from: BlockId, taken: bool) -> Option<End> {
        let wrong = self.note_branch(st, taken, false);
        wrong.or_else(|| if code.loops.is_empty() { None } else { self.beyond_bound(code, st, from) })
    }

    /// Keeps a branch in the path's record, or finds it wrong: it is not the one to take. Where calls into the C
    /// library are told, its branches are not the program's.
    pub(crate) fn note_branch(&mut self, st: &mut State, taken: bool, free: bool) -> Option<End> {
        if !self.is_kept(st) {
            return None;
        }
        let at = st.record.as_ref().map_or(0, |r| r.decisions.len());
        st.record(|r| r.decisions.push(BranchDecision { taken, free }));
        let follow = self.config.branches.follow.as_ref()?;
        let message = match follow.get(at) {
            Some(&wanted) if wanted == taken => return None,
            Some(_) => "hit invalid branch in replay path mode",
            None => "ran out of branches in replay path mode",
        };
        Some(End::Error(ProgramError {
            kind: ErrorKind::User,
            message: message.into(),
            detail: Detail::Misuse(message),
        }))
    }

    fn is_kept(&self, st: &State) -> bool {
        self.config.branches.are_kept() && !self.code.library.contains(&st.frame.func)
    }

    /// The side of a branch that the path to follow takes, if it says so.
    pub(crate) fn side_to_follow(&self, st: &State) -> Option<bool> {
        let follow = self.config.branches.follow.as_ref().filter(|_| self.is_kept(st))?;
        let at = st.record.as_ref().map_or(0, |r| r.decisions.len());
        // Where it says no more, either side is one too many.
        Some(follow.get(at).copied().unwrap_or(true))
    }

    /// Counts a fork and the time for solving at this place. `true`: the place has had its share, and no fork is due.
    pub(crate) fn share_is_used_up(&mut self, st: &State, solving: Duration) -> bool {
        let Some(shares) = self.config.branches.shares else { return false };
        let path = call_path(st);
        let spent = &mut self.spent;
        let here = spent.by_place.entry((st.frame.func.0, st.inst)).or_default();
        let called = spent.by_call_path.entry(path).or_default();
        for s in [&mut spent.all, here, called] {
            s.1 += solving;
        }
        let beyond = |part: &(u64, Duration), forks: f64, time: f64| {
            (forks < 1.0 && part.0 as f64 > spent.all.0 as f64 * forks)
                || (time < 1.0 && part.1.as_secs_f64() > spent.all.1.as_secs_f64() * time)
        };
        let used = spent.all.0 >= shares.delay
            && (beyond(here, shares.forks, shares.solving)
                || beyond(called, shares.call_path_forks, shares.call_path_solving));
        if !used {
            for s in [&mut spent.all, here, called] {
                s.0 += 1;
            }
        }
        used
    }

    /// One of two sides is followed because the place has had its share; the loss is a path of its own.
    pub(crate) fn one_side(&mut self, st: &mut State, yes: FeasibleSide, no: FeasibleSide) -> Flow {
        let program = self.program.clone();
        let span = program.function(st.frame.func).spans.get(st.inst as usize).copied().unwrap_or_default();
        let at = if span.is_known() { format!(" at {}:{}", program.path(span), span.line) } else { String::new() };
        let text = "skipping fork and concretizing condition (MaxStatic*Pct limit reached)";
        self.warn_once(format!("{text}{at}"));
        // INCOMPLETE: the other side is cut.
        let cut = End::Cut(Cut::Concretized("a branch that had its share of forks".into()));
        self.split(st, vec![(yes, None), (no, Some(cut))], ForkKind::Other)
    }
}
