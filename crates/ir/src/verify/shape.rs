//! Everything that is an index is in range; blocks tile the instructions and end with their only terminator.

use super::items::symbol_exists;
use super::{Checker, SourcePlace};
use crate::defs::{edge_copies, for_each_edge, for_each_operand, for_each_result};
use crate::ids::Slot;
use crate::inst::{Callee, Edge, Inst, Opnd, OpndKind, Range, Ty};
use crate::program::Const;

fn fits<T>(r: Range, pool: &[T]) -> bool {
    r.start as usize + r.len as usize <= pool.len()
}

impl Checker<'_> {
    /// Whether nothing was found.
    pub(super) fn shape(&mut self) -> bool {
        let before = self.errors.len();
        self.header();
        self.constants();
        if self.blocks() {
            for at in self.places() {
                self.instruction(at);
            }
        }
        self.errors.len() == before
    }

    fn header(&mut self) {
        let (f, types) = (self.f, self.p.types.len());
        let mut taken = vec![false; f.slots.len()];
        for (i, param) in f.params.iter().enumerate() {
            let Some(slot) = f.slots.get(param.slot.index()) else {
                // A declaration has no frame to put its parameters into.
                if !f.is_declaration() {
                    self.report(format!("parameter {i} is in slot %{}, of {}", param.slot.0, f.slots.len()));
                }
                continue;
            };
            if slot.ty != param.ty {
                self.report(format!("parameter {i} is {:?}, its slot {:?}", param.ty, slot.ty));
            }
            if std::mem::replace(&mut taken[param.slot.index()], true) {
                self.report(format!("parameter {i} shares slot %{}", param.slot.0));
            }
        }
        for (i, slot) in f.slots.iter().enumerate() {
            if slot.ty == Ty::Int(0) {
                self.report(format!("slot %{i} has no bits"));
            }
        }
        let of_slots = f.slots.iter().filter_map(|s| s.debug_type);
        let of_params = f.params.iter().filter_map(|p| p.debug_type);
        for t in of_slots.chain(of_params).chain(f.objects.iter().filter_map(|o| o.ty)) {
            if t.index() >= types {
                self.report(format!("type !{} is out of range", t.0));
            }
        }
        for (name, b) in &f.labels {
            if b.index() >= f.blocks.len() {
                self.report(format!("label {name:?} is at block b{}, of {}", b.0, f.blocks.len()));
            }
        }
    }

    fn constants(&mut self) {
        for (i, c) in self.f.consts.iter().enumerate() {
            let sane = match c {
                Const::Int { width, value } => (1..=64).contains(width) && (*width == 64 || value >> width == 0),
                Const::Wide { width, limbs } => {
                    *width > 64
                        && limbs.len() == usize::from(*width).div_ceil(64)
                        && (width % 64 == 0 || limbs.last().is_some_and(|top| top >> (width % 64) == 0))
                }
                Const::Addr { symbol, .. } => symbol_exists(self.p, *symbol),
                Const::Undef { width } => *width > 0,
            };
            if !sane {
                self.report(format!("constant {i} is malformed: {c:?}"));
            }
        }
    }

    /// Whether the blocks may be walked.
    fn blocks(&mut self) -> bool {
        let (f, before) = (self.f, self.errors.len());
        if f.spans.len() != f.insts.len() {
            self.report(format!("{} spans for {} instructions", f.spans.len(), f.insts.len()));
        }
        let sides = [("spans", f.block_spans.len()), ("weights", f.block_weight.len())];
        for (what, len) in sides.into_iter().filter(|&(_, len)| len != 0 && len != f.blocks.len()) {
            self.report(format!("{len} block {what} for {} blocks", f.blocks.len()));
        }
        let mut next = 0u64;
        for (b, block) in f.blocks.iter().enumerate() {
            if u64::from(block.first.0) != next {
                self.report(format!("block b{b} starts at instruction {}, not {next}", block.first.0));
            }
            if block.len == 0 {
                self.report(format!("block b{b} is empty"));
            }
            next = u64::from(block.first.0) + u64::from(block.len);
        }
        if next != f.insts.len() as u64 {
            self.report(format!("the blocks end at instruction {next}, of {}", f.insts.len()));
        }
        self.errors.len() == before
    }

    fn instruction(&mut self, at: SourcePlace) {
        let (f, inst) = (self.f, &self.f.insts[at.inst.index()]);
        let block = f.blocks[at.block.index()];
        let last = at.inst.0 + 1 == block.first.0 + block.len;
        match (inst.is_terminator(), last) {
            (true, false) => self.report_at(at, "a terminator before the end of its block"),
            (false, true) => self.report_at(at, "the block ends without a terminator"),
            _ => {}
        }
        let span = f.spans[at.inst.index()];
        if span.is_known() && span.file().index() >= self.p.files.len() {
            self.report_at(at, format!("file {} is out of range", span.file));
        }
        // Operands are only looked at once the pools they lie in are known to exist.
        if let Some(what) = self.missing(inst) {
            return self.report_at(at, format!("{what} out of range"));
        }
        let (mut opnds, mut slots): (Vec<Opnd>, Vec<Slot>) = (Vec::new(), Vec::new());
        for_each_operand(f, inst, |o| opnds.push(o));
        for_each_result(f, inst, |s| slots.push(s));
        for_each_edge(f, inst, |e| {
            opnds.extend(edge_copies(f, e).iter().map(|c| c.src));
            slots.extend(edge_copies(f, e).iter().map(|c| c.dst));
        });
        for o in opnds {
            match o.kind() {
                OpndKind::Slot(s) => slots.push(s),
                OpndKind::Const(c) if c as usize >= f.consts.len() => {
                    self.report_at(at, format!("constant {c} is out of range"));
                }
                OpndKind::Const(_) => {}
            }
        }
        slots.sort_unstable();
        slots.dedup();
        for s in slots.into_iter().filter(|s| s.index() >= f.slots.len()) {
            self.report_at(at, format!("slot %{} is out of range", s.0));
        }
    }

    /// What the instruction names that is not there.
    fn missing(&self, inst: &Inst) -> Option<String> {
        let f = self.f;
        let need = |ok: bool, what: &str| if ok { None } else { Some(what.to_owned()) };
        match *inst {
            Inst::Gep { parts, .. } => need(fits(parts, &f.scaled), "address parts"),
            Inst::Alloca { object, .. } => need((object as usize) < f.objects.len(), "object"),
            Inst::Call { callee, dsts, args } => need(fits(dsts, &f.dsts), "results")
                .or_else(|| need(fits(args, &f.args), "arguments"))
                .or_else(|| match callee {
                    Callee::Direct(id) => need(id.index() < self.p.functions.len(), "callee"),
                    Callee::Indirect(_) => None,
                }),
            Inst::Scalar { dsts, args, .. } => {
                need(fits(dsts, &f.dsts), "results").or_else(|| need(fits(args, &f.args), "arguments"))
            }
            Inst::Unsupported { name } => need((name as usize) < f.names.len(), "name"),
            Inst::Return { values } => need(fits(values, &f.args), "values"),
            Inst::Jump { edge } => self.bad_edge(edge),
            Inst::Branch { edges, .. } => self.bad_edges(Range { start: edges, len: 2 }),
            Inst::Switch { default, cases, .. } => self
                .bad_edges(Range { start: default, len: 1 })
                .or_else(|| need(fits(cases, &f.cases), "cases"))
                .or_else(|| f.cases[cases.as_range()].iter().find_map(|c| self.bad_edge(c.edge))),
            Inst::IndirectJump { edges, .. } => self.bad_edges(edges),
            _ => None,
        }
    }

    fn bad_edges(&self, r: Range) -> Option<String> {
        if !fits(r, &self.f.edges) {
            return Some("edges".to_owned());
        }
        self.f.edges[r.as_range()].iter().find_map(|&e| self.bad_edge(e))
    }

    fn bad_edge(&self, e: Edge) -> Option<String> {
        if e.target.index() >= self.f.blocks.len() {
            Some(format!("edge target b{}", e.target.0))
        } else if !fits(e.copies, &self.f.copies) {
            Some("edge copies".to_owned())
        } else {
            None
        }
    }
}
