//! Instructions.

use super::{Block, IntPredicate, Meta, Opcode, RealPredicate, RmwOp, Type, Value};
use llvm_sys::core::*;
use llvm_sys::debuginfo;
use llvm_sys::prelude::*;

/// A value known to be an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Inst<'m>(Value<'m>);

/// Attributes that lowering looks at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attr {
    ByVal,
    Align,
    NoReturn,
    ReturnsTwice,
    NoInline,
}

impl Attr {
    fn kind(self) -> u32 {
        let name = match self {
            Attr::ByVal => "byval",
            Attr::Align => "align",
            Attr::NoReturn => "noreturn",
            Attr::ReturnsTwice => "returns_twice",
            Attr::NoInline => "noinline",
        };
        // SAFETY: the name is valid for its length.
        unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
    }
}

/// SAFETY: `raw` is null or a live attribute.
unsafe fn attribute_type<'m>(raw: LLVMAttributeRef) -> Option<Type<'m>> {
    // SAFETY: by contract; called on type attributes only.
    unsafe { (!raw.is_null() && LLVMIsTypeAttribute(raw) != 0).then(|| Type::from_raw(LLVMGetTypeAttributeValue(raw))) }
}

/// SAFETY: `raw` is null or a live attribute.
unsafe fn attribute_number(raw: LLVMAttributeRef) -> Option<u64> {
    // SAFETY: by contract; called on enum attributes only.
    unsafe { (!raw.is_null() && LLVMIsEnumAttribute(raw) != 0).then(|| LLVMGetEnumAttributeValue(raw)) }
}

impl<'m> super::Function<'m> {
    fn attribute(self, index: u32, attr: Attr) -> LLVMAttributeRef {
        // SAFETY: a live function; null when the attribute is absent.
        unsafe { LLVMGetEnumAttributeAtIndex(self.value().raw(), index, attr.kind()) }
    }
    pub fn has(self, attr: Attr) -> bool {
        !self.attribute(llvm_sys::LLVMAttributeFunctionIndex, attr).is_null()
    }
    /// The type that parameter `i` is passed a copy of.
    pub fn byval(self, i: u32) -> Option<Type<'m>> {
        // SAFETY: null or live.
        unsafe { attribute_type(self.attribute(i + 1, Attr::ByVal)) }
    }
    pub fn param_align(self, i: u32) -> Option<u64> {
        // SAFETY: null or live.
        unsafe { attribute_number(self.attribute(i + 1, Attr::Align)) }
    }
}

impl<'m> Inst<'m> {
    pub(super) fn new(value: Value<'m>) -> Option<Inst<'m>> {
        (value.kind() == super::ValueKind::Inst).then_some(Inst(value))
    }
    pub fn value(self) -> Value<'m> {
        self.0
    }
    fn raw(self) -> LLVMValueRef {
        self.0.raw()
    }
    pub fn ty(self) -> Type<'m> {
        self.0.ty()
    }
    pub fn opcode(self) -> Opcode {
        // SAFETY: an instruction.
        unsafe { LLVMGetInstructionOpcode(self.raw()) }
    }
    pub fn is_phi(self) -> bool {
        self.opcode() == Opcode::LLVMPHI
    }
    fn is_call(self) -> bool {
        matches!(self.opcode(), Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr)
    }
    /// An unconditional branch.
    pub fn is_jump(self) -> bool {
        self.opcode() == Opcode::LLVMBr && self.condition().is_none()
    }
    pub fn is_terminator(self) -> bool {
        // SAFETY: an instruction.
        unsafe { !LLVMIsATerminatorInst(self.raw()).is_null() }
    }
    /// Put in by a sanitizer.
    pub fn is_nosanitize(self) -> bool {
        const NAME: &str = "nosanitize";
        // SAFETY: an instruction; the name is valid for its length, and the context is the instruction's own.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.raw()));
            let kind = LLVMGetMDKindIDInContext(context, NAME.as_ptr().cast(), NAME.len() as u32);
            LLVMHasMetadata(self.raw()) != 0 && !LLVMGetMetadata(self.raw(), kind).is_null()
        }
    }
    pub fn location(self) -> Option<Meta<'m>> {
        // SAFETY: an instruction; null when it has none.
        unsafe { Meta::from_raw(debuginfo::LLVMInstructionGetDebugLoc(self.raw())) }
    }
    /// A number for the call that the instruction was inlined at; 0 if it was not.
    pub fn inlined_at(self) -> usize {
        self.location().and_then(Meta::inlined_at).map_or(0, |at| at.raw() as usize)
    }
    pub fn int_predicate(self) -> Option<IntPredicate> {
        // SAFETY: called on integer comparisons only.
        (self.opcode() == Opcode::LLVMICmp).then(|| unsafe { LLVMGetICmpPredicate(self.raw()) })
    }
    pub fn real_predicate(self) -> Option<RealPredicate> {
        // SAFETY: called on floating-point comparisons only.
        (self.opcode() == Opcode::LLVMFCmp).then(|| unsafe { LLVMGetFCmpPredicate(self.raw()) })
    }
    /// (nsw, nuw); only addition, subtraction, multiplication and left shift have them.
    pub fn wrap_flags(self) -> (bool, bool) {
        use Opcode::*;
        match self.opcode() {
            // SAFETY: an operation that may carry the flags.
            LLVMAdd | LLVMSub | LLVMMul | LLVMShl => unsafe {
                (LLVMGetNSW(self.raw()) != 0, LLVMGetNUW(self.raw()) != 0)
            },
            _ => (false, false),
        }
    }
    pub fn is_exact(self) -> bool {
        use Opcode::*;
        match self.opcode() {
            // SAFETY: an operation that may carry the flag.
            LLVMUDiv | LLVMSDiv | LLVMLShr | LLVMAShr => unsafe { LLVMGetExact(self.raw()) != 0 },
            _ => false,
        }
    }
    pub fn is_volatile(self) -> bool {
        use Opcode::*;
        match self.opcode() {
            // SAFETY: an access that may carry the flag.
            LLVMLoad | LLVMStore | LLVMAtomicRMW | LLVMAtomicCmpXchg => unsafe { LLVMGetVolatile(self.raw()) != 0 },
            _ => false,
        }
    }
    pub fn allocated_type(self) -> Option<Type<'m>> {
        // SAFETY: called on allocas only.
        (self.opcode() == Opcode::LLVMAlloca).then(|| unsafe { Type::from_raw(LLVMGetAllocatedType(self.raw())) })
    }
    pub fn rmw_op(self) -> Option<RmwOp> {
        // SAFETY: called on atomicrmw only.
        (self.opcode() == Opcode::LLVMAtomicRMW).then(|| unsafe { LLVMGetAtomicRMWBinOp(self.raw()) })
    }
    /// The constant path of `extractvalue` and `insertvalue`.
    pub fn indices(self) -> Vec<u32> {
        if !matches!(self.opcode(), Opcode::LLVMExtractValue | Opcode::LLVMInsertValue) {
            return Vec::new();
        }
        // SAFETY: an instruction with indices, valid for their number.
        unsafe {
            let n = LLVMGetNumIndices(self.raw()) as usize;
            let p = LLVMGetIndices(self.raw());
            if n == 0 || p.is_null() { Vec::new() } else { std::slice::from_raw_parts(p, n).to_vec() }
        }
    }
    /// The lanes of `shufflevector`; `None` for a lane that does not matter.
    pub fn shuffle_mask(self) -> Vec<Option<usize>> {
        if self.opcode() != Opcode::LLVMShuffleVector {
            return Vec::new();
        }
        // SAFETY: a shufflevector, indices within its mask.
        unsafe {
            let n = LLVMGetNumMaskElements(self.raw());
            (0..n).map(|i| usize::try_from(LLVMGetMaskValue(self.raw(), i)).ok()).collect()
        }
    }
    pub fn called(self) -> Option<Value<'m>> {
        // SAFETY: called on calls only.
        self.is_call().then(|| unsafe { Value::from_raw(LLVMGetCalledValue(self.raw())) })?
    }
    pub fn call_args(self) -> Vec<Value<'m>> {
        if !self.is_call() {
            return Vec::new();
        }
        // SAFETY: a call; arguments are its first operands.
        unsafe {
            let n = LLVMGetNumArgOperands(self.raw());
            (0..n).filter_map(|i| Value::from_raw(LLVMGetOperand(self.raw(), i))).collect()
        }
    }
    /// The type that argument `i` of a call is passed a copy of.
    pub fn call_byval(self, i: u32) -> Option<Type<'m>> {
        if !self.is_call() {
            return None;
        }
        // SAFETY: a call; null when the attribute is absent.
        unsafe { attribute_type(LLVMGetCallSiteEnumAttribute(self.raw(), i + 1, Attr::ByVal.kind())) }
    }
    /// How many of a call's arguments have a parameter; all, unless the callee takes variable arguments.
    pub fn fixed_arguments(self) -> u32 {
        // SAFETY: a call; its function type is live.
        let ty: Type<'m> = unsafe { Type::from_raw(LLVMGetCalledFunctionType(self.raw())) };
        if ty.is_variadic() { ty.parameter_count() } else { u32::MAX }
    }
    pub fn call_align(self, i: u32) -> Option<u64> {
        // SAFETY: a call; null when the attribute is absent.
        unsafe { attribute_number(LLVMGetCallSiteEnumAttribute(self.raw(), i + 1, Attr::Align.kind())) }
    }
    /// A call of `setjmp` or the like.
    pub fn returns_twice(self) -> bool {
        let kind = Attr::ReturnsTwice.kind();
        // SAFETY: a call; null when the attribute is absent.
        let at_call =
            |i: Inst| unsafe { LLVMGetCallSiteEnumAttribute(i.raw(), llvm_sys::LLVMAttributeFunctionIndex, kind) };
        let callee = || self.called().and_then(Value::as_function);
        self.is_call() && (!at_call(self).is_null() || callee().is_some_and(|f| f.has(Attr::ReturnsTwice)))
    }
    pub fn normal_dest(self) -> Option<Block<'m>> {
        // SAFETY: called on invokes only.
        (self.opcode() == Opcode::LLVMInvoke).then(|| unsafe { Block::from_raw(LLVMGetNormalDest(self.raw())) })?
    }
    pub fn unwind_dest(self) -> Option<Block<'m>> {
        // SAFETY: called on invokes only.
        (self.opcode() == Opcode::LLVMInvoke).then(|| unsafe { Block::from_raw(LLVMGetUnwindDest(self.raw())) })?
    }
    /// The clauses of a landing pad: types of handlers, or arrays of types.
    pub fn clauses(self) -> Vec<Value<'m>> {
        if self.opcode() != Opcode::LLVMLandingPad {
            return Vec::new();
        }
        // SAFETY: a landing pad, indices within its clauses.
        unsafe {
            let n = LLVMGetNumClauses(self.raw());
            (0..n).filter_map(|i| Value::from_raw(LLVMGetClause(self.raw(), i))).collect()
        }
    }
    pub fn is_cleanup(self) -> bool {
        // SAFETY: called on landing pads only.
        self.opcode() == Opcode::LLVMLandingPad && unsafe { LLVMIsCleanup(self.raw()) != 0 }
    }
    pub fn successors(self) -> Vec<Block<'m>> {
        if !self.is_terminator() {
            return Vec::new();
        }
        // SAFETY: a terminator, indices within its successors.
        unsafe {
            let n = LLVMGetNumSuccessors(self.raw());
            (0..n).filter_map(|i| Block::from_raw(LLVMGetSuccessor(self.raw(), i))).collect()
        }
    }
    /// The condition of a conditional branch.
    pub fn condition(self) -> Option<Value<'m>> {
        if self.opcode() != Opcode::LLVMBr {
            return None;
        }
        // SAFETY: a branch, asked for the condition only when it has one.
        unsafe { if LLVMIsConditional(self.raw()) == 0 { None } else { Value::from_raw(LLVMGetCondition(self.raw())) } }
    }
    /// What a phi node takes when control comes from `block`.
    pub fn incoming(self, block: Block<'m>) -> Option<Value<'m>> {
        if !self.is_phi() {
            return None;
        }
        // SAFETY: a phi node, indices within its incoming edges.
        unsafe {
            let n = LLVMCountIncoming(self.raw());
            let from = (0..n).find(|i| Block::from_raw(LLVMGetIncomingBlock(self.raw(), *i)) == Some(block))?;
            Value::from_raw(LLVMGetIncomingValue(self.raw(), from))
        }
    }
}

impl Inst<'_> {
    /// A call of `llvm.dbg.*`.
    pub fn is_debug_intrinsic(self) -> bool {
        // SAFETY: an instruction.
        unsafe { !LLVMIsADbgInfoIntrinsic(self.raw()).is_null() || !LLVMIsADbgLabelInst(self.raw()).is_null() }
    }
}
