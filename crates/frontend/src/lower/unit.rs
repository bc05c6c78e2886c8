//! The state of lowering one program: which id each LLVM object has.

use super::debug::DebugInfo;
use super::is_engine_name;
use super::layout::{Layouts, scalar};
use super::lines::Sources;
use crate::llvm::{Attr, Block, Function, Module, Value, ValueKind};
use pleach_ir::{self as ir, BlockId, FuncId, GlobalId, Param, Program, Slot, SlotInfo, Symbol, Target};
use rustc_hash::FxHashMap;

pub(crate) struct Unit<'m> {
    pub module: &'m Module<'m>,
    pub program: Program,
    pub layouts: Layouts<'m>,
    pub debug: DebugInfo<'m>,
    pub sources: Sources,
    functions: FxHashMap<Value<'m>, FuncId>,
    globals: FxHashMap<Value<'m>, GlobalId>,
    blocks: FxHashMap<Function<'m>, FxHashMap<Block<'m>, BlockId>>,
    /// the types that handlers of exceptions name; their numbers are their places, from 1 on
    types: Vec<Value<'m>>,
    /// tables of distances, and their tables of addresses
    pub tables: FxHashMap<Value<'m>, Option<GlobalId>>,
}

impl<'m> Unit<'m> {
    pub fn new(module: &'m Module<'m>) -> Unit<'m> {
        let target = Target { triple: module.triple(), pointer_bytes: module.pointer_bytes() };
        Unit {
            module,
            program: Program::new(target),
            layouts: Layouts::new(module),
            debug: DebugInfo::new(module),
            sources: Sources::default(),
            functions: FxHashMap::default(),
            globals: FxHashMap::default(),
            blocks: FxHashMap::default(),
            types: Vec::new(),
            tables: FxHashMap::default(),
        }
    }

    pub fn pointer_bits(&self) -> u16 {
        self.program.target.pointer_bits()
    }

    /// Gives every function and global its id, without bodies and initialisers.
    pub fn declare(&mut self) {
        for f in self.module.functions() {
            if !f.name().starts_with("llvm.") {
                let header = self.header(f);
                let id = self.program.add_function(header);
                self.functions.insert(f.value(), id);
            }
        }
        for f in self.module.ifuncs() {
            let id = self.declare_named(&f.name());
            self.functions.insert(f, id);
        }
        for g in self.module.globals() {
            if !g.name().starts_with("llvm.") {
                let id = GlobalId::new(self.program.globals.len());
                let global = self.global_header(g);
                self.program.globals.push(global);
                self.globals.insert(g, id);
            }
        }
        for alias in self.module.aliases() {
            if let Some(Symbol::Function(id)) = self.symbol(alias) {
                self.program.add_alias(alias.name(), id);
            }
        }
        let asm = self.module.inline_asm();
        if !asm.is_empty() {
            self.program.remarks.push(format!("module-level inline assembly is not executed: {}", asm.trim()));
        }
    }

    /// A function's signature; its parameters are its first slots.
    fn header(&mut self, f: Function<'m>) -> ir::Function {
        let mut out = ir::Function { name: self.unique_name(&f.name()), ..ir::Function::default() };
        out.variadic = f.ty().is_variadic();
        out.noreturn = f.has(Attr::NoReturn);
        if let Some(leaves) = f.ty().return_type().and_then(|t| self.layouts.leaves(t).ok()) {
            out.results = leaves.iter().map(|l| l.ty).collect();
        }
        for (p, i) in f.params().into_iter().zip(0..) {
            let byval = f.byval(i).map(|t| {
                let size = self.module.alloc_size(t).unwrap_or(0);
                let align = f.param_align(i).unwrap_or_else(|| self.module.alignment(t).into());
                (u32::try_from(size).unwrap_or(u32::MAX), u32::try_from(align).unwrap_or(1))
            });
            let Ok(leaves) = self.layouts.leaves(p.ty()) else { continue };
            for leaf in leaves.iter() {
                let slot = Slot::new(out.slots.len());
                out.slots.push(SlotInfo { ty: leaf.ty, name: None, debug_type: None });
                out.params.push(Param { slot, ty: leaf.ty, byval, name: None, debug_type: None });
            }
        }
        out.span = self.debug.function_span(f);
        out
    }

    /// LLVM marks names that the assembler must not decorate with a byte 1; the linker never sees it.
    fn unique_name(&self, name: &str) -> String {
        let plain = name.strip_prefix('\u{1}').unwrap_or(name);
        let plain = if plain.is_empty() { "unnamed" } else { plain };
        let taken = |n: &str| self.program.function_named(n).is_some();
        if !taken(plain) {
            return plain.to_owned();
        }
        (1..).map(|i| format!("{plain}.{i}")).find(|n| !taken(n)).unwrap_or_default()
    }

    /// A function known by name only, such as `llvm.trap` or one of libm.
    pub fn declare_named(&mut self, name: &str) -> FuncId {
        match self.program.function_named(name) {
            Some(id) => id,
            None => self.program.add_function(ir::Function { name: name.to_owned(), ..ir::Function::default() }),
        }
    }

    /// The number by which handlers know a type.
    pub fn type_number(&mut self, ty: Value<'m>) -> u64 {
        let known = self.types.iter().position(|t| *t == ty);
        let place = known.unwrap_or_else(|| {
            self.types.push(ty);
            self.types.len() - 1
        });
        place as u64 + 1
    }

    pub fn has_body(&self, f: Function<'m>) -> bool {
        let name = f.name();
        !f.is_declaration() && !name.starts_with("llvm.") && !is_engine_name(&name)
    }

    pub fn function_id(&self, f: Value<'m>) -> Option<FuncId> {
        self.functions.get(&f).copied()
    }

    pub fn global_id(&self, g: Value<'m>) -> Option<GlobalId> {
        self.globals.get(&g).copied()
    }

    /// What a global value names, through aliases without an offset.
    pub fn symbol(&self, v: Value<'m>) -> Option<Symbol> {
        match v.kind() {
            ValueKind::Function | ValueKind::IFunc => self.function_id(v).map(Symbol::Function),
            ValueKind::Global => self.global_id(v).map(Symbol::Global),
            ValueKind::Alias => self.symbol(v.aliasee()?),
            ValueKind::Expr if scalar(v.ty()).is_some() && is_pointer_cast(v) => self.symbol(v.operand(0)?),
            _ => None,
        }
    }

    /// The blocks of `f` by position; those on both sides of a check are one.
    pub fn block_ids(&mut self, f: Function<'m>) -> &FxHashMap<Block<'m>, BlockId> {
        self.blocks.entry(f).or_insert_with(|| super::checks::number_blocks(f))
    }

    /// Forgets what only the body of `f` needed.
    pub fn forget_blocks(&mut self, f: Function<'m>) {
        self.blocks.remove(&f);
    }

    pub fn finish(mut self) -> Program {
        self.debug.hand_over(&mut self.program);
        self.program
    }
}

fn is_pointer_cast(v: Value<'_>) -> bool {
    use crate::llvm::Opcode::{LLVMAddrSpaceCast, LLVMBitCast};
    matches!(v.opcode(), Some(LLVMBitCast | LLVMAddrSpaceCast))
}
