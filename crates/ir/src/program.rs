//! The program: functions, globals, source files.

use crate::ids::{BlockId, FileId, FuncId, GlobalId, InstId, Slot, TypeId};
use crate::inst::{Arg, Case, CheckKind, Copy, Edge, Inst, Scaled, Ty};
use crate::types::DebugType;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Where in the source something comes from; `line` 0 means unknown.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Span {
    pub file: u32,
    pub line: u32,
    pub column: u32,
}

impl Span {
    pub fn file(self) -> FileId {
        FileId(self.file)
    }
    pub fn is_known(self) -> bool {
        self.line != 0
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SourceFile {
    /// as the compiler recorded it, made absolute with its directory where it was relative
    pub path: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Target {
    pub triple: String,
    /// 4 or 8
    pub pointer_bytes: u32,
}

impl Target {
    pub fn pointer_bits(&self) -> u16 {
        (self.pointer_bytes * 8) as u16
    }
    /// Bytes a scalar takes in memory when loaded or stored.
    pub fn store_bytes(&self, ty: Ty) -> u32 {
        match ty {
            Ty::Int(w) => u32::from(w).div_ceil(8),
            Ty::Ptr => self.pointer_bytes,
            Ty::Float(f) => u32::from(f.bits()) / 8,
        }
    }
    pub fn bits(&self, ty: Ty) -> u16 {
        match ty {
            Ty::Int(w) => w,
            Ty::Ptr => self.pointer_bits(),
            Ty::Float(f) => f.bits(),
        }
    }
}

/// What an address constant refers to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Symbol {
    Global(GlobalId),
    Function(FuncId),
    Block(FuncId, BlockId),
}

/// A constant, evaluated as far as it can be before the run.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Const {
    /// integers (and float bit patterns, and null) of at most 64 bits, zero-extended
    Int {
        width: u16,
        value: u64,
    },
    /// wider than 64 bits: little-endian 64-bit limbs
    Wide {
        width: u16,
        limbs: Vec<u64>,
    },
    /// `address of symbol + addend`
    Addr {
        symbol: Symbol,
        addend: i64,
    },
    Undef {
        width: u16,
    },
}

/// A pointer inside an initialiser.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reloc {
    pub offset: u64,
    pub symbol: Symbol,
    pub addend: i64,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Init {
    /// declared elsewhere: contents unknown
    External,
    Zero,
    Bytes {
        bytes: Vec<u8>,
        relocs: Vec<Reloc>,
    },
    /// an initialiser outside what lowering evaluates
    Unsupported {
        what: String,
    },
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Global {
    pub name: String,
    pub size: u64,
    pub align: u32,
    pub constant: bool,
    pub thread_local: bool,
    /// its address means nothing: it may share its bytes with others like it (string literals)
    pub unnamed: bool,
    pub init: Init,
    pub ty: Option<TypeId>,
    pub span: Span,
}

/// A variable of a frame that lives in memory.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StackObject {
    pub name: String,
    pub align: u32,
    pub ty: Option<TypeId>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SlotInfo {
    pub ty: Ty,
    /// the source variable a promoted slot stands for, or the parameter's name
    pub name: Option<String>,
    pub debug_type: Option<TypeId>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Param {
    pub slot: Slot,
    pub ty: Ty,
    /// the callee gets a copy of the pointed-to bytes: (size, align)
    pub byval: Option<(u32, u32)>,
    pub name: Option<String>,
    pub debug_type: Option<TypeId>,
}

/// A run of instructions ending with the only terminator.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Block {
    pub first: InstId,
    pub len: u32,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Function {
    pub name: String,
    pub params: Vec<Param>,
    /// flattened leaves of the result
    pub results: Vec<Ty>,
    pub variadic: bool,
    pub noreturn: bool,
    pub slots: Vec<SlotInfo>,
    /// entry is block 0; empty for a declaration
    pub blocks: Vec<Block>,
    pub insts: Vec<Inst>,
    /// parallel to `insts`
    pub spans: Vec<Span>,
    pub consts: Vec<Const>,
    pub args: Vec<Arg>,
    pub dsts: Vec<Slot>,
    pub copies: Vec<Copy>,
    pub edges: Vec<Edge>,
    pub cases: Vec<Case>,
    pub scaled: Vec<Scaled>,
    pub objects: Vec<StackObject>,
    pub names: Vec<String>,
    /// per block: the spans of all code that the source has there, without repetition; instructions that lowering
    /// folded away still count as covered when their block runs, jumps only if they are statements of the source
    pub block_spans: Vec<Vec<Span>>,
    /// per block: how many LLVM instructions it was lowered from (without phi nodes and debug intrinsics)
    pub block_weight: Vec<u32>,
    /// set while an exception passes through a call whose caller branches on it (`invoke`)
    pub unwound: Option<Slot>,
    /// names of labels in the source, with their block
    pub labels: Vec<(String, BlockId)>,
    pub span: Span,
}

impl Function {
    pub fn is_declaration(&self) -> bool {
        self.blocks.is_empty()
    }
    /// The instructions of a block by their indices.
    pub fn block_range(&self, b: BlockId) -> std::ops::Range<usize> {
        let block = self.blocks[b.index()];
        block.first.index()..block.first.index() + block.len as usize
    }

    /// The spans that the block has code of.
    pub fn spans_of(&self, b: BlockId) -> &[Span] {
        self.block_spans.get(b.index()).map_or(&[], Vec::as_slice)
    }

    /// Where in the block code of a line that it has begins. What lowering folded away stood before the code that
    /// follows it.
    pub fn line_start(&self, b: BlockId, file: u32, line: u32) -> usize {
        let range = self.block_range(b);
        let find = |wanted: &dyn Fn(u32) -> bool| {
            range.clone().find(|i| self.spans.get(*i).is_some_and(|s| s.file == file && wanted(s.line)))
        };
        find(&|l| l == line).or_else(|| find(&|l| l > line)).unwrap_or(range.end - 1)
    }

    pub fn block_insts(&self, b: BlockId) -> &[Inst] {
        let blk = self.blocks[b.index()];
        &self.insts[blk.first.index()..blk.first.index() + blk.len as usize]
    }
    pub fn terminator(&self, b: BlockId) -> &Inst {
        let blk = self.blocks[b.index()];
        &self.insts[blk.first.index() + blk.len as usize - 1]
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Program {
    pub target: Target,
    pub functions: Vec<Function>,
    pub globals: Vec<Global>,
    pub files: Vec<SourceFile>,
    pub types: Vec<DebugType>,
    /// run before the entry, in order
    pub constructors: Vec<FuncId>,
    /// run after it returns, in order
    pub destructors: Vec<FuncId>,
    /// module-level inline assembly and the like, by name: reported, not executed
    pub remarks: Vec<String>,
    /// the C library is linked
    pub library: bool,
    /// functions with a body that came with it, in order
    pub from_library: Vec<FuncId>,
    /// functions that came with the runtime of C++ or are of Rust's libraries, in order
    pub from_runtime: Vec<FuncId>,
    by_name: FxHashMap<String, FuncId>,
}

impl Program {
    pub fn new(target: Target) -> Program {
        Program {
            target,
            functions: Vec::new(),
            globals: Vec::new(),
            files: Vec::new(),
            types: Vec::new(),
            constructors: Vec::new(),
            destructors: Vec::new(),
            remarks: Vec::new(),
            library: false,
            from_library: Vec::new(),
            from_runtime: Vec::new(),
            by_name: FxHashMap::default(),
        }
    }

    /// Whether the function is the program's own code, not that of a library that was linked with it.
    pub fn is_own(&self, f: FuncId) -> bool {
        self.from_library.binary_search(&f).is_err() && self.from_runtime.binary_search(&f).is_err()
    }

    /// Adds a function; its name must be new.
    pub fn add_function(&mut self, f: Function) -> FuncId {
        let id = FuncId::new(self.functions.len());
        self.by_name.insert(f.name.clone(), id);
        self.functions.push(f);
        id
    }

    /// Makes `name` a second name of `id`.
    pub fn add_alias(&mut self, name: String, id: FuncId) {
        self.by_name.insert(name, id);
    }

    /// Takes checks of alignment and of these kinds out of the functions.
    pub fn drop_checks(&mut self, kinds: &[CheckKind], of: impl Fn(FuncId) -> bool) {
        for (_, f) in self.functions.iter_mut().enumerate().filter(|(i, _)| of(FuncId::new(*i))) {
            for inst in &mut f.insts {
                match inst {
                    Inst::Load { align, .. } | Inst::Store { align, .. } => *align = 0,
                    Inst::Check { kind, cond } if kinds.contains(kind) => *inst = Inst::Assume { cond: *cond },
                    _ => {}
                }
            }
        }
    }

    pub fn function_named(&self, name: &str) -> Option<FuncId> {
        self.by_name.get(name).copied()
    }

    pub fn function(&self, id: FuncId) -> &Function {
        &self.functions[id.index()]
    }
    pub fn global(&self, id: GlobalId) -> &Global {
        &self.globals[id.index()]
    }
    pub fn path(&self, span: Span) -> &str {
        self.files.get(span.file as usize).map_or("?", |f| f.path.as_str())
    }
}
