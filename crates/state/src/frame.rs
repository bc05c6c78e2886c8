//! Frames: registers, the objects that live as long as the call, and the way back.

use pleach_ir::{BlockId, FuncId, Range};
use pleach_memory::{ObjId, Value};
use std::rc::Rc;

#[derive(Clone, Debug)]
pub struct Frame {
    pub func: FuncId,
    pub regs: Vec<Value>,
    /// locals in memory, freed on return
    pub locals: Vec<ObjId>,
    /// variable arguments of this call, with their types
    pub varargs: Rc<[(Value, pleach_ir::Ty)]>,
    /// where execution goes on in this frame once the callee returns
    pub block: BlockId,
    pub inst: u32,
    /// slots of this frame that take the callee's results (into `Function::dsts`)
    pub dsts: Range,
    /// how often each loop that is under way went back to its start; filled only under a bound on loops
    pub visits: std::collections::BTreeMap<BlockId, u32>,
    /// the number this call got when it first called `setjmp`; 0: it did not
    pub landing: u32,
}

/// Where a `longjmp` goes on: just after a `setjmp`, as long as the call that made it is active.
#[derive(Debug)]
pub struct JumpPoint {
    /// `Frame::landing` of the call
    pub landing: u32,
    pub block: BlockId,
    /// the call of `setjmp`
    pub inst: u32,
    /// as they were at the `setjmp`; variables of a function that calls it live in memory
    pub regs: Vec<Value>,
    /// the slot that takes the result of `setjmp`
    pub result: Option<pleach_ir::Slot>,
}

impl Frame {
    /// A register; behind the registers come the variable arguments, as if they were some.
    pub fn register(&self, slot: u32) -> Option<Value> {
        let slot = slot as usize;
        let argument = || self.varargs.get(slot.checked_sub(self.regs.len())?).map(|a| a.0);
        self.regs.get(slot).copied().or_else(argument)
    }

    pub fn new(func: FuncId, slots: usize) -> Frame {
        Frame {
            func,
            regs: vec![Value::Undef; slots],
            locals: Vec::new(),
            varargs: Rc::new([]),
            block: BlockId(0),
            inst: 0,
            dsts: Range::default(),
            visits: Default::default(),
            landing: 0,
        }
    }
}

/// The suspended callers, shared between states.
#[derive(Debug)]
pub struct CallStack {
    pub frame: Frame,
    pub below: Option<Rc<CallStack>>,
    pub depth: u32,
}

impl Drop for CallStack {
    // Iterative, or dropping a deep recursion would overflow the engine's own stack.
    fn drop(&mut self) {
        let mut next = self.below.take();
        while let Some(rc) = next {
            match Rc::try_unwrap(rc) {
                Ok(mut c) => next = c.below.take(),
                Err(_) => break,
            }
        }
    }
}
