//! What an instruction reads and writes.
//!
//! A terminator acts in two places: it reads its own operands, then the copies of the edge taken run. The visitors for
//! the two are separate (`for_each_operand`, `for_each_edge`); `for_each_use` and `for_each_def` put them together for
//! those who do not care where it happens.

use crate::ids::Slot;
use crate::inst::{Callee, Copy, Edge, Inst, Opnd};
use crate::program::Function;

/// The operands the instruction itself reads, in order; copies on its edges are not among them.
pub fn for_each_operand(f: &Function, inst: &Inst, mut g: impl FnMut(Opnd)) {
    match *inst {
        Inst::Bin { a, b, .. } | Inst::Cmp { a, b, .. } | Inst::FBin { a, b, .. } | Inst::FCmp { a, b, .. } => {
            g(a);
            g(b);
        }
        Inst::Cast { a, .. }
        | Inst::Mov { a, .. }
        | Inst::Freeze { a, .. }
        | Inst::FNeg { a, .. }
        | Inst::FCast { a, .. } => g(a),
        Inst::Select { cond, a, b, .. } => {
            g(cond);
            g(a);
            g(b);
        }
        Inst::Load { ptr, .. } => g(ptr),
        Inst::Store { ptr, value, .. } => {
            g(ptr);
            g(value);
        }
        Inst::Gep { base, parts, .. } => {
            g(base);
            f.scaled[parts.as_range()].iter().for_each(|s| g(s.index));
        }
        Inst::Alloca { count, .. } => g(count),
        Inst::Call { callee, args, .. } => {
            if let Callee::Indirect(target) = callee {
                g(target);
            }
            f.args[args.as_range()].iter().for_each(|a| g(a.value));
        }
        Inst::Scalar { args, .. } => f.args[args.as_range()].iter().for_each(|a| g(a.value)),
        Inst::MemCopy { dst, src, len, .. } => {
            g(dst);
            g(src);
            g(len);
        }
        Inst::MemSet { dst, byte, len, .. } => {
            g(dst);
            g(byte);
            g(len);
        }
        Inst::VaStart { list } | Inst::VaEnd { list } | Inst::VaArg { list, .. } => g(list),
        Inst::VaCopy { dst, src } => {
            g(dst);
            g(src);
        }
        Inst::StackRestore { mark } => g(mark),
        Inst::ScopeEnd { local } => g(local),
        Inst::Assume { cond } | Inst::Check { cond, .. } | Inst::Branch { cond, .. } => g(cond),
        Inst::Switch { value, .. } => g(value),
        Inst::IndirectJump { target, .. } => g(target),
        Inst::Return { values } => f.args[values.as_range()].iter().for_each(|a| g(a.value)),
        Inst::Undef { .. }
        | Inst::StackSave { .. }
        | Inst::Unsupported { .. }
        | Inst::Jump { .. }
        | Inst::Unreachable => {}
    }
}

/// The slots the instruction itself writes; copies on its edges are not among them.
pub fn for_each_result(f: &Function, inst: &Inst, mut g: impl FnMut(Slot)) {
    match *inst {
        Inst::Bin { dst, .. }
        | Inst::Cmp { dst, .. }
        | Inst::Cast { dst, .. }
        | Inst::Select { dst, .. }
        | Inst::Mov { dst, .. }
        | Inst::Freeze { dst, .. }
        | Inst::Undef { dst }
        | Inst::Load { dst, .. }
        | Inst::Gep { dst, .. }
        | Inst::Alloca { dst, .. }
        | Inst::FBin { dst, .. }
        | Inst::FNeg { dst, .. }
        | Inst::FCmp { dst, .. }
        | Inst::FCast { dst, .. }
        | Inst::VaArg { dst, .. }
        | Inst::StackSave { dst } => g(dst),
        Inst::Call { dsts, .. } | Inst::Scalar { dsts, .. } => f.dsts[dsts.as_range()].iter().for_each(|&d| g(d)),
        Inst::Store { .. }
        | Inst::MemCopy { .. }
        | Inst::MemSet { .. }
        | Inst::VaStart { .. }
        | Inst::VaCopy { .. }
        | Inst::VaEnd { .. }
        | Inst::StackRestore { .. }
        | Inst::ScopeEnd { .. }
        | Inst::Assume { .. }
        | Inst::Check { .. }
        | Inst::Unsupported { .. }
        | Inst::Jump { .. }
        | Inst::Branch { .. }
        | Inst::Switch { .. }
        | Inst::IndirectJump { .. }
        | Inst::Return { .. }
        | Inst::Unreachable => {}
    }
}

/// The edges a terminator may take: taken before not taken, default before cases. Nothing for other instructions.
pub fn for_each_edge(f: &Function, inst: &Inst, mut g: impl FnMut(Edge)) {
    match *inst {
        Inst::Jump { edge } => g(edge),
        Inst::Branch { edges, .. } => {
            g(f.edges[edges as usize]);
            g(f.edges[edges as usize + 1]);
        }
        Inst::Switch { default, cases, .. } => {
            g(f.edges[default as usize]);
            f.cases[cases.as_range()].iter().for_each(|c| g(c.edge));
        }
        Inst::IndirectJump { edges, .. } => f.edges[edges.as_range()].iter().for_each(|&e| g(e)),
        _ => {}
    }
}

/// The copies of an edge, in the order in which they run.
pub fn edge_copies(f: &Function, edge: Edge) -> &[Copy] {
    &f.copies[edge.copies.as_range()]
}

/// Every slot read by the instruction or by a copy on one of its edges. A slot may come up more than once.
pub fn for_each_use(f: &Function, inst: &Inst, mut g: impl FnMut(Slot)) {
    for_each_operand(f, inst, |o| {
        if let Some(s) = o.as_slot() {
            g(s);
        }
    });
    for_each_edge(f, inst, |e| edge_copies(f, e).iter().filter_map(|c| c.src.as_slot()).for_each(&mut g));
}

/// Every slot written by the instruction or by a copy on one of its edges. A slot may come up more than once.
pub fn for_each_def(f: &Function, inst: &Inst, mut g: impl FnMut(Slot)) {
    for_each_result(f, inst, &mut g);
    for_each_edge(f, inst, |e| edge_copies(f, e).iter().for_each(|c| g(c.dst)));
}
