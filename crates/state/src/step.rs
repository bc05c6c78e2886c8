//! What running a state for a while gives, as data.

use crate::outcome::End;
use crate::state::State;
use pleach_expr::TermId;
use pleach_ir::BlockId;

pub enum Step {
    /// the budget is used up; go on later
    Next,
    /// the state is consumed; these take its place
    Fork(Vec<Child>),
    End(End),
    /// a query needs more search than the state may use now; the state is as it was before the instruction
    Deferred,
}

/// A state that a step gave rise to.
pub struct Child {
    pub state: State,
    /// what distinguishes it from its siblings
    pub condition: TermId,
    /// where the fork was; the child may have left that block
    pub block: BlockId,
    /// the path ended at once, for instance on the failing side of a check
    pub end: Option<End>,
}
