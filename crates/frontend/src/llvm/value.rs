//! Values: constants, globals, functions, blocks.

use super::{Inst, Meta, Opcode, Type, copy_text, take_message};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMLinkage, LLVMValueKind, debuginfo};
use std::marker::PhantomData;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Value<'m> {
    raw: LLVMValueRef,
    of: PhantomData<&'m ()>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ValueKind {
    Argument,
    Function,
    Alias,
    IFunc,
    Global,
    BlockAddress,
    Expr,
    /// array, structure or vector with its elements, or packed data
    Aggregate,
    /// of any type, also poison
    Undef,
    /// all bits zero, of aggregate type
    ZeroAggregate,
    Int,
    Float,
    Null,
    Metadata,
    Asm,
    Inst,
    Other,
}

impl<'m> Value<'m> {
    /// SAFETY: `raw` is null or a value of a live module that outlives `'m`.
    pub(super) unsafe fn from_raw(raw: LLVMValueRef) -> Option<Value<'m>> {
        (!raw.is_null()).then_some(Value { raw, of: PhantomData })
    }

    pub(super) fn raw(self) -> LLVMValueRef {
        self.raw
    }

    pub fn kind(self) -> ValueKind {
        use LLVMValueKind::*;
        // SAFETY: the value is live.
        match unsafe { LLVMGetValueKind(self.raw) } {
            LLVMArgumentValueKind => ValueKind::Argument,
            LLVMFunctionValueKind => ValueKind::Function,
            LLVMGlobalAliasValueKind => ValueKind::Alias,
            LLVMGlobalIFuncValueKind => ValueKind::IFunc,
            LLVMGlobalVariableValueKind => ValueKind::Global,
            LLVMBlockAddressValueKind => ValueKind::BlockAddress,
            LLVMConstantExprValueKind => ValueKind::Expr,
            LLVMConstantArrayValueKind
            | LLVMConstantStructValueKind
            | LLVMConstantVectorValueKind
            | LLVMConstantDataArrayValueKind
            | LLVMConstantDataVectorValueKind => ValueKind::Aggregate,
            LLVMUndefValueValueKind | LLVMPoisonValueKind => ValueKind::Undef,
            LLVMConstantAggregateZeroValueKind => ValueKind::ZeroAggregate,
            LLVMConstantIntValueKind => ValueKind::Int,
            LLVMConstantFPValueKind => ValueKind::Float,
            LLVMConstantPointerNullValueKind => ValueKind::Null,
            LLVMMetadataAsValueValueKind => ValueKind::Metadata,
            LLVMInlineAsmValueKind => ValueKind::Asm,
            LLVMInstructionValueKind => ValueKind::Inst,
            _ => ValueKind::Other,
        }
    }

    pub fn ty(self) -> Type<'m> {
        // SAFETY: the value is live.
        unsafe { Type::from_raw(LLVMTypeOf(self.raw)) }
    }

    pub fn name(self) -> String {
        let mut len = 0;
        // SAFETY: the value is live; the text is valid for the length given.
        unsafe {
            let text = LLVMGetValueName2(self.raw, &mut len);
            copy_text(text, len)
        }
    }

    pub fn is_constant(self) -> bool {
        // SAFETY: the value is live.
        unsafe { LLVMIsConstant(self.raw) != 0 }
    }

    pub fn is_poison(self) -> bool {
        // SAFETY: the value is live.
        unsafe { LLVMIsPoison(self.raw) != 0 }
    }

    /// A constant of which every bit is zero.
    pub fn is_zero(self) -> bool {
        // SAFETY: the value is live.
        unsafe { LLVMIsNull(self.raw) != 0 }
    }

    pub fn as_inst(self) -> Option<Inst<'m>> {
        Inst::new(self)
    }

    pub fn as_function(self) -> Option<Function<'m>> {
        (self.kind() == ValueKind::Function).then_some(Function(self))
    }

    /// The text of a constant, for numbers that fit no machine word.
    pub fn print(self) -> String {
        // SAFETY: the value is live; the message becomes ours.
        unsafe { take_message(LLVMPrintValueToString(self.raw)) }
    }

    /// An integer constant, zero-extended; `None` above 64 bits.
    pub fn as_u64(self) -> Option<u64> {
        // SAFETY: an integer constant of at most 64 bits.
        unsafe {
            let small = self.kind() == ValueKind::Int && LLVMGetIntTypeWidth(LLVMTypeOf(self.raw)) <= 64;
            small.then(|| LLVMConstIntGetZExtValue(self.raw))
        }
    }

    /// An integer constant, sign-extended; `None` above 64 bits.
    pub fn as_i64(self) -> Option<i64> {
        // SAFETY: as above.
        unsafe {
            let small = self.kind() == ValueKind::Int && LLVMGetIntTypeWidth(LLVMTypeOf(self.raw)) <= 64;
            small.then(|| LLVMConstIntGetSExtValue(self.raw))
        }
    }

    /// The bit pattern of a floating-point constant as an integer constant.
    pub fn float_bits(self, bits: u32) -> Option<Value<'m>> {
        if self.kind() != ValueKind::Float {
            return None;
        }
        // SAFETY: a floating-point constant has a bit pattern of its own width, which the caller names.
        unsafe {
            let int = LLVMIntTypeInContext(LLVMGetTypeContext(LLVMTypeOf(self.raw)), bits);
            Value::from_raw(LLVMConstBitCast(self.raw, int)).filter(|v| v.kind() == ValueKind::Int)
        }
    }

    /// Element `i` of a constant aggregate.
    pub fn element(self, i: u64) -> Option<Value<'m>> {
        let i = u32::try_from(i).ok()?;
        // SAFETY: a constant; out of range gives null.
        self.is_constant().then(|| unsafe { Value::from_raw(LLVMGetAggregateElement(self.raw, i)) })?
    }

    /// The bytes of a constant global variable that is a string.
    pub fn constant_string(self) -> Option<&'m [u8]> {
        if self.kind() != ValueKind::Global || !self.is_constant_global() {
            return None;
        }
        let initial = self.initializer()?;
        if initial.is_zero() { Some(&[]) } else { initial.string_bytes() }
    }

    /// The bytes of a constant array of `i8`.
    pub fn string_bytes(self) -> Option<&'m [u8]> {
        // SAFETY: LLVM keeps the bytes of packed data as long as the context lives.
        unsafe {
            if LLVMIsAConstantDataArray(self.raw).is_null() || LLVMIsConstantString(self.raw) == 0 {
                return None;
            }
            let mut len = 0;
            let text = LLVMGetAsString(self.raw, &mut len);
            (!text.is_null()).then(|| std::slice::from_raw_parts(text.cast::<u8>(), len))
        }
    }

    pub fn operand_count(self) -> u32 {
        // SAFETY: called on users only; metadata has its own accessors.
        unsafe {
            if LLVMIsAUser(self.raw).is_null() { 0 } else { u32::try_from(LLVMGetNumOperands(self.raw)).unwrap_or(0) }
        }
    }

    pub fn operand(self, i: u32) -> Option<Value<'m>> {
        // SAFETY: within the operand count of a user.
        (i < self.operand_count()).then(|| unsafe { Value::from_raw(LLVMGetOperand(self.raw, i)) })?
    }

    /// Of an instruction or a constant expression.
    pub fn opcode(self) -> Option<Opcode> {
        // SAFETY: each accessor is called on the kind it is for.
        unsafe {
            match self.kind() {
                ValueKind::Inst => Some(LLVMGetInstructionOpcode(self.raw)),
                ValueKind::Expr => Some(LLVMGetConstOpcode(self.raw)),
                _ => None,
            }
        }
    }

    /// The type that the indices of a `getelementptr` walk through.
    pub fn gep_source_type(self) -> Option<Type<'m>> {
        let gep = self.opcode() == Some(Opcode::LLVMGetElementPtr);
        // SAFETY: a getelementptr, instruction or expression.
        gep.then(|| unsafe { Type::from_raw(LLVMGetGEPSourceElementType(self.raw)) })
    }

    pub fn block_address(self) -> Option<(Function<'m>, Block<'m>)> {
        if self.kind() != ValueKind::BlockAddress {
            return None;
        }
        // SAFETY: a block address names both.
        unsafe {
            let f = Function::from_raw(LLVMGetBlockAddressFunction(self.raw))?;
            Some((f, Block::from_raw(LLVMGetBlockAddressBasicBlock(self.raw))?))
        }
    }

    /// Those that use this value, once per use.
    pub fn users(self) -> impl Iterator<Item = Value<'m>> {
        // SAFETY: the value is live and its uses do not change.
        let first = unsafe { LLVMGetFirstUse(self.raw) };
        let uses = std::iter::successors((!first.is_null()).then_some(first), |u| {
            // SAFETY: as above.
            let next = unsafe { LLVMGetNextUse(*u) };
            (!next.is_null()).then_some(next)
        });
        // SAFETY: as above.
        uses.filter_map(|u| unsafe { Value::from_raw(LLVMGetUser(u)) })
    }

    fn is_global_object(self) -> bool {
        matches!(self.kind(), ValueKind::Global | ValueKind::Function | ValueKind::Alias | ValueKind::IFunc)
    }

    pub fn is_declaration(self) -> bool {
        // SAFETY: called on globals only.
        unsafe { self.is_global_object() && LLVMIsDeclaration(self.raw) != 0 }
    }

    /// Undefined and allowed to stay so: its address is null then.
    pub fn is_extern_weak(self) -> bool {
        // SAFETY: called on globals only.
        unsafe { self.is_global_object() && LLVMGetLinkage(self.raw) == LLVMLinkage::LLVMExternalWeakLinkage }
    }

    /// Whether other modules can name it.
    pub fn is_visible(self) -> bool {
        use LLVMLinkage::*;
        // SAFETY: called on globals only.
        let linkage = unsafe { LLVMGetLinkage(self.raw) };
        !matches!(linkage, LLVMInternalLinkage | LLVMPrivateLinkage | LLVMAppendingLinkage)
    }

    /// Another definition of the same name wins over this one.
    pub fn rename(self, name: &str) {
        // SAFETY: a live global; the text is valid for the length given.
        unsafe { LLVMSetValueName2(self.raw, name.as_ptr().cast(), name.len()) }
    }

    pub fn set_weak(self) {
        // SAFETY: a live global with a definition.
        unsafe { LLVMSetLinkage(self.raw, LLVMLinkage::LLVMWeakAnyLinkage) }
    }

    pub fn initializer(self) -> Option<Value<'m>> {
        // SAFETY: called on global variables only; null when there is none.
        (self.kind() == ValueKind::Global).then(|| unsafe { Value::from_raw(LLVMGetInitializer(self.raw)) })?
    }

    pub fn is_constant_global(self) -> bool {
        // SAFETY: called on global variables only.
        unsafe { self.kind() == ValueKind::Global && LLVMIsGlobalConstant(self.raw) != 0 }
    }

    /// Marked `unnamed_addr`.
    pub fn is_unnamed_global(self) -> bool {
        // SAFETY: called on global variables only.
        unsafe {
            self.kind() == ValueKind::Global
                && LLVMGetUnnamedAddress(self.raw) == llvm_sys::LLVMUnnamedAddr::LLVMGlobalUnnamedAddr
        }
    }

    pub fn is_thread_local(self) -> bool {
        // SAFETY: called on global variables only.
        unsafe { self.kind() == ValueKind::Global && LLVMIsThreadLocal(self.raw) != 0 }
    }

    /// Of a global: the type of what it names.
    pub fn value_type(self) -> Type<'m> {
        // SAFETY: called on globals only.
        unsafe { if self.is_global_object() { Type::from_raw(LLVMGlobalGetValueType(self.raw)) } else { self.ty() } }
    }

    /// Of a global or an alloca; 0 when left to the target.
    pub fn alignment(self) -> u32 {
        use Opcode::{LLVMAlloca, LLVMLoad, LLVMStore};
        let access = self.as_inst().is_some() && matches!(self.opcode(), Some(LLVMAlloca | LLVMLoad | LLVMStore));
        let has_one = matches!(self.kind(), ValueKind::Global) || access;
        // SAFETY: a kind of value that has an alignment.
        if has_one { unsafe { LLVMGetAlignment(self.raw) } } else { 0 }
    }

    pub fn aliasee(self) -> Option<Value<'m>> {
        // SAFETY: called on aliases only.
        (self.kind() == ValueKind::Alias).then(|| unsafe { Value::from_raw(LLVMAliasGetAliasee(self.raw)) })?
    }

    /// The debug nodes attached to a global.
    pub fn attached(self) -> Vec<Meta<'m>> {
        if !self.is_global_object() {
            return Vec::new();
        }
        // SAFETY: a global; the entries are ours until disposed of, the nodes live in the context.
        unsafe {
            let mut n = 0;
            let entries = LLVMGlobalCopyAllMetadata(self.raw, &mut n);
            let nodes =
                (0..n as u32).filter_map(|i| Meta::from_raw(LLVMValueMetadataEntriesGetMetadata(entries, i))).collect();
            LLVMDisposeValueMetadataEntries(entries);
            nodes
        }
    }

    /// The debug node behind a metadata operand.
    pub fn as_meta(self) -> Option<Meta<'m>> {
        // SAFETY: metadata wrapped as a value unwraps to itself.
        (self.kind() == ValueKind::Metadata).then(|| unsafe { Meta::from_raw(LLVMValueAsMetadata(self.raw)) })?
    }

    pub fn asm_text(self) -> Option<(String, String)> {
        if self.kind() != ValueKind::Asm {
            return None;
        }
        let mut len = 0;
        // SAFETY: inline assembly; the texts are valid for the lengths given.
        unsafe {
            let text = LLVMGetInlineAsmAsmString(self.raw, &mut len);
            let text = copy_text(text, len);
            let constraints = LLVMGetInlineAsmConstraintString(self.raw, &mut len);
            Some((text, copy_text(constraints, len)))
        }
    }
}

/// A function.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Function<'m>(Value<'m>);

impl<'m> Function<'m> {
    /// SAFETY: `raw` is null or a function of a live module that outlives `'m`.
    pub(super) unsafe fn from_raw(raw: LLVMValueRef) -> Option<Function<'m>> {
        // SAFETY: by contract.
        unsafe { Value::from_raw(raw) }.map(Function)
    }
    pub fn value(self) -> Value<'m> {
        self.0
    }
    pub fn name(self) -> String {
        self.0.name()
    }
    pub fn ty(self) -> Type<'m> {
        self.0.value_type()
    }
    pub fn is_declaration(self) -> bool {
        self.0.is_declaration()
    }
    /// Several modules may define it; one definition is taken.
    pub fn set_mergeable_linkage(self) {
        // SAFETY: a live function with a body.
        unsafe { LLVMSetLinkage(self.0.raw, LLVMLinkage::LLVMLinkOnceODRLinkage) }
    }
    pub fn params(self) -> Vec<Value<'m>> {
        // SAFETY: a live function, indices within its parameters.
        unsafe {
            let n = LLVMCountParams(self.0.raw);
            (0..n).filter_map(|i| Value::from_raw(LLVMGetParam(self.0.raw, i))).collect()
        }
    }
    pub fn blocks(self) -> impl Iterator<Item = Block<'m>> {
        // SAFETY: a live function whose blocks do not change; null when there are none.
        let first = unsafe { Block::from_raw(LLVMGetFirstBasicBlock(self.0.raw)) };
        // SAFETY: as above.
        std::iter::successors(first, |b| unsafe { Block::from_raw(LLVMGetNextBasicBlock(b.raw)) })
    }
    pub fn subprogram(self) -> Option<Meta<'m>> {
        // SAFETY: a live function; null when there is none.
        unsafe { Meta::from_raw(debuginfo::LLVMGetSubprogram(self.0.raw)) }
    }
}

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Block<'m> {
    raw: LLVMBasicBlockRef,
    of: PhantomData<&'m ()>,
}

impl<'m> Block<'m> {
    /// SAFETY: `raw` is null or a block of a live module that outlives `'m`.
    pub(super) unsafe fn from_raw(raw: LLVMBasicBlockRef) -> Option<Block<'m>> {
        (!raw.is_null()).then_some(Block { raw, of: PhantomData })
    }
    pub fn insts(self) -> impl Iterator<Item = Inst<'m>> {
        // SAFETY: a live block whose instructions do not change.
        let first = unsafe { Value::from_raw(LLVMGetFirstInstruction(self.raw)) }.and_then(Inst::new);
        std::iter::successors(first, |i| {
            // SAFETY: as above.
            unsafe { Value::from_raw(LLVMGetNextInstruction(i.value().raw())) }.and_then(Inst::new)
        })
    }
    /// Only one edge leads here, and nobody takes the address.
    pub fn has_one_use(self) -> bool {
        // SAFETY: a live block.
        let value: Option<Value<'m>> = unsafe { Value::from_raw(LLVMBasicBlockAsValue(self.raw)) };
        value.is_some_and(|v| v.users().take(2).count() == 1)
    }
    pub fn terminator(self) -> Option<Inst<'m>> {
        // SAFETY: a live block; null when it has none.
        unsafe { Value::from_raw(LLVMGetBasicBlockTerminator(self.raw)) }.and_then(Inst::new)
    }
}
