//! What a contract may say: guesses, to be checked.
//!
//! *Idea*: bounds by the constants that the program compares with; of results also equations and differences that all
//! samples have, in general or where an argument satisfies a comparison of the function. *Direction*: guesses only.

use crate::fragment::RecursiveFunction;
use crate::interpret::{Sample, constants};
use crate::{Atom, Claim, Operand, Sum, Variable};
use pleach_ir::defs::for_each_result;
use pleach_ir::{CmpOp, Function, Inst, OpndKind, Program};

/// Claims of one contract, at most.
const CLAIMS: usize = 60;
/// Constants that bounds are made of, at most.
const CONSTANTS: usize = 9;
/// Fewer samples say nothing.
const ENOUGH: usize = 3;
/// Coefficients of an equation.
const FACTORS: [i64; 5] = [0, 1, -1, 2, -2];

fn atom(width: u16, op: CmpOp, left: Sum, right: Sum) -> Atom {
    Atom { width, op, left, right }
}

/// The constants of the program's own code that numbers of this width have, small ones first.
fn bounds(program: &Program, f: &Function, width: u16) -> Vec<i64> {
    let mut all = vec![0, 1];
    all.extend(constants(f));
    let own = (0..program.functions.len()).map(pleach_ir::FuncId::new).filter(|g| program.is_own(*g));
    own.for_each(|g| all.extend(constants(program.function(g))));
    let limit = if width >= 64 { i64::MAX } else { (1 << (width - 1)) - 1 };
    all.retain(|k| *k < limit && *k > -limit);
    all.sort_unstable_by_key(|k| (k.unsigned_abs(), *k < 0));
    all.dedup();
    all.truncate(CONSTANTS);
    all.sort_unstable();
    all
}

/// Of arguments: bounds.
pub(crate) fn requires(program: &Program, f: &RecursiveFunction) -> Vec<Claim> {
    let function = program.function(f.id);
    let mut out = Vec::new();
    for (i, &width) in f.arguments.iter().enumerate().filter(|(_, w)| **w > 1) {
        let a = Sum::of(Variable::Argument(i));
        for k in bounds(program, function, width) {
            out.push(Claim::always(atom(width, CmpOp::Sge, a.clone(), Sum::number(k))));
            out.push(Claim::always(atom(width, CmpOp::Sle, a.clone(), Sum::number(k))));
        }
    }
    out
}

/// Comparisons of arguments that the function makes, and their opposites.
fn conditions(f: &RecursiveFunction, function: &Function) -> Vec<Atom> {
    let mut out: Vec<Atom> = Vec::new();
    let arguments = copies_of_arguments(function);
    let side = |o: pleach_ir::Opnd, width: u16| match o.kind() {
        OpndKind::Slot(s) => {
            let i = arguments[s.index()]?;
            (f.arguments[i] == width).then(|| Sum::of(Variable::Argument(i)))
        }
        OpndKind::Const(c) => match function.consts[c as usize] {
            pleach_ir::Const::Int { value, .. } => Some(Sum::number(crate::claim::signed(value, width))),
            _ => None,
        },
    };
    for inst in &function.insts {
        let Inst::Cmp { op, width, a, b, .. } = *inst else { continue };
        if width > 64 {
            continue;
        }
        let (Some(left), Some(right)) = (side(a, width), side(b, width)) else { continue };
        if left.parts.is_empty() && right.parts.is_empty() {
            continue;
        }
        for op in [op, opposite(op)] {
            let new = atom(width, op, left.clone(), right.clone());
            if !out.contains(&new) {
                out.push(new);
            }
        }
    }
    for (i, &w) in f.arguments.iter().enumerate().filter(|(_, w)| **w > 1) {
        out.push(atom(w, CmpOp::Sge, Sum::of(Variable::Argument(i)), Sum::number(0)));
    }
    out.truncate(16);
    out
}

/// By slot: the argument that it holds wherever it was written.
fn copies_of_arguments(f: &Function) -> Vec<Option<usize>> {
    let mut written = vec![0u32; f.slots.len()];
    for inst in f.insts.iter().filter(|i| !matches!(i, Inst::Undef { .. })) {
        for_each_result(f, inst, |s| written[s.index()] += 1);
    }
    f.copies.iter().for_each(|c| written[c.dst.index()] += 1);
    let mut out = vec![None; f.slots.len()];
    for (i, p) in f.params.iter().enumerate().filter(|(_, p)| written[p.slot.index()] == 0) {
        out[p.slot.index()] = Some(i);
    }
    for _ in 0..3 {
        for inst in &f.insts {
            if let Inst::Mov { dst, a } = inst
                && let Some(from) = a.as_slot()
                && written[dst.index()] == 1
            {
                out[dst.index()] = out[from.index()];
            }
        }
    }
    out
}

fn opposite(op: CmpOp) -> CmpOp {
    match op {
        CmpOp::Eq => CmpOp::Ne,
        CmpOp::Ne => CmpOp::Eq,
        CmpOp::Ult => CmpOp::Uge,
        CmpOp::Ule => CmpOp::Ugt,
        CmpOp::Ugt => CmpOp::Ule,
        CmpOp::Uge => CmpOp::Ult,
        CmpOp::Slt => CmpOp::Sge,
        CmpOp::Sle => CmpOp::Sgt,
        CmpOp::Sgt => CmpOp::Sle,
        CmpOp::Sge => CmpOp::Slt,
    }
}

/// Of results.
pub(crate) fn ensures(program: &Program, f: &RecursiveFunction, samples: &[&Sample]) -> Vec<Claim> {
    let function = program.function(f.id);
    let mut outputs: Vec<(Variable, u16)> = f.result.iter().map(|w| (Variable::Result, *w)).collect();
    outputs.extend(f.changed.iter().map(|g| (Variable::After(*g), f.touched[g])));
    let mut inputs: Vec<(Variable, u16)> =
        f.arguments.iter().enumerate().map(|(i, w)| (Variable::Argument(i), *w)).collect();
    inputs.extend(f.touched.iter().map(|(g, w)| (Variable::Before(*g), *w)));
    let mut out: Vec<Claim> = Vec::new();
    for (o, width) in outputs {
        let of_width: Vec<Variable> = inputs.iter().filter(|i| i.1 == width).map(|i| i.0).collect();
        let guess = Guess { output: o, width, inputs: &of_width, bounds: bounds(program, function, width) };
        let general = guess.claims(samples);
        let known = |a: &Atom| general.contains(a);
        for when in conditions(f, function) {
            let some: Vec<&Sample> = samples.iter().copied().filter(|s| when.holds(s) == Some(true)).collect();
            for then in guess.claims(&some).into_iter().filter(|a| !known(a)) {
                out.push(Claim { when: Some(when.clone()), then });
            }
        }
        out.splice(0..0, general.into_iter().map(Claim::always));
    }
    // Equations first: they are what most proofs need.
    out.sort_by_key(|c| (c.then.op != CmpOp::Eq, c.when.is_some()));
    out.truncate(CLAIMS);
    out
}

struct Guess<'a> {
    output: Variable,
    width: u16,
    inputs: &'a [Variable],
    bounds: Vec<i64>,
}

impl Guess<'_> {
    /// What holds of all these samples.
    fn claims(&self, samples: &[&Sample]) -> Vec<Atom> {
        if samples.len() < ENOUGH {
            return Vec::new();
        }
        let equations: Vec<Atom> = self.equations(samples);
        if !equations.is_empty() {
            return equations;
        }
        let (width, output) = (self.width, Sum::of(self.output));
        let holds = |a: &Atom| samples.iter().all(|s| a.holds(s) == Some(true));
        let mut all: Vec<Atom> = Vec::new();
        for &k in &self.bounds {
            all.push(atom(width, CmpOp::Sge, output.clone(), Sum::number(k)));
            all.push(atom(width, CmpOp::Sle, output.clone(), Sum::number(k)));
        }
        for &a in self.inputs {
            for k in [-1, 0, 1] {
                let right = Sum { constant: k, ..Sum::of(a) };
                all.push(atom(width, CmpOp::Sge, output.clone(), right.clone()));
                all.push(atom(width, CmpOp::Sle, output.clone(), right));
            }
        }
        all.retain(holds);
        all
    }

    /// The output as a sum of inputs, of their lowest bits, and a constant.
    fn equations(&self, samples: &[&Sample]) -> Vec<Atom> {
        let mut out = Vec::new();
        let n = self.inputs.len().min(3);
        let total = FACTORS.len().pow(n as u32);
        let whole = (0..total).map(|mut k| {
            let mut parts = Vec::new();
            for v in &self.inputs[..n] {
                let factor = FACTORS[k % FACTORS.len()];
                k /= FACTORS.len();
                if factor != 0 {
                    parts.push((factor, Operand::Whole(*v)));
                }
            }
            parts
        });
        let low = self.inputs.iter().flat_map(|v| [1, -1].map(|k| vec![(k, Operand::Low(*v))]));
        for parts in whole.chain(low) {
            let Some(right) = self.fitted(parts, samples) else { continue };
            let a = atom(self.width, CmpOp::Eq, Sum::of(self.output), right);
            if samples.iter().all(|s| a.holds(s) == Some(true)) {
                out.push(a);
            }
            if out.len() >= 3 {
                break;
            }
        }
        out
    }

    /// With the constant that the first sample needs.
    fn fitted(&self, parts: Vec<(i64, Operand)>, samples: &[&Sample]) -> Option<Sum> {
        let first = samples.first()?;
        let mut rest = first.value(self.output)?;
        for (k, o) in &parts {
            let v = match o {
                Operand::Whole(v) => first.value(*v)?,
                Operand::Low(v) => first.value(*v)? & 1,
            };
            rest = rest.wrapping_sub((*k as u64).wrapping_mul(v));
        }
        let constant = crate::claim::signed(rest & crate::claim::mask(self.width), self.width);
        (constant.unsigned_abs() < 100_000).then_some(Sum { parts, constant })
    }
}
