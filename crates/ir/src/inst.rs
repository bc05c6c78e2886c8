//! Instructions after lowering: operands are slots or pre-evaluated constants, aggregates are flattened into
//! one slot per scalar leaf, phi nodes have become copies on the edges.

use crate::ids::{BlockId, FuncId, Slot};
use serde::{Deserialize, Serialize};

/// A scalar type. Aggregates do not occur in registers: each leaf has its own slot.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Ty {
    Int(u16),
    Ptr,
    Float(FloatTy),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum FloatTy {
    Half,
    Single,
    Double,
    X87,
    Quad,
}

impl FloatTy {
    pub fn bits(self) -> u16 {
        match self {
            FloatTy::Half => 16,
            FloatTy::Single => 32,
            FloatTy::Double => 64,
            FloatTy::X87 => 80,
            FloatTy::Quad => 128,
        }
    }
}

/// An operand: a slot of the current frame, or an index into the function's constants.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Opnd(u32);

const CONST_BIT: u32 = 1 << 31;

/// An operand as its parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpndKind {
    Slot(Slot),
    Const(u32),
}

impl Opnd {
    #[inline]
    pub fn slot(s: Slot) -> Opnd {
        Opnd(s.0)
    }
    #[inline]
    pub fn constant(index: u32) -> Opnd {
        Opnd(index | CONST_BIT)
    }
    #[inline]
    pub fn kind(self) -> OpndKind {
        if self.0 & CONST_BIT == 0 { OpndKind::Slot(Slot(self.0)) } else { OpndKind::Const(self.0 & !CONST_BIT) }
    }
    /// The slot, if the operand is one.
    pub fn as_slot(self) -> Option<Slot> {
        match self.kind() {
            OpndKind::Slot(s) => Some(s),
            OpndKind::Const(_) => None,
        }
    }
}

impl std::fmt::Debug for Opnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.kind() {
            OpndKind::Slot(s) => write!(f, "%{}", s.0),
            OpndKind::Const(c) => write!(f, "#{c}"),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,
}

/// What the compiler promised about an operation; `NSW` on arithmetic is what `--check signed-overflow` looks at.
pub mod flags {
    pub const NSW: u8 = 1;
    pub const NUW: u8 = 2;
    pub const EXACT: u8 = 4;
    /// A shift that the optimiser may have moved to where its result is not used: too wide a one is no error, it shifts
    /// all bits out.
    pub const MOVED: u8 = 8;
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum CmpOp {
    Eq,
    Ne,
    Ult,
    Ule,
    Ugt,
    Uge,
    Slt,
    Sle,
    Sgt,
    Sge,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum CastOp {
    Trunc,
    ZExt,
    SExt,
    PtrToInt,
    IntToPtr,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum FBinOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

/// LLVM's floating-point predicates; `O` ordered, `U` unordered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum FCmpOp {
    False,
    Oeq,
    Ogt,
    Oge,
    Olt,
    Ole,
    One,
    Ord,
    Ueq,
    Ugt,
    Uge,
    Ult,
    Ule,
    Une,
    Uno,
    True,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum FCastOp {
    /// float → float of another width
    Resize,
    ToSigned,
    ToUnsigned,
    FromSigned,
    FromUnsigned,
}

/// Operations of LLVM intrinsics that work on scalars. Operands and results are listed per variant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum ScalarFn {
    /// (a, b) → result, overflow bit
    SAddOverflow,
    UAddOverflow,
    SSubOverflow,
    USubOverflow,
    SMulOverflow,
    UMulOverflow,
    /// (a, b) → result
    SAddSat,
    UAddSat,
    SSubSat,
    USubSat,
    SMin,
    SMax,
    UMin,
    UMax,
    /// (a) → |a|
    Abs,
    Ctpop,
    /// (a): zero gives the width
    Ctlz,
    Cttz,
    Bswap,
    Bitreverse,
    /// (a, b, amount)
    Fshl,
    Fshr,
    /// (ptr, mask) → ptr
    PtrMask,
    /// floats
    FAbs,
    FSqrt,
    FFloor,
    FCeil,
    FTrunc,
    FRint,
    FRound,
    FMinNum,
    FMaxNum,
    FCopySign,
    /// (a, b, c) → a*b+c fused
    Fma,
    /// (a, mask) → i1
    IsFpClass,
}

/// Undefined behaviour that an [`Inst::Check`] looks for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum CheckKind {
    /// division or remainder by zero
    DivZero,
    /// a shift by the width or more
    Overshift,
    /// a signed result that does not fit
    SignedOverflow,
    /// a left shift of a signed value whose result does not fit
    ShiftBase,
    /// a `_Bool` or an enumeration that holds none of its values
    InvalidValue,
    /// the size of a variable-length array is not positive
    VlaBound,
    /// a floating-point value that the integer type does not have
    FloatCast,
    /// `__builtin_clz(0)`, `__builtin_ctz(0)`
    Builtin,
    /// a constant that the compiler folded from an operation without a value
    Poison,
}

/// Whom a call names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Callee {
    Direct(FuncId),
    Indirect(Opnd),
}

/// A range in one of the function's pools (`args`, `copies`, `dsts`, `cases`, `scaled`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Range {
    pub start: u32,
    pub len: u32,
}

impl Range {
    #[inline]
    pub fn as_range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}

/// A control-flow edge: copies (already ordered so that they may be done one after the other), then the target.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Edge {
    pub target: BlockId,
    /// into `Function::copies`
    pub copies: Range,
}

/// One copy on an edge.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Copy {
    pub dst: Slot,
    pub src: Opnd,
}

/// One variable part of an address: `index` (sign-extended from `width` bits) times `scale`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Scaled {
    pub index: Opnd,
    pub width: u16,
    pub scale: i64,
}

/// One case of a switch; several cases may share a target.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Case {
    pub value: u64,
    pub edge: Edge,
}

/// One argument of a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Arg {
    pub value: Opnd,
    pub ty: Ty,
    /// The callee receives a copy of this many bytes (`byval`); 0: passed as is.
    pub byval: u32,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Inst {
    /// `dst := a op b`
    Bin {
        op: BinOp,
        flags: u8,
        width: u16,
        dst: Slot,
        a: Opnd,
        b: Opnd,
    },
    /// `dst := a pred b`; pointers compare as integers of pointer width
    Cmp {
        op: CmpOp,
        width: u16,
        dst: Slot,
        a: Opnd,
        b: Opnd,
    },
    Cast {
        op: CastOp,
        from: u16,
        to: u16,
        dst: Slot,
        a: Opnd,
    },
    /// `dst := cond ? a : b`
    Select {
        ty: Ty,
        dst: Slot,
        cond: Opnd,
        a: Opnd,
        b: Opnd,
    },
    /// A copy: bitcast, a flattened aggregate move, a promoted load or store.
    Mov {
        dst: Slot,
        a: Opnd,
    },
    /// `dst := some fixed value` (LLVM's freeze): an uninitialised value is decided here once.
    Freeze {
        ty: Ty,
        dst: Slot,
        a: Opnd,
    },
    /// A promoted variable comes into being: `dst` becomes uninitialised.
    Undef {
        dst: Slot,
    },
    /// `align`: the address must be a multiple of 2^align; 0 where nobody looks
    Load {
        ty: Ty,
        volatile: bool,
        align: u8,
        dst: Slot,
        ptr: Opnd,
    },
    Store {
        ty: Ty,
        volatile: bool,
        align: u8,
        ptr: Opnd,
        value: Opnd,
    },
    /// `dst := base + offset + Σ indexᵢ·scaleᵢ`; `parts` into `Function::scaled`
    Gep {
        dst: Slot,
        base: Opnd,
        offset: i64,
        parts: Range,
    },
    /// A fresh object of `size · count` bytes in the current frame; `object` into `Function::objects`
    Alloca {
        dst: Slot,
        size: u64,
        count: Opnd,
        count_width: u16,
        object: u32,
    },
    /// `dsts` into `Function::dsts` (one slot per flattened leaf of the result), `args` into `Function::args`
    Call {
        callee: Callee,
        dsts: Range,
        args: Range,
    },
    /// `dsts := op(args)`; see [`ScalarFn`]
    Scalar {
        op: ScalarFn,
        ty: Ty,
        dsts: Range,
        args: Range,
    },
    FBin {
        op: FBinOp,
        ty: FloatTy,
        dst: Slot,
        a: Opnd,
        b: Opnd,
    },
    FNeg {
        ty: FloatTy,
        dst: Slot,
        a: Opnd,
    },
    FCmp {
        op: FCmpOp,
        ty: FloatTy,
        dst: Slot,
        a: Opnd,
        b: Opnd,
    },
    FCast {
        op: FCastOp,
        from: Ty,
        to: Ty,
        dst: Slot,
        a: Opnd,
    },
    /// `mov` allows overlap
    MemCopy {
        mov: bool,
        dst: Opnd,
        src: Opnd,
        len: Opnd,
        len_width: u16,
    },
    MemSet {
        dst: Opnd,
        byte: Opnd,
        len: Opnd,
        len_width: u16,
    },
    VaStart {
        list: Opnd,
    },
    VaCopy {
        dst: Opnd,
        src: Opnd,
    },
    VaEnd {
        list: Opnd,
    },
    /// `dst := va_arg(list, ty)`; only where the front end leaves the instruction in place
    VaArg {
        ty: Ty,
        dst: Slot,
        list: Opnd,
    },
    /// `dst :=` a mark of the current frame's dynamic objects; `StackRestore` frees those younger than the mark
    StackSave {
        dst: Slot,
    },
    StackRestore {
        mark: Opnd,
    },
    /// The end of the scope of a local of the current frame, which `local` points to.
    ScopeEnd {
        local: Opnd,
    },
    /// Known to hold (`llvm.assume`); engines may ignore it.
    Assume {
        cond: Opnd,
    },
    /// Undefined behaviour unless `cond` holds.
    Check {
        kind: CheckKind,
        cond: Opnd,
    },
    /// Not supported: the path ends here under this name (`Function::names`).
    Unsupported {
        name: u32,
    },

    // Terminators
    Jump {
        edge: Edge,
    },
    /// `edges[0]` when the condition holds; into `Function::edges` two consecutive entries
    Branch {
        cond: Opnd,
        edges: u32,
    },
    /// `cases` into `Function::cases`
    Switch {
        width: u16,
        value: Opnd,
        default: u32,
        cases: Range,
    },
    /// Jump to the block whose address `target` holds; `edges` into `Function::edges`
    IndirectJump {
        target: Opnd,
        edges: Range,
    },
    /// `values` into `Function::args`
    Return {
        values: Range,
    },
    Unreachable,
}

impl Inst {
    pub fn is_terminator(&self) -> bool {
        matches!(
            self,
            Inst::Jump { .. }
                | Inst::Branch { .. }
                | Inst::Switch { .. }
                | Inst::IndirectJump { .. }
                | Inst::Return { .. }
                | Inst::Unreachable
        )
    }
}
