//! What a state executed since its last node in the execution tree: enough to propagate conditions backward over it.
//!
//! *Idea*: the program text says what each instruction does to registers; recorded is only what it cannot say: which
//! straight runs of instructions were executed, by which edge each was left, and which places the accesses among them
//! resolved to. *Invariant*: every load, store, local, bulk operation, modelled call and return in `runs` has exactly
//! one entry in `accesses`, in the order of execution; a call into a body has one for each structure it passes by
//! value.

use crate::access_path::Link;
use pleach_ir::{FuncId, Range, Ty};
use pleach_memory::{ObjId, Value};
use std::rc::Rc;

/// Instructions `from..to` of a function, executed in order at a call depth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    pub func: u32,
    pub from: u32,
    pub to: u32,
    pub depth: u32,
    /// by which edge the last instruction was left
    pub exit: Exit,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// the next instruction follows
    Fall,
    /// edge of a jump, or side 0 or 1 of a branch
    Side(u8),
    /// `Function::cases[i]`
    Case(u32),
    /// the default edge of a switch
    Default,
    /// into a function with a body
    Call,
    Return,
    /// into a function that runs because the program ends
    Ending,
}

/// Arguments in memory: offset and type of each.
pub type Arguments = Rc<[(u64, Ty)]>;

/// What is known of the size of an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SizeBound {
    Exactly(u64),
    /// the size was symbolic, and no more than this
    AtMost(u64),
}

impl SizeBound {
    pub fn most(self) -> u64 {
        match self {
            SizeBound::Exactly(n) | SizeBound::AtMost(n) => n,
        }
    }
}

/// One of the objects that a pointer may be into: at a constant offset, or anywhere. `aligned`: at a multiple of the
/// bytes accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MayPointTo {
    pub obj: ObjId,
    pub size: SizeBound,
    pub off: Option<u64>,
    pub aligned: bool,
}

/// Where a range begins whose length was not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RangeStart {
    pub obj: ObjId,
    pub off: u64,
    /// the size of the object was symbolic
    pub sized: bool,
}

/// Bytes that a modelled function read through an argument; `nul`: the last of them is the end of a string; `told`: the
/// run says of them what they were, so that whoever comes with others has something else to say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArgumentRead {
    pub argument: u32,
    pub obj: ObjId,
    pub off: u64,
    pub bytes: u64,
    pub nul: bool,
    pub told: Option<Rc<[u8]>>,
}

#[derive(Clone, Debug)]
pub enum Access {
    At {
        obj: ObjId,
        off: u64,
    },
    /// the same in an object of symbolic size
    AtSized {
        obj: ObjId,
        off: u64,
    },
    /// within the object of this size, at an offset that was not constant; `aligned`: a multiple of the bytes accessed
    InBounds {
        obj: ObjId,
        size: SizeBound,
        aligned: bool,
    },
    /// into one of several objects, by the pointer; the links lead to them
    MayPointTo {
        objects: Rc<[MayPointTo]>,
        links: Rc<[Link]>,
    },
    /// a fresh object of `size` bytes; `zeroed` or never written. With the alignment that the program asked for, if it
    /// did
    Alloc {
        obj: ObjId,
        size: SizeBound,
        zeroed: bool,
        align: Option<u64>,
    },
    Free {
        obj: ObjId,
    },
    /// the scope of this local of the top frame ended
    ScopeEnd {
        obj: ObjId,
    },
    /// the result is a new unknown
    Fresh,
    /// the result is a fresh symbolic variable from the first argument to before the second
    FreshRange,
    /// the result is a fresh symbolic variable below the first argument
    FreshBelow,
    /// bytes became fresh symbolic variables
    FreshMemory {
        obj: ObjId,
        off: u64,
        len: u64,
    },
    /// the first argument is not zero from here on
    Assume,
    /// the first argument is not zero from here on; where it could not be otherwise, that would have been an error
    AssumeElseFail,
    /// the first argument was found not to be zero; otherwise it would have been an error
    Assert,
    /// a bulk operation of no bytes
    Empty,
    /// `free` of a null pointer
    FreeNull,
    /// no effect but a result that may be anything, whatever the arguments are
    AnyResult,
    /// no effect but this result
    Result(Value),
    /// no effect but the result, and these bytes of arguments were read; `fixed`: arguments that had these numbers
    Reads {
        reads: Rc<[ArgumentRead]>,
        fixed: Rc<[(u32, u64)]>,
        result: Rc<Access>,
    },
    /// no effect but this result: the low bits of an argument
    Argument {
        index: u32,
        bits: u16,
    },
    /// the block `old` (none: null was given) gave way to `new` (none: no bytes were requested), with its first `kept`
    /// bytes
    Realloc {
        old: Option<ObjId>,
        new: Option<ObjId>,
        kept: u64,
        size: u64,
    },
    /// a block of symbolic size instead of null
    ReallocNull {
        new: ObjId,
        size: SizeBound,
    },
    /// the address of a fresh block was written to a place
    AllocTo {
        obj: ObjId,
        size: SizeBound,
        align: u64,
        at: ObjId,
        off: u64,
    },
    /// the first argument, this function, was registered to run at the end
    AtExit(Value),
    /// a list of variable arguments began at a place: a fresh local holds them, at these offsets
    VaStart {
        list: ObjId,
        off: u64,
        area: ObjId,
        size: u64,
        args: Arguments,
    },
    Copy {
        to: ObjId,
        to_off: u64,
        from: ObjId,
        from_off: u64,
        len: u64,
    },
    Fill {
        obj: ObjId,
        off: u64,
        len: u64,
    },
    /// as many bytes as the length says, which was not known but at most this
    CopyUpTo {
        to: RangeStart,
        from: RangeStart,
        most: u64,
    },
    FillUpTo {
        to: RangeStart,
        most: u64,
    },
    /// one offset or both were not constant (`None`); `whole`: an offset like that is a multiple of the length, which
    /// is that of a word
    CopyWithin {
        to: ObjId,
        to_off: Option<u64>,
        from: ObjId,
        from_off: Option<u64>,
        from_size: SizeBound,
        len: u64,
        whole: bool,
    },
    FillWithin {
        obj: ObjId,
        len: u64,
    },
    /// back to a caller: where its results go, and the locals that ceased to exist
    Returned {
        caller: FuncId,
        dsts: Range,
        dropped: Rc<[ObjId]>,
    },
    /// something this record does not describe
    Opaque,
    /// the same for the size of an object, which was symbolic
    SymbolicSize,
}

/// Why a state was split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ForkKind {
    /// the branch or switch at the state's instruction
    Branch,
    /// a check of the instruction: one side is an error of this kind
    Check(crate::outcome::ErrorKind),
    /// the objects that the pointer of a load or store may be into: within this one, or an error
    Target(Option<ObjId>),
    Other,
}

#[derive(Clone, Debug, Default)]
pub struct Trace {
    pub runs: Vec<Run>,
    pub accesses: Vec<Access>,
    /// where the run in progress began
    pub from: u32,
}

impl Trace {
    /// One whose first run begins at this instruction.
    pub fn beginning(inst: u32) -> Trace {
        Trace { from: inst, ..Trace::default() }
    }

    /// Ends the run in progress before instruction `to`; the next begins at `next`.
    #[inline]
    pub fn leave(&mut self, func: FuncId, to: u32, depth: u32, exit: Exit, next: u32) {
        // Into which function a call went shows by the run after it, be it empty.
        let called = self.runs.last().is_some_and(|r| matches!(r.exit, Exit::Call | Exit::Ending));
        if self.from != to || exit != Exit::Fall || called {
            self.runs.push(Run { func: func.0, from: self.from, to, depth, exit });
        }
        self.from = next;
    }

    #[inline]
    pub fn access(&mut self, a: Access) {
        self.accesses.push(a);
    }

    pub fn len(&self) -> usize {
        self.runs.len() + self.accesses.len()
    }
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.accesses.is_empty()
    }
}
