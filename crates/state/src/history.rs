//! What a state did since its node in the execution tree, for techniques that ask for it. A run without such a technique
//! keeps nothing, and a state then carries one null pointer.
//!
//! *Invariant*: kept from the first fork on, or not at all; [`History::stop`] ends it, and the next fork begins it anew.

use crate::state::State;
use crate::trace::{Access, Exit, ForkKind, Trace};
use pleach_ir::FuncId;
use std::rc::Rc;

/// A [`HistoryRecord`], where one is kept. All methods do nothing where none is.
#[derive(Clone, Default)]
pub struct History(Option<Box<HistoryRecord>>);

#[derive(Clone)]
struct HistoryRecord {
    /// executed since this state's node
    trace: Trace,
    /// the state just before the split this one came from, its history included
    origin: Option<Rc<State>>,
    fork: ForkKind,
    /// stands at the start of a block where paths meet, and is to be compared there
    at_join: bool,
    joins: JoinThrottle,
}

/// Where paths meet: how many places since the last fork became nodes, and how many to pass by before the next does.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct JoinThrottle {
    nodes: u32,
    pass: u32,
}

/// After this many nodes without a fork they get fewer.
const MANY_JOINS: u32 = 512;

/// Of a state that keeps none.
const NO_TRACE: &Trace = &Trace { runs: Vec::new(), accesses: Vec::new(), from: 0 };

impl History {
    /// One that begins at this instruction.
    pub fn beginning(inst: u32) -> History {
        let (trace, joins) = (Trace::beginning(inst), JoinThrottle::default());
        History(Some(Box::new(HistoryRecord { trace, origin: None, fork: ForkKind::Other, at_join: false, joins })))
    }

    #[inline]
    pub fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    pub fn trace(&self) -> &Trace {
        self.0.as_ref().map_or(NO_TRACE, |r| &r.trace)
    }

    /// Why the state was split off.
    pub fn fork(&self) -> ForkKind {
        self.0.as_ref().map_or(ForkKind::Other, |r| r.fork)
    }

    /// The state before the split this one came from, until that was taken.
    pub fn origin(&self) -> Option<&Rc<State>> {
        self.0.as_ref().and_then(|r| r.origin.as_ref())
    }

    pub fn is_at_join(&self) -> bool {
        self.0.as_ref().is_some_and(|r| r.at_join)
    }

    /// Adds an access to the trace.
    #[inline]
    pub fn access(&mut self, access: Access) {
        if let Some(r) = &mut self.0 {
            r.trace.access(access);
        }
    }

    /// Changes the last access of the trace.
    pub fn amend(&mut self, change: impl FnOnce(&mut Access)) {
        if let Some(last) = self.0.as_mut().and_then(|r| r.trace.accesses.last_mut()) {
            change(last);
        }
    }

    /// Ends the run of instructions in progress, see [`Trace::leave`].
    #[inline]
    pub fn leave(&mut self, func: FuncId, to: u32, depth: u32, exit: Exit, next: u32) {
        if let Some(r) = &mut self.0 {
            r.trace.leave(func, to, depth, exit, next);
        }
    }

    /// How many accesses the trace has.
    #[inline]
    pub fn accesses(&self) -> usize {
        self.0.as_ref().map_or(0, |r| r.trace.accesses.len())
    }

    /// Drops all accesses but the first ones.
    pub fn drop_accesses(&mut self, from: usize) {
        if let Some(r) = &mut self.0 {
            r.trace.accesses.truncate(from);
        }
    }

    pub fn set_fork(&mut self, kind: ForkKind) {
        if let Some(r) = &mut self.0 {
            r.fork = kind;
        }
    }

    /// The state came to the start of a block; `join`: paths meet there. Whether it is to be compared there.
    #[inline]
    pub fn enter(&mut self, join: bool) -> bool {
        let Some(r) = &mut self.0 else { return false };
        r.at_join = join && r.joins.pass == 0;
        r.joins.pass -= u32::from(join && !r.at_join);
        r.at_join
    }

    /// The state is to be compared where it is.
    pub fn set_at_join(&mut self) {
        if let Some(r) = &mut self.0 {
            r.at_join = true;
        }
    }

    /// Whether the state is to be compared where it is. It then is, so it need not be again.
    pub fn take_at_join(&mut self) -> bool {
        self.0.as_mut().is_some_and(|r| std::mem::take(&mut r.at_join))
    }

    /// A place where paths meet became a node. On a long way without forks such nodes are hardly ever of use: from some
    /// number on, the distance between them grows with the way.
    pub fn throttle_joins(&mut self) {
        if let Some(r) = &mut self.0 {
            r.joins.nodes += 1;
            r.joins.pass = r.joins.nodes.saturating_sub(MANY_JOINS);
        }
    }

    /// Takes the state before the split; the nodes since the last fork are counted from here.
    pub fn take_origin(&mut self) -> Option<Rc<State>> {
        let r = self.0.as_mut()?;
        let origin = r.origin.take();
        if origin.is_some() {
            r.joins = JoinThrottle::default();
        }
        origin
    }

    /// Takes the trace; the next begins at this instruction.
    pub fn take_trace(&mut self, from: u32) -> Trace {
        self.0.as_mut().map_or_else(Trace::default, |r| std::mem::replace(&mut r.trace, Trace::beginning(from)))
    }

    /// Nothing is known of what came before this instruction.
    pub fn restart(&mut self, inst: u32) {
        if let Some(r) = &mut self.0 {
            (r.trace, r.origin, r.at_join) = (Trace::beginning(inst), None, false);
        }
    }

    /// Nothing is kept from here to the next fork.
    pub fn stop(&mut self) {
        self.0 = None;
    }
}

impl State {
    /// The state is about to be split: keeps it as it is now, for techniques that propagate conditions backward over it.
    pub fn keep_origin(&mut self, kind: ForkKind) {
        let (func, inst, depth) = (self.frame.func, self.inst, self.call_depth());
        self.history.leave(func, inst, depth, Exit::Fall, inst);
        let mut before = std::mem::take(&mut self.history);
        let (at_join, joins) = before.0.as_ref().map_or_else(Default::default, |r| (r.at_join, r.joins));
        if let Some(r) = &mut before.0 {
            r.origin = None;
        }
        let mut origin = self.clone();
        origin.history = before;
        let (trace, origin) = (Trace::beginning(inst), Some(Rc::new(origin)));
        self.history = History(Some(Box::new(HistoryRecord { trace, origin, fork: kind, at_join, joins })));
    }
}
