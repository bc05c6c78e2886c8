//! A small concrete interpreter, so that lowering can be compared with native execution. One flat memory, no checks.

use super::interp_ops as ops;
use pleach_ir::*;

const BASE: u64 = 0x10_0000;
const FUNCTIONS: u64 = 0x1000;

pub struct Machine<'p> {
    p: &'p Program,
    memory: Vec<u8>,
    top: u64,
    globals: Vec<u64>,
    steps: u64,
}

/// Steps after which a program counts as endless.
const MAX_STEPS: u64 = 200_000_000;

/// The status after the constructors and `main` without arguments; `None` when it does not end or computes above 128
/// bits.
pub fn run(p: &Program) -> Option<u64> {
    if p.functions.iter().flat_map(|f| &f.slots).any(|s| p.target.bits(s.ty) > 128) {
        return None;
    }
    let mut m = Machine { p, memory: vec![0xAA; 32 << 20], top: BASE, globals: Vec::new(), steps: 0 };
    m.load_globals();
    for c in &p.constructors {
        m.call(*c, &[], &[]);
    }
    let main = p.function_named("main").expect("main");
    let args = vec![0u128; p.function(main).params.len()];
    let status = m.call(main, &args, &[]).first().copied().unwrap_or(0) as u64;
    (m.steps < MAX_STEPS).then_some(status)
}

impl Machine<'_> {
    fn alloc(&mut self, size: u64, align: u64) -> u64 {
        let at = self.top.next_multiple_of(align.max(16));
        self.top = at + size;
        assert!((self.top as usize) < self.memory.len(), "out of memory");
        at
    }

    fn load_globals(&mut self) {
        for g in &self.p.globals {
            let at = self.alloc(g.size, g.align.into());
            self.memory[at as usize..(at + g.size) as usize].fill(0);
            self.globals.push(at);
        }
        for (g, at) in self.p.globals.iter().zip(self.globals.clone()) {
            match &g.init {
                Init::Bytes { bytes, relocs } => {
                    self.memory[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
                    for r in relocs {
                        let value = self.address(r.symbol, r.addend);
                        self.write(at + r.offset, u64::from(self.p.target.pointer_bytes), value.into());
                    }
                }
                Init::Unsupported { what } => panic!("initialiser of {}: {what}", g.name),
                Init::Zero | Init::External => {}
            }
        }
    }

    fn address(&self, symbol: Symbol, addend: i64) -> u64 {
        let base = match symbol {
            Symbol::Global(g) => self.globals[g.index()],
            Symbol::Function(f) => FUNCTIONS + u64::from(f.0) * 16,
            Symbol::Block(_, b) => u64::from(b.0) + 1,
        };
        base.wrapping_add(addend as u64)
    }

    fn read(&self, at: u64, bytes: u64) -> u128 {
        (0..bytes).rev().fold(0, |v, i| v << 8 | u128::from(self.memory[(at + i) as usize]))
    }

    fn write(&mut self, at: u64, bytes: u64, value: u128) {
        for i in 0..bytes {
            self.memory[(at + i) as usize] = (value >> (8 * i)) as u8;
        }
    }

    fn constant(&self, c: &Const) -> u128 {
        match c {
            Const::Int { value, .. } => (*value).into(),
            Const::Wide { limbs, .. } => limbs.iter().rev().fold(0, |v, l| v << 64 | u128::from(*l)),
            Const::Addr { symbol, addend } => self.address(*symbol, *addend).into(),
            Const::Undef { .. } => 0,
        }
    }

    fn call(&mut self, id: FuncId, args: &[u128], types: &[Ty]) -> Vec<u128> {
        let f = self.p.function(id);
        if f.is_declaration() {
            return self.external(&f.name, args);
        }
        let saved = self.top;
        let mut slots = vec![0u128; f.slots.len()];
        for (p, a) in f.params.iter().zip(args) {
            slots[p.slot.index()] = *a;
        }
        let rest = args.get(f.params.len()..).unwrap_or(&[]).to_vec();
        let rest_types = types.get(f.params.len()..).unwrap_or(&[]).to_vec();
        let result = self.body(f, slots, &rest, &rest_types);
        self.top = saved;
        result
    }

    fn external(&mut self, name: &str, args: &[u128]) -> Vec<u128> {
        match name {
            "malloc" => {
                // Never given back: freeing the frame's objects must not free it.
                let at = self.memory.len() as u64;
                let size = (args[0] as usize).next_multiple_of(16);
                self.memory.resize(self.memory.len() + size, 0xAA);
                vec![at.into()]
            }
            "free" => vec![],
            "llvm.lane.check" | "llvm.lane.check.write" => {
                assert_eq!(args[0], 1, "a lane that the vector does not have");
                vec![]
            }
            "llvm.abs.check" => vec![],
            "sqrt" => ops::scalar(ScalarFn::FSqrt, 64, args),
            "floor" => ops::scalar(ScalarFn::FFloor, 64, args),
            _ => panic!("external function {name}"),
        }
    }

    fn body(&mut self, f: &Function, mut s: Vec<u128>, rest: &[u128], rest_types: &[Ty]) -> Vec<u128> {
        let mut block = BlockId(0);
        loop {
            let target = 'block: {
                for inst in f.block_insts(block) {
                    self.steps += 1;
                    if let Some(flow) = self.step(f, inst, &mut s, rest, rest_types) {
                        break 'block flow;
                    }
                }
                panic!("block without end");
            };
            if self.steps >= MAX_STEPS {
                return vec![0; f.results.len()];
            }
            match target {
                Flow::Go(edge) => {
                    for c in &f.copies[edge.copies.as_range()] {
                        s[c.dst.index()] = self.get(f, &s, c.src);
                    }
                    block = edge.target;
                }
                Flow::Return(values) => return values,
            }
        }
    }

    fn get(&self, f: &Function, s: &[u128], o: Opnd) -> u128 {
        match o.kind() {
            OpndKind::Slot(slot) => s[slot.index()],
            OpndKind::Const(c) => self.constant(&f.consts[c as usize]),
        }
    }

    fn step(&mut self, f: &Function, inst: &Inst, s: &mut [u128], rest: &[u128], rest_types: &[Ty]) -> Option<Flow> {
        let t = &self.p.target;
        let bytes = |ty: Ty| u64::from(t.store_bytes(ty));
        macro_rules! get {
            ($o:expr) => {
                self.get(f, s, *$o)
            };
        }
        match inst {
            Inst::Bin { op, width, dst, a, b, .. } => s[dst.index()] = ops::bin(*op, *width, get!(a), get!(b)),
            Inst::Cmp { op, width, dst, a, b } => s[dst.index()] = ops::cmp(*op, *width, get!(a), get!(b)).into(),
            Inst::Cast { op, from, to, dst, a } => s[dst.index()] = ops::cast(*op, *from, *to, get!(a)),
            Inst::Select { dst, cond, a, b, .. } => {
                s[dst.index()] = if get!(cond) & 1 == 1 { get!(a) } else { get!(b) }
            }
            Inst::Mov { dst, a } | Inst::Freeze { dst, a, .. } => s[dst.index()] = get!(a),
            Inst::Undef { dst } => s[dst.index()] = 0xDEAD,
            Inst::Load { ty, dst, ptr, .. } => {
                s[dst.index()] = ops::mask(t.bits(*ty), self.read(get!(ptr) as u64, bytes(*ty)))
            }
            Inst::Store { ty, ptr, value, .. } => self.write(get!(ptr) as u64, bytes(*ty), get!(value)),
            Inst::Gep { dst, base, offset, parts } => {
                let mut at = (get!(base) as i64).wrapping_add(*offset);
                for p in &f.scaled[parts.as_range()] {
                    let index = ops::signed(p.width, get!(&p.index)) as i64;
                    at = at.wrapping_add(index.wrapping_mul(p.scale));
                }
                s[dst.index()] = ops::mask(t.pointer_bits(), at as u64 as u128);
            }
            Inst::Alloca { dst, size, count, object, .. } => {
                let size = size * get!(count) as u64;
                s[dst.index()] = self.alloc(size, f.objects[*object as usize].align.into()).into();
            }
            Inst::Call { callee, dsts, args } => {
                let args = &f.args[args.as_range()];
                let id = match callee {
                    Callee::Direct(id) => *id,
                    Callee::Indirect(o) => FuncId(((get!(o) as u64 - FUNCTIONS) / 16) as u32),
                };
                let mut values = Vec::new();
                for a in args {
                    let mut v = get!(&a.value);
                    if a.byval > 0 {
                        let copy = self.alloc(a.byval.into(), 16);
                        let (from, n) = (v as usize, a.byval as usize);
                        self.memory.copy_within(from..from + n, copy as usize);
                        v = copy.into();
                    }
                    values.push(v);
                }
                let types: Vec<Ty> = args.iter().map(|a| a.ty).collect();
                let results = self.call(id, &values, &types);
                for (d, v) in f.dsts[dsts.as_range()].iter().zip(results) {
                    s[d.index()] = v;
                }
            }
            Inst::Scalar { op, ty, dsts, args } => {
                let args: Vec<u128> = f.args[args.as_range()].iter().map(|a| get!(&a.value)).collect();
                let results = ops::scalar(*op, t.bits(*ty), &args);
                for (d, v) in f.dsts[dsts.as_range()].iter().zip(results) {
                    s[d.index()] = v;
                }
            }
            Inst::FBin { op, ty, dst, a, b } => s[dst.index()] = ops::fbin(*op, *ty, get!(a), get!(b)),
            Inst::FNeg { ty, dst, a } => s[dst.index()] = get!(a) ^ (1 << (ty.bits() - 1)),
            Inst::FCmp { op, ty, dst, a, b } => s[dst.index()] = ops::fcmp(*op, *ty, get!(a), get!(b)).into(),
            Inst::FCast { op, from, to, dst, a } => s[dst.index()] = ops::fcast(*op, *from, *to, get!(a)),
            Inst::MemCopy { dst, src, len, .. } => {
                let (d, from, n) = (get!(dst) as usize, get!(src) as usize, get!(len) as usize);
                self.memory.copy_within(from..from + n, d);
            }
            Inst::MemSet { dst, byte, len, .. } => {
                let (d, v, n) = (get!(dst) as usize, get!(byte) as u8, get!(len) as usize);
                self.memory[d..d + n].fill(v);
            }
            Inst::VaStart { list } => {
                let list = get!(list) as u64;
                let area = self.alloc(8 * rest.len() as u64 + 8, 16);
                for (i, v) in rest.iter().enumerate() {
                    assert!(bytes(rest_types[i]) <= 8);
                    self.write(area + 8 * i as u64, 8, *v);
                }
                self.write(list, 4, 48);
                self.write(list + 4, 4, 176);
                self.write(list + 8, 8, area.into());
            }
            Inst::VaCopy { dst, src } => {
                let (d, from) = (get!(dst) as usize, get!(src) as usize);
                self.memory.copy_within(from..from + 24, d);
            }
            Inst::VaEnd { .. } | Inst::Assume { .. } | Inst::Check { .. } => {}
            Inst::StackSave { dst } => s[dst.index()] = self.top.into(),
            Inst::ScopeEnd { .. } => {}
            Inst::StackRestore { mark } => self.top = get!(mark) as u64,
            Inst::VaArg { .. } => panic!("va_arg"),
            Inst::Unsupported { name } => panic!("unsupported: {}", f.names[*name as usize]),
            Inst::Jump { edge } => return Some(Flow::Go(*edge)),
            Inst::Branch { cond, edges } => {
                let taken = if get!(cond) & 1 == 1 { *edges } else { edges + 1 };
                return Some(Flow::Go(f.edges[taken as usize]));
            }
            Inst::Switch { value, default, cases, .. } => {
                let v = get!(value) as u64;
                let case = f.cases[cases.as_range()].iter().find(|c| c.value == v);
                return Some(Flow::Go(case.map_or(f.edges[*default as usize], |c| c.edge)));
            }
            Inst::IndirectJump { target, edges } => {
                let block = get!(target) as u32 - 1;
                let edge = f.edges[edges.as_range()].iter().find(|e| e.target.0 == block);
                return Some(Flow::Go(*edge.expect("a listed target")));
            }
            Inst::Return { values } => {
                return Some(Flow::Return(f.args[values.as_range()].iter().map(|a| get!(&a.value)).collect()));
            }
            Inst::Unreachable => panic!("unreachable in {}", f.name),
        }
        None
    }
}

enum Flow {
    Go(Edge),
    Return(Vec<u128>),
}
