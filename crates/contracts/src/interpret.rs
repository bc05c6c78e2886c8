//! Samples: calls of a recursive function with small numbers, executed.
//!
//! *Direction*: samples only suggest what a contract may say. A call that takes too long, needs an input or does
//! something that is not defined is left out.

use crate::Variable;
use crate::claim::{compare, mask, signed};
use crate::fragment::{Fragment, RecursiveFunction};
use pleach_ir::defs::edge_copies;
use pleach_ir::{
    BinOp, BlockId, Callee, CastOp, Const, Edge, FuncId, Function, GlobalId, Inst, Opnd, OpndKind, Program, Symbol,
};
use std::collections::BTreeMap;

/// Instructions of one sample, at most.
const STEPS: u32 = 3000;
/// Calls that are active, at most.
const DEPTH: u32 = 150;
/// Samples of one function, at most.
const SAMPLES: usize = 400;
/// Numbers to start with; the constants of the function are added.
const SMALL: [i64; 9] = [0, 1, 2, 3, 4, 7, 12, -1, -3];

/// One call.
#[derive(Clone, Debug)]
pub struct Sample {
    arguments: Vec<u64>,
    result: Option<u64>,
    before: BTreeMap<GlobalId, u64>,
    after: BTreeMap<GlobalId, u64>,
}

impl Sample {
    pub(crate) fn value(&self, v: Variable) -> Option<u64> {
        match v {
            Variable::Argument(i) => self.arguments.get(i).copied(),
            Variable::Before(g) => self.before.get(&g).copied(),
            Variable::Result => self.result,
            Variable::After(g) => self.after.get(&g).copied(),
        }
    }
}

/// Numbers that a function compares with, and their neighbours.
pub(crate) fn constants(f: &Function) -> Vec<i64> {
    let mut all: Vec<i64> = Vec::new();
    for inst in &f.insts {
        let Inst::Cmp { width, a, b, .. } = *inst else { continue };
        for o in [a, b] {
            if let OpndKind::Const(c) = o.kind()
                && let Const::Int { value, .. } = f.consts[c as usize]
            {
                let k = signed(value, width.min(64));
                all.extend([k, k.wrapping_add(1), k.wrapping_sub(1)]);
            }
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

pub(crate) fn samples(program: &Program, fragment: &Fragment, f: &RecursiveFunction) -> Vec<Sample> {
    let known = fragment.functions.iter().flat_map(|g| constants(program.function(g.id)));
    let near = known.filter(|k| k.unsigned_abs() < 10_000).flat_map(|k| [k, k + 3, k - 3]);
    let mut numbers: Vec<i64> = SMALL.into_iter().chain(near).collect();
    numbers.sort_unstable_by_key(|k| (k.unsigned_abs(), *k < 0));
    numbers.dedup();
    let globals: Vec<GlobalId> = f.touched.keys().copied().collect();
    let many = f.arguments.len() + globals.len();
    // As many numbers for each variable as fit.
    let mut per = numbers.len();
    while per > 2 && per.checked_pow(many as u32).is_none_or(|n| n > SAMPLES) {
        per -= 1;
    }
    numbers.truncate(per);
    let total = per.checked_pow(many as u32).map_or(SAMPLES, |n| n.min(SAMPLES));
    let mut out = Vec::new();
    for mut n in 0..total {
        let mut next = || {
            let k = numbers[n % per];
            n /= per;
            k as u64
        };
        let arguments: Vec<u64> = f.arguments.iter().map(|w| next() & mask(*w)).collect();
        let before: BTreeMap<GlobalId, u64> = f.touched.iter().map(|(g, w)| (*g, next() & mask(*w))).collect();
        let mut run = Execution { program, globals: before.clone(), steps: STEPS };
        if let Some(result) = run.call(f.id, arguments.clone(), DEPTH) {
            out.push(Sample { arguments, result: result.first().copied(), before, after: run.globals });
        }
    }
    out
}

struct Execution<'a> {
    program: &'a Program,
    globals: BTreeMap<GlobalId, u64>,
    steps: u32,
}

/// The values of a frame; `None`: never written.
type Registers = Vec<Option<u64>>;

impl Execution<'_> {
    fn call(&mut self, id: FuncId, arguments: Vec<u64>, depth: u32) -> Option<Vec<u64>> {
        let f = self.program.function(id);
        if f.is_declaration() || depth == 0 || arguments.len() != f.params.len() {
            return None;
        }
        let mut regs: Registers = vec![None; f.slots.len()];
        for (p, v) in f.params.iter().zip(arguments) {
            regs[p.slot.index()] = Some(v);
        }
        let mut block = BlockId(0);
        loop {
            for inst in f.block_insts(block) {
                self.steps = self.steps.checked_sub(1)?;
                match self.step(f, inst, &mut regs, depth)? {
                    Went::On => {}
                    Went::To(edge) => {
                        for c in edge_copies(f, edge) {
                            regs[c.dst.index()] = operand(f, &regs, c.src);
                        }
                        block = edge.target;
                    }
                    Went::Back(values) => return Some(values),
                }
            }
        }
    }

    fn step(&mut self, f: &Function, inst: &Inst, regs: &mut Registers, depth: u32) -> Option<Went> {
        let get = |o: Opnd, regs: &Registers| operand(f, regs, o);
        let value = match *inst {
            Inst::Bin { op, width, dst, a, b, .. } => {
                (dst, Some(binary(op, width, get(a, regs)?, get(b, regs)?)? & mask(width)))
            }
            Inst::Cmp { op, width, dst, a, b } => {
                (dst, Some(u64::from(compare(op, width, get(a, regs)?, get(b, regs)?))))
            }
            Inst::Cast { op, from, to, dst, a } => {
                let v = get(a, regs)?;
                let v = if op == CastOp::SExt { signed(v, from) as u64 } else { v };
                (dst, Some(v & mask(to)))
            }
            Inst::Select { dst, cond, a, b, .. } => (dst, get(if get(cond, regs)? & 1 != 0 { a } else { b }, regs)),
            Inst::Mov { dst, a } | Inst::Freeze { dst, a, .. } => (dst, get(a, regs)),
            Inst::Undef { dst } => (dst, None),
            Inst::Load { dst, ptr, .. } => (dst, Some(*self.globals.get(&global(f, ptr)?)?)),
            Inst::Store { ptr, value, .. } => {
                let v = get(value, regs)?;
                self.globals.insert(global(f, ptr)?, v);
                return Some(Went::On);
            }
            Inst::Assume { .. } => return Some(Went::On),
            Inst::Check { cond, .. } => return (get(cond, regs)? & 1 != 0).then_some(Went::On),
            Inst::Call { callee: Callee::Direct(g), dsts, args } => {
                let given: Option<Vec<u64>> = f.args[args.as_range()].iter().map(|a| get(a.value, regs)).collect();
                let results = self.call(g, given?, depth - 1)?;
                for (d, v) in f.dsts[dsts.as_range()].iter().zip(results) {
                    regs[d.index()] = Some(v);
                }
                return Some(Went::On);
            }
            Inst::Jump { edge } => return Some(Went::To(edge)),
            Inst::Branch { cond, edges } => {
                let no = u32::from(get(cond, regs)? & 1 == 0);
                return Some(Went::To(f.edges[(edges + no) as usize]));
            }
            Inst::Switch { value, default, cases, .. } => {
                let v = get(value, regs)?;
                let case = f.cases[cases.as_range()].iter().find(|c| c.value == v);
                return Some(Went::To(case.map_or(f.edges[default as usize], |c| c.edge)));
            }
            Inst::Return { values } => {
                let all: Option<Vec<u64>> = f.args[values.as_range()].iter().map(|a| get(a.value, regs)).collect();
                return Some(Went::Back(all?));
            }
            _ => return None,
        };
        let (dst, v) = value;
        regs[dst.index()] = v;
        Some(Went::On)
    }
}

enum Went {
    On,
    To(Edge),
    Back(Vec<u64>),
}

fn operand(f: &Function, regs: &Registers, o: Opnd) -> Option<u64> {
    match o.kind() {
        OpndKind::Slot(s) => regs[s.index()],
        OpndKind::Const(c) => match f.consts[c as usize] {
            Const::Int { value, .. } => Some(value),
            _ => None,
        },
    }
}

fn global(f: &Function, ptr: Opnd) -> Option<GlobalId> {
    let OpndKind::Const(c) = ptr.kind() else { return None };
    match f.consts[c as usize] {
        Const::Addr { symbol: Symbol::Global(g), addend: 0 } => Some(g),
        _ => None,
    }
}

fn binary(op: BinOp, width: u16, a: u64, b: u64) -> Option<u64> {
    let (x, y) = (signed(a, width), signed(b, width));
    Some(match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::UDiv => a.checked_div(b)?,
        BinOp::URem => a.checked_rem(b)?,
        BinOp::SDiv => x.checked_div(y)? as u64,
        BinOp::SRem => x.checked_rem(y)? as u64,
        BinOp::Shl | BinOp::LShr | BinOp::AShr if b >= u64::from(width) => return None,
        BinOp::Shl => a << b,
        BinOp::LShr => a >> b,
        BinOp::AShr => (x >> b) as u64,
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
    })
}
