//! Bounds on loops and on recursion.
//!
//! *Invariant*: `frame.visits[h]` is how often the loop at `h` jumped back to its start since it was last entered. An
//! execution in which no loop does so more often than the bound is not touched. A cycle that is no natural loop
//! (entered in several places) has no start and is not bounded.

use crate::config::LoopBound;
use crate::flow::Flow;
use crate::machine::{Code, Machine};
use pleach_ir::{BlockId, FuncId};
use pleach_state::{Cut, End, ErrorKind, ProgramError, State};

impl Machine {
    /// The end of a state that just came from block `from`, if it has been round its loop too often.
    pub(crate) fn beyond_bound(&mut self, code: &Code, st: &mut State, from: BlockId) -> Option<End> {
        let body = code.loops[st.frame.func.index()][st.block.index()].as_ref()?;
        let bound = self.config.loop_bound?;
        if !body.contains(from.index()) {
            st.frame.visits.remove(&st.block);
            return None;
        }
        let n = st.frame.visits.entry(st.block).or_insert(0);
        *n += 1;
        match bound {
            LoopBound::Error(max) if *n > max => {
                Some(End::Error(ProgramError::new(ErrorKind::LoopLimit, format!("a loop runs more than {max} times"))))
            }
            LoopBound::Cut(max) if *n > max => Some(End::Cut(Cut::Unwind(max))),
            _ => None,
        }
    }

    /// Whether one more call of the function within itself is too many.
    pub(crate) fn recursion_bound(&self, st: &State, callee: FuncId) -> Option<Flow> {
        let Some(LoopBound::Cut(max)) = self.config.loop_bound else { return None };
        let mut active = u32::from(st.frame.func == callee);
        let mut at = st.callers.as_deref();
        while let Some(c) = at {
            active += u32::from(c.frame.func == callee);
            at = c.below.as_deref();
        }
        (active > max).then(|| Flow::cut(Cut::Unwind(max)))
    }
}
