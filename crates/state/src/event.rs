//! What a step did, as typed events. An observer declares the kinds it wants; the others cost nothing.

use pleach_expr::TermId;
use pleach_ir::{FuncId, Slot};
use pleach_memory::{ObjId, Value};

/// Bits of [`Wanted`].
pub mod kinds {
    pub const BIND: u16 = 1;
    pub const LOAD: u16 = 2;
    pub const STORE: u16 = 4;
    pub const ALLOC: u16 = 8;
    pub const FREE: u16 = 16;
    pub const REBASE: u16 = 32;
    pub const BRANCH: u16 = 64;
    pub const CHECK: u16 = 128;
    pub const CALL: u16 = 256;
    pub const RETURN: u16 = 512;
    pub const FRESH: u16 = 1024;
}

/// A set of event kinds.
pub type Wanted = u16;

#[derive(Clone, Debug)]
pub enum Event {
    Bind {
        slot: Slot,
        value: Value,
    },
    /// `offset` is constant or symbolic
    Load {
        obj: ObjId,
        offset: Value,
        bytes: u32,
        value: Value,
    },
    Store {
        obj: ObjId,
        offset: Value,
        bytes: u32,
        value: Value,
    },
    Alloc {
        obj: ObjId,
        size: u64,
    },
    Free {
        obj: ObjId,
    },
    /// the object's address constraint changed
    Rebase {
        obj: ObjId,
    },
    /// `taken` is the condition of the side followed; `other_feasible` is false when the other side cannot happen
    Branch {
        taken: TermId,
        other_feasible: bool,
    },
    /// a check that this path passed (bounds, division, …)
    Check {
        condition: TermId,
    },
    Call {
        func: FuncId,
    },
    Return {
        func: FuncId,
    },
    /// a new unknown
    Fresh {
        term: TermId,
    },
}

impl Event {
    pub fn kind(&self) -> u16 {
        match self {
            Event::Bind { .. } => kinds::BIND,
            Event::Load { .. } => kinds::LOAD,
            Event::Store { .. } => kinds::STORE,
            Event::Alloc { .. } => kinds::ALLOC,
            Event::Free { .. } => kinds::FREE,
            Event::Rebase { .. } => kinds::REBASE,
            Event::Branch { .. } => kinds::BRANCH,
            Event::Check { .. } => kinds::CHECK,
            Event::Call { .. } => kinds::CALL,
            Event::Return { .. } => kinds::RETURN,
            Event::Fresh { .. } => kinds::FRESH,
        }
    }
}
