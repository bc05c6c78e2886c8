//! The term table: hash-consed nodes in one arena, named by dense ids.
//!
//! *Idea*: a term is built once; equal terms have equal ids, so equality is an integer comparison and caches are keyed
//! by id. Nodes are 16 bytes. Booleans are bit-vectors of width 1, as `i1` is in the program. *Invariant*: `ids` are
//! topologically ordered: every argument of a node has a smaller id than the node.

use crate::symbol::{SymbolId, SymbolKind, Symbols};
use hashbrown::HashTable;
use std::rc::Rc;

/// A term of a [`Terms`] table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TermId(pub u32);

impl TermId {
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A base-address symbol β: the symbolic address of one object. Its value is known only through a state's address
/// constraints, never through the path constraint.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BaseId(pub u32);

/// Arrays are indexed by terms of this width.
pub const INDEX_BITS: u16 = 32;

/// The operators. Arguments are named in each comment; `w` is the node's width.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Op {
    /// value of at most 64 bits in (b, c)
    Const,
    /// constant wider than 64 bits: a = index of its limbs
    Wide,
    /// a = symbol
    Var,
    /// a = base id; width is the pointer width
    Base,
    /// a = symbol; w = element width
    ArrayVar,
    /// a = table; w = element width; reads beyond the table give 0
    ArrayConst,
    /// a = array, b = index, c = value; w = element width
    Store,
    /// a = array, b = index
    Read,
    Not,
    And,
    Or,
    Xor,
    Neg,
    Add,
    Sub,
    Mul,
    /// SMT-LIB: x / 0 = all ones
    UDiv,
    SDiv,
    /// SMT-LIB: x % 0 = x
    URem,
    SRem,
    /// SMT-LIB: an amount of at least w gives 0 (or the sign for AShr)
    Shl,
    LShr,
    AShr,
    Eq,
    Ult,
    Ule,
    Slt,
    Sle,
    /// a = high part, b = low part
    Concat,
    /// bits b .. b+w of a
    Extract,
    ZExt,
    SExt,
    /// a = condition, b = then, c = else
    Ite,
    /// a, b = arrays; w = 1. Total arrays are equal in all cells
    ArrayEq,
    /// a = bound variable (a `Var` term), b = how many of its values, from 0 on, c = body
    Forall,
    /// IEEE floats carried as bit patterns; rounding is to nearest even unless the operator says otherwise
    FAdd,
    FSub,
    FMul,
    FDiv,
    /// C's `fmod`: the sign is that of the dividend
    FRem,
    FSqrt,
    /// a = value, b = rounding mode (0 nearest-even, 1 nearest-away, 2 up, 3 down, 4 to zero)
    FRound,
    /// a*b+c
    FFma,
    FEq,
    FLt,
    FLe,
    FIsNan,
    /// float of another width
    FResize,
    /// b = rounding mode 4 (to zero); w = integer width; a NaN or what does not fit gives 1 << (w - 1)
    FToSigned,
    FToUnsigned,
    FFromSigned,
    FFromUnsigned,
}

impl Op {
    #[inline]
    pub fn is_float(self) -> bool {
        self as u8 >= Op::FAdd as u8
    }
    /// The order of the two arguments does not matter.
    #[inline]
    pub fn is_commutative(self) -> bool {
        matches!(self, Op::And | Op::Or | Op::Xor | Op::Add | Op::Mul | Op::Eq | Op::FAdd | Op::FMul | Op::FEq)
    }
}

/// Facts about a whole term, computed when it is built.
pub mod facts {
    pub const HAS_BASE: u8 = 1;
    pub const HAS_FORALL: u8 = 2;
    /// mentions no symbol and no base
    pub const GROUND: u8 = 4;
    /// reads an array variable at an index that is not constant, or stores into one
    pub const HAS_ARRAY: u8 = 8;
    pub const HAS_FLOAT: u8 = 16;
    /// some part is wider than 64 bits
    pub const HAS_WIDE: u8 = 32;
    /// is itself an array (its width is that of an element)
    pub const IS_ARRAY: u8 = 64;
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Node {
    pub op: Op,
    pub facts: u8,
    pub width: u16,
    pub a: u32,
    pub b: u32,
    pub c: u32,
}

impl Node {
    #[inline]
    pub fn arg_a(&self) -> TermId {
        TermId(self.a)
    }
    #[inline]
    pub fn arg_b(&self) -> TermId {
        TermId(self.b)
    }
    #[inline]
    pub fn arg_c(&self) -> TermId {
        TermId(self.c)
    }
    /// The value of a `Const`.
    #[inline]
    pub fn value(&self) -> u64 {
        u64::from(self.b) | u64::from(self.c) << 32
    }
}

/// How many of a, b, c are terms: (first, count) is not needed as terms always come first, except for leaves.
#[inline]
pub fn arity(op: Op) -> usize {
    match op {
        Op::Const | Op::Wide | Op::Var | Op::Base | Op::ArrayVar | Op::ArrayConst => 0,
        Op::Not | Op::Neg | Op::Extract | Op::ZExt | Op::SExt => 1,
        Op::FSqrt | Op::FRound | Op::FIsNan | Op::FResize => 1,
        Op::FToSigned | Op::FToUnsigned | Op::FFromSigned | Op::FFromUnsigned => 1,
        Op::Store | Op::Ite | Op::Forall | Op::FFma => 3,
        _ => 2,
    }
}

/// The arena. One per run; not shared between threads.
pub struct Terms {
    nodes: Vec<Node>,
    index: HashTable<TermId>,
    /// constants wider than 64 bits, little-endian limbs
    wide: Vec<Box<[u64]>>,
    wide_index: rustc_hash::FxHashMap<Box<[u64]>, u32>,
    /// element values of constant arrays
    tables: Vec<Rc<[u64]>>,
    table_index: rustc_hash::FxHashMap<Rc<[u64]>, u32>,
    pub symbols: Symbols,
    /// width of addresses
    pub pointer_bits: u16,
    pub(crate) support: crate::support::SupportCache,
    /// ranges of parts of long choices
    pub(crate) ranges: rustc_hash::FxHashMap<TermId, (u64, u64)>,
    /// the highest number of a bound variable that a quantifier inside binds
    pub(crate) bound_inside: rustc_hash::FxHashMap<TermId, u32>,
    /// long operations over terms poll it whether to go on
    pub brake: crate::Brake,
}

/// One folded multiplication over the two words a node fits in. The table looks at the low bits and at the top seven,
/// so both must depend on all fields.
#[inline]
fn hash_node(op: Op, width: u16, a: u32, b: u32, c: u32) -> u64 {
    let x = u64::from(op as u8) | u64::from(width) << 8 | u64::from(a) << 32;
    let y = u64::from(b) | u64::from(c) << 32;
    let m = u128::from(x ^ 0xa076_1d64_78bd_642f) * u128::from(y ^ 0xe703_7ed1_a0b4_28db);
    (m as u64) ^ (m >> 64) as u64
}

#[inline]
/// The least and the greatest value of a base: no object lies around zero or at the end of the addresses.
pub fn base_range(pointer_bits: u16) -> (u64, u64) {
    (0x8000, if pointer_bits >= 64 { 1 << 47 } else { mask(pointer_bits) - 0xffff })
}

pub fn mask(width: u16) -> u64 {
    if width >= 64 { u64::MAX } else { (1u64 << width) - 1 }
}

/// Sign-extends the low `width` bits of `v` to 64.
#[inline]
pub fn sign_extend(v: u64, width: u16) -> i64 {
    if width >= 64 {
        v as i64
    } else {
        let s = 64 - u32::from(width);
        ((v << s) as i64) >> s
    }
}

impl Terms {
    pub fn new(pointer_bits: u16) -> Terms {
        let mut t = Terms {
            nodes: Vec::new(),
            index: HashTable::new(),
            wide: Vec::new(),
            wide_index: Default::default(),
            tables: Vec::new(),
            table_index: Default::default(),
            symbols: Symbols::default(),
            pointer_bits,
            support: Default::default(),
            ranges: Default::default(),
            bound_inside: Default::default(),
            brake: Default::default(),
        };
        let f = t.constant(1, 0);
        let tr = t.constant(1, 1);
        debug_assert!(f == Terms::FALSE && tr == Terms::TRUE);
        t
    }

    pub const FALSE: TermId = TermId(0);
    pub const TRUE: TermId = TermId(1);

    pub fn len(&self) -> usize {
        self.nodes.len()
    }
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
    /// Bytes held by the table, about.
    pub fn memory(&self) -> usize {
        self.nodes.capacity() * std::mem::size_of::<Node>() + self.index.capacity() * 5
    }

    #[inline]
    pub fn node(&self, t: TermId) -> Node {
        self.nodes[t.index()]
    }
    #[inline]
    pub fn op(&self, t: TermId) -> Op {
        self.nodes[t.index()].op
    }
    #[inline]
    pub fn width(&self, t: TermId) -> u16 {
        self.nodes[t.index()].width
    }
    #[inline]
    pub fn has(&self, t: TermId, fact: u8) -> bool {
        self.nodes[t.index()].facts & fact != 0
    }
    /// The value of a constant of at most 64 bits.
    #[inline]
    pub fn as_const(&self, t: TermId) -> Option<u64> {
        let n = &self.nodes[t.index()];
        if n.op == Op::Const { Some(n.value()) } else { None }
    }
    /// Constant of any width.
    pub fn is_constant(&self, t: TermId) -> bool {
        matches!(self.op(t), Op::Const | Op::Wide)
    }
    pub fn limbs(&self, t: TermId) -> &[u64] {
        &self.wide[self.nodes[t.index()].a as usize]
    }
    /// Elements of an `ArrayConst`.
    pub fn table(&self, t: TermId) -> &[u64] {
        &self.tables[self.nodes[t.index()].a as usize]
    }
    /// The term arguments of `t`, in order.
    pub fn args(&self, t: TermId) -> smallvec::SmallVec<[TermId; 3]> {
        let n = self.node(t);
        let all = [n.arg_a(), n.arg_b(), n.arg_c()];
        all[..arity(n.op)].iter().copied().collect()
    }

    /// A term as it is, without rewriting: for stating and testing rules. `immediate` is the lowest bit of an `Extract`
    /// or the rounding mode of a float operator, else 0.
    #[doc(hidden)]
    pub fn raw(&mut self, op: Op, width: u16, args: &[TermId], immediate: u32) -> TermId {
        debug_assert_eq!(args.len(), arity(op));
        let at = |i: usize| args.get(i).map_or(0, |t| t.0);
        let second = if arity(op) == 1 { immediate } else { at(1) };
        self.intern(op, width, at(0), second, at(2))
    }

    /// Interns a node as it is, without rewriting. Builders go through the methods of `build`.
    pub(crate) fn intern(&mut self, op: Op, width: u16, a: u32, b: u32, c: u32) -> TermId {
        let hash = hash_node(op, width, a, b, c);
        let nodes = &self.nodes;
        if let Some(&id) = self.index.find(hash, |&id| {
            let n = &nodes[id.index()];
            n.op == op && n.width == width && n.a == a && n.b == b && n.c == c
        }) {
            return id;
        }
        let facts = self.facts_of(op, width, a, b, c);
        let id = TermId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 terms"));
        self.nodes.push(Node { op, facts, width, a, b, c });
        let nodes = &self.nodes;
        self.index.insert_unique(hash, id, |&id| {
            let n = &nodes[id.index()];
            hash_node(n.op, n.width, n.a, n.b, n.c)
        });
        id
    }

    fn facts_of(&self, op: Op, width: u16, a: u32, b: u32, c: u32) -> u8 {
        let wide = if width > 64 { facts::HAS_WIDE } else { 0 };
        let own = match op {
            Op::Const | Op::Wide => return facts::GROUND | wide,
            Op::ArrayConst => return facts::GROUND | facts::IS_ARRAY,
            Op::Var => return wide,
            Op::Base => return facts::HAS_BASE,
            Op::ArrayVar => return facts::IS_ARRAY,
            Op::Store => facts::HAS_ARRAY | facts::IS_ARRAY,
            Op::Ite if self.nodes[b as usize].facts & facts::IS_ARRAY != 0 => facts::HAS_ARRAY | facts::IS_ARRAY,
            Op::Read => {
                let constant_index = self.op(TermId(b)) == Op::Const;
                let plain = self.op(TermId(a)) == Op::ArrayVar || self.op(TermId(a)) == Op::ArrayConst;
                if plain && (constant_index || self.op(TermId(a)) == Op::ArrayConst) { 0 } else { facts::HAS_ARRAY }
            }
            Op::ArrayEq => facts::HAS_ARRAY,
            Op::Forall => facts::HAS_FORALL,
            o if o.is_float() => facts::HAS_FLOAT,
            _ => 0,
        };
        let mut or = own | wide;
        let mut ground = facts::GROUND;
        for t in [a, b, c].into_iter().take(arity(op)) {
            let f = self.nodes[t as usize].facts;
            or |= f & !(facts::GROUND | facts::IS_ARRAY);
            ground &= f;
        }
        or | ground
    }

    /// A constant of at most 64 bits; `value` is cut to `width`.
    #[inline]
    pub fn constant(&mut self, width: u16, value: u64) -> TermId {
        if width > 64 {
            return self.wide_constant(width, &[value]);
        }
        let v = value & mask(width);
        self.intern(Op::Const, width, 0, v as u32, (v >> 32) as u32)
    }

    /// A constant from little-endian limbs, cut or zero-extended to `width`.
    pub fn wide_constant(&mut self, width: u16, limbs: &[u64]) -> TermId {
        if width <= 64 {
            return self.constant(width, limbs.first().copied().unwrap_or(0));
        }
        let n = usize::from(width).div_ceil(64);
        let mut v: Vec<u64> = (0..n).map(|i| limbs.get(i).copied().unwrap_or(0)).collect();
        let top = width % 64;
        if top != 0 {
            v[n - 1] &= mask(top);
        }
        let key = v.into_boxed_slice();
        let id = match self.wide_index.get(&key) {
            Some(&id) => id,
            None => {
                let id = self.wide.len() as u32;
                self.wide.push(key.clone());
                self.wide_index.insert(key, id);
                id
            }
        };
        self.intern(Op::Wide, width, id, 0, 0)
    }

    /// The bit-vector variable of a symbol.
    pub fn var(&mut self, symbol: SymbolId) -> TermId {
        let SymbolKind::Bits(width) = self.symbols.kind(symbol) else {
            panic!("engine bug: variable term for an array symbol")
        };
        self.intern(Op::Var, width, symbol.0, 0, 0)
    }

    /// The array variable of a symbol.
    pub fn array_var(&mut self, symbol: SymbolId) -> TermId {
        let SymbolKind::Array { element, .. } = self.symbols.kind(symbol) else {
            panic!("engine bug: array term for a bit-vector symbol")
        };
        self.intern(Op::ArrayVar, element, symbol.0, 0, 0)
    }

    /// A constant array of elements of `element` bits (at most 64); reads beyond its end give 0.
    pub fn array_const(&mut self, element: u16, values: &[u64]) -> TermId {
        let id = match self.table_index.get(values) {
            Some(&id) => id,
            None => {
                let id = self.tables.len() as u32;
                let key: Rc<[u64]> = values.into();
                self.tables.push(key.clone());
                self.table_index.insert(key, id);
                id
            }
        };
        self.intern(Op::ArrayConst, element, id, 0, 0)
    }

    /// The base address of an object.
    pub fn base(&mut self, base: BaseId) -> TermId {
        self.intern(Op::Base, self.pointer_bits, base.0, 0, 0)
    }
}
