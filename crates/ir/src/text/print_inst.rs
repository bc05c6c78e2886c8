//! Writes instructions.

use super::print::{Printer, join, quoted};
use super::words::{Word, ty_word};
use crate::ids::Slot;
use crate::inst::{Arg, Callee, Case, Copy, Edge, Inst, Range, Scaled, flags};
use crate::program::Function;

/// The entries of a range, or as many as the pool has.
fn pool<T>(all: &[T], r: Range) -> &[T] {
    let start = (r.start as usize).min(all.len());
    let end = (start + r.len as usize).min(all.len());
    &all[start..end]
}

impl Printer<'_> {
    pub(super) fn inst(&self, f: &Function, inst: &Inst) -> String {
        let o = |x| self.opnd(f, x);
        let access = |volatile: bool, align: u8| {
            let align = if align > 0 { format!("align {align} ") } else { String::new() };
            format!("{}{align}", if volatile { "volatile " } else { "" })
        };
        match *inst {
            Inst::Bin { op, flags, width, dst, a, b } => {
                format!("%{} = {} {}i{width} {}, {}", dst.0, op.word(), promises(flags), o(a), o(b))
            }
            Inst::Cmp { op, width, dst, a, b } => {
                format!("%{} = cmp {} i{width} {}, {}", dst.0, op.word(), o(a), o(b))
            }
            Inst::Cast { op, from, to, dst, a } => format!("%{} = {} i{from} {} to i{to}", dst.0, op.word(), o(a)),
            Inst::Select { ty, dst, cond, a, b } => {
                format!("%{} = select {} {}, {}, {}", dst.0, ty_word(ty), o(cond), o(a), o(b))
            }
            Inst::Mov { dst, a } => format!("%{} = mov {}", dst.0, o(a)),
            Inst::Freeze { ty, dst, a } => format!("%{} = freeze {} {}", dst.0, ty_word(ty), o(a)),
            Inst::Undef { dst } => format!("%{} = undef", dst.0),
            Inst::Load { ty, volatile, align, dst, ptr } => {
                format!("%{} = load {}{} {}", dst.0, access(volatile, align), ty_word(ty), o(ptr))
            }
            Inst::Store { ty, volatile, align, ptr, value } => {
                format!("store {}{} {}, {}", access(volatile, align), ty_word(ty), o(ptr), o(value))
            }
            Inst::Gep { dst, base, offset, parts } => {
                let part = |s: &Scaled| format!("i{} {} * {}", s.width, o(s.index), s.scale);
                format!("%{} = gep {}, {offset}, [{}]", dst.0, o(base), join(pool(&f.scaled, parts), part))
            }
            Inst::Alloca { dst, size, count, count_width, object } => {
                format!("%{} = alloca {size}, i{count_width} {}, object {object}", dst.0, o(count))
            }
            Inst::Call { callee, dsts, args } => {
                let whom = match callee {
                    Callee::Direct(id) => format!("call {}", self.func(id)),
                    Callee::Indirect(target) => format!("icall {}", o(target)),
                };
                format!("{}{whom}({})", self.results(f, dsts), self.args(f, args))
            }
            Inst::Scalar { op, ty, dsts, args } => {
                let (dsts, args) = (self.results(f, dsts), self.args(f, args));
                format!("{dsts}scalar {} {}({args})", op.word(), ty_word(ty))
            }
            Inst::FBin { op, ty, dst, a, b } => {
                format!("%{} = {} {} {}, {}", dst.0, op.word(), ty.word(), o(a), o(b))
            }
            Inst::FNeg { ty, dst, a } => format!("%{} = fneg {} {}", dst.0, ty.word(), o(a)),
            Inst::FCmp { op, ty, dst, a, b } => {
                format!("%{} = fcmp {} {} {}, {}", dst.0, op.word(), ty.word(), o(a), o(b))
            }
            Inst::FCast { op, from, to, dst, a } => {
                format!("%{} = fcast {} {} {} to {}", dst.0, op.word(), ty_word(from), o(a), ty_word(to))
            }
            Inst::MemCopy { mov, dst, src, len, len_width } => {
                let word = if mov { "memmove" } else { "memcpy" };
                format!("{word} {}, {}, i{len_width} {}", o(dst), o(src), o(len))
            }
            Inst::MemSet { dst, byte, len, len_width } => {
                format!("memset {}, {}, i{len_width} {}", o(dst), o(byte), o(len))
            }
            Inst::VaStart { list } => format!("va_start {}", o(list)),
            Inst::VaCopy { dst, src } => format!("va_copy {}, {}", o(dst), o(src)),
            Inst::VaEnd { list } => format!("va_end {}", o(list)),
            Inst::VaArg { ty, dst, list } => format!("%{} = va_arg {} {}", dst.0, ty_word(ty), o(list)),
            Inst::StackSave { dst } => format!("%{} = stack_save", dst.0),
            Inst::StackRestore { mark } => format!("stack_restore {}", o(mark)),
            Inst::ScopeEnd { local } => format!("scope_end {}", o(local)),
            Inst::Assume { cond } => format!("assume {}", o(cond)),
            Inst::Check { kind, cond } => format!("check {} {}", kind.word(), o(cond)),
            Inst::Unsupported { name } => match f.names.get(name as usize) {
                Some(n) => format!("unsupported {}", quoted(n)),
                None => format!("unsupported <bad name {name}>"),
            },
            Inst::Jump { edge } => format!("jump {}", self.edge(f, edge)),
            Inst::Branch { cond, edges } => {
                format!("branch {}, {}, {}", o(cond), self.edge_at(f, edges), self.edge_at(f, edges.saturating_add(1)))
            }
            Inst::Switch { width, value, default, cases } => {
                let case = |c: &Case| format!("{}: {}", c.value, self.edge(f, c.edge));
                let cases = join(pool(&f.cases, cases), case);
                format!("switch i{width} {}, {} {{{cases}}}", o(value), self.edge_at(f, default))
            }
            Inst::IndirectJump { target, edges } => {
                format!("ijump {} {{{}}}", o(target), join(pool(&f.edges, edges), |&e| self.edge(f, e)))
            }
            Inst::Return { values } => format!("return ({})", self.args(f, values)),
            Inst::Unreachable => "unreachable".to_owned(),
        }
    }

    fn results(&self, f: &Function, dsts: Range) -> String {
        let dsts = join(pool(&f.dsts, dsts), |d: &Slot| format!("%{}", d.0));
        if dsts.is_empty() { dsts } else { dsts + " = " }
    }

    fn args(&self, f: &Function, args: Range) -> String {
        join(pool(&f.args, args), |a: &Arg| {
            let byval = if a.byval == 0 { String::new() } else { format!(" byval {}", a.byval) };
            format!("{} {}{byval}", ty_word(a.ty), self.opnd(f, a.value))
        })
    }

    fn edge(&self, f: &Function, e: Edge) -> String {
        let copies = pool(&f.copies, e.copies);
        if copies.is_empty() {
            return format!("b{}", e.target.0);
        }
        let copy = |c: &Copy| format!("%{} = {}", c.dst.0, self.opnd(f, c.src));
        format!("b{} [{}]", e.target.0, join(copies, copy))
    }

    fn edge_at(&self, f: &Function, index: u32) -> String {
        f.edges.get(index as usize).map_or_else(|| format!("<bad edge {index}>"), |&e| self.edge(f, e))
    }
}

fn promises(set: u8) -> String {
    let mut out = String::new();
    for (bit, word) in [(flags::NSW, "nsw "), (flags::NUW, "nuw "), (flags::EXACT, "exact "), (flags::MOVED, "moved ")]
    {
        if set & bit != 0 {
            out += word;
        }
    }
    out
}
