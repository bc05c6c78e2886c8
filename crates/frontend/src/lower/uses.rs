//! Reading and rewriting the operands and destinations of instructions.

use pleach_ir::{Callee, Edge, Function, Inst, Opnd, Range, Slot};

/// Replaces every operand that `inst` reads. Copies on its edges count as read by it; an edge shared by several cases
/// of a switch is visited once.
pub(crate) fn map_uses(inst: &mut Inst, f: &mut Function, map: &mut impl FnMut(Opnd) -> Opnd) {
    match inst {
        Inst::Bin { a, b, .. }
        | Inst::Cmp { a, b, .. }
        | Inst::FBin { a, b, .. }
        | Inst::FCmp { a, b, .. }
        | Inst::VaCopy { dst: a, src: b }
        | Inst::Store { ptr: a, value: b, .. } => {
            *a = map(*a);
            *b = map(*b);
        }
        Inst::Cast { a, .. }
        | Inst::Mov { a, .. }
        | Inst::Freeze { a, .. }
        | Inst::FNeg { a, .. }
        | Inst::FCast { a, .. }
        | Inst::Load { ptr: a, .. }
        | Inst::Alloca { count: a, .. }
        | Inst::VaStart { list: a }
        | Inst::VaEnd { list: a }
        | Inst::VaArg { list: a, .. }
        | Inst::StackRestore { mark: a }
        | Inst::ScopeEnd { local: a }
        | Inst::Check { cond: a, .. }
        | Inst::Assume { cond: a } => *a = map(*a),
        Inst::Select { cond, a, b, .. }
        | Inst::MemCopy { dst: cond, src: a, len: b, .. }
        | Inst::MemSet { dst: cond, byte: a, len: b, .. } => {
            *cond = map(*cond);
            *a = map(*a);
            *b = map(*b);
        }
        Inst::Gep { base, parts, .. } => {
            *base = map(*base);
            for part in &mut f.scaled[parts.as_range()] {
                part.index = map(part.index);
            }
        }
        Inst::Call { callee, args, .. } => {
            if let Callee::Indirect(target) = callee {
                *target = map(*target);
            }
            map_args(f, *args, map);
        }
        Inst::Scalar { args, .. } | Inst::Return { values: args } => map_args(f, *args, map),
        Inst::Undef { .. } | Inst::StackSave { .. } | Inst::Unsupported { .. } | Inst::Unreachable => {}
        Inst::Jump { .. } => {}
        Inst::Branch { cond, .. } => *cond = map(*cond),
        Inst::Switch { value, .. } => *value = map(*value),
        Inst::IndirectJump { target, .. } => *target = map(*target),
    }
    for copies in copies_of(inst, f) {
        for copy in &mut f.copies[copies.as_range()] {
            copy.src = map(copy.src);
        }
    }
}

fn map_args(f: &mut Function, args: Range, map: &mut impl FnMut(Opnd) -> Opnd) {
    for arg in &mut f.args[args.as_range()] {
        arg.value = map(arg.value);
    }
}

/// The distinct ranges of copies on the edges of a terminator.
pub(crate) fn copies_of(inst: &Inst, f: &Function) -> Vec<Range> {
    let mut ranges: Vec<Range> = match inst {
        Inst::Jump { edge } => vec![edge.copies],
        Inst::Branch { edges, .. } => edge_copies(&f.edges[*edges as usize..*edges as usize + 2]),
        Inst::IndirectJump { edges, .. } => edge_copies(&f.edges[edges.as_range()]),
        Inst::Switch { default, cases, .. } => {
            let mut ranges = vec![f.edges[*default as usize].copies];
            ranges.extend(f.cases[cases.as_range()].iter().map(|c| c.edge.copies));
            ranges
        }
        _ => return Vec::new(),
    };
    ranges.retain(|r| r.len > 0);
    ranges.sort_unstable_by_key(|r| r.start);
    ranges.dedup();
    ranges
}

fn edge_copies(edges: &[Edge]) -> Vec<Range> {
    edges.iter().map(|e| e.copies).collect()
}

/// Calls `see` with every operand that `inst` reads.
pub(crate) fn each_use(inst: &mut Inst, f: &mut Function, see: &mut impl FnMut(Opnd)) {
    map_uses(inst, f, &mut |o| {
        see(o);
        o
    });
}

/// Replaces every slot that `inst` itself writes, not those that copies on its edges write.
pub(crate) fn map_defs(inst: &mut Inst, f: &mut Function, map: &mut impl FnMut(Slot) -> Slot) {
    if let Some(dst) = single_def_mut(inst) {
        *dst = map(*dst);
    } else if let Inst::Call { dsts, .. } | Inst::Scalar { dsts, .. } = inst {
        for dst in &mut f.dsts[dsts.as_range()] {
            *dst = map(*dst);
        }
    }
}

pub(crate) fn each_def(inst: &mut Inst, f: &mut Function, see: &mut impl FnMut(Slot)) {
    map_defs(inst, f, &mut |s| {
        see(s);
        s
    });
}

fn single_def_mut(inst: &mut Inst) -> Option<&mut Slot> {
    match inst {
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
        | Inst::StackSave { dst } => Some(dst),
        _ => None,
    }
}
