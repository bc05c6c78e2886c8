//! Loops of which nothing is known: what they write has any value.

use crate::effects::Writes;
use crate::graph::{FrameId, NodeId};
use crate::layout::AtomKind;
use crate::pointers::{GroupId, Pointer, State};
use crate::stream::{self, Takes};
use crate::transfer::{Here, Translator, Value};
use crate::variables::Var;
use pleach_expr::{INDEX_BITS, SymbolKind, TermId};
use pleach_ir::loops::LoopId;
use pleach_ir::{Callee, Function, Inst};
use std::collections::BTreeSet;

impl Translator<'_> {
    /// What a loop writes has any value from now on.
    pub fn havoc(&mut self, here: &mut Here, l: LoopId) {
        let program = self.program;
        for n in crate::decide::nodes_in_loop(self.graph, program, here.frame, l) {
            let node = self.graph.node(n);
            let f = self.graph.function(program, node.frame);
            let mut state = self.pointers.before[n.index()].clone();
            for i in node.insts.start..f.block_range(node.block).end.min(node.insts.end + 1) {
                self.havoc_inst(here, n, node.frame, i, &state);
                if i < node.insts.end {
                    self.pointers.step(n, f, i, &mut state);
                }
            }
        }
    }

    fn havoc_inst(&mut self, here: &mut Here, n: NodeId, frame: FrameId, i: usize, state: &crate::pointers::State) {
        let f = self.graph.function(self.program, self.graph.node(n).frame);
        let mut slots = Vec::new();
        pleach_ir::defs::for_each_def(f, &f.insts[i], |s| slots.push(s));
        if frame == here.frame {
            for s in slots {
                let ty = f.slots[s.index()].ty;
                let mut v = self.any_value(ty);
                if let Value::Pointer { reference, offset } = &mut v {
                    let abstracted = here.start.get(&(frame, s)).cloned();
                    if let Some(p) = &abstracted {
                        self.assume_within(here, p, *reference);
                    }
                    let known = abstracted.as_ref().and_then(|p| p.offset).and_then(|o| o.as_known());
                    if let Some(k) = known {
                        *offset = self.terms.constant(64, k as u64);
                    }
                }
                self.set(here, s, v);
            }
        }
        let written = match f.insts[i] {
            Inst::Store { ptr, .. } => Some(ptr),
            Inst::MemCopy { dst, .. } | Inst::MemSet { dst, .. } => Some(dst),
            _ => match stream::taken_by(self.program, f, i) {
                Some((Takes::Object, [to, ..])) => Some(to.value),
                _ => None,
            },
        };
        if stream::taken_by(self.program, f, i).is_some() {
            let any = self.any(INDEX_BITS);
            self.write_var(here, Var::Taken, SymbolKind::Bits(INDEX_BITS), any);
        }
        if let Some(ptr) = written {
            let at = self.pointers.operand(frame, f, ptr, state);
            self.forget_written(here, &at);
        }
        if self.covers() {
            self.forget_ended(here, n, f, i, state);
        }
    }

    /// A pointer is null or refers to one of its groups, unless it may be something else.
    pub fn assume_within(&mut self, here: &mut Here, p: &Pointer, reference: TermId) {
        if p.is_complete() && p.offset.is_some() {
            // SOUND: the analysis of pointers says so of every execution.
            let mut ranges = vec![(0, 0)];
            ranges.extend(p.groups.iter().map(|g| self.layout.ranges[g.index()]));
            let within = self.in_ranges(reference, ranges);
            self.assume(here, within);
        }
    }

    /// The lives of objects that an instruction of a loop may end, and what a call in it writes.
    fn forget_ended(&mut self, here: &mut Here, n: NodeId, f: &Function, i: usize, state: &State) {
        let followed = i == self.graph.node(n).insts.end;
        let ends = match f.insts[i] {
            Inst::Call { .. } if followed => false,
            Inst::Call { callee: Callee::Direct(g), .. }
                if matches!(self.program.function(g).name.as_str(), "free" | "realloc") =>
            {
                true
            }
            Inst::Call { .. } => {
                let (groups, effect) = self.pointers.touched(n, f, i, state);
                if effect.writes != Writes::Nothing {
                    self.forget_groups(here, &groups);
                }
                effect.frees
            }
            Inst::ScopeEnd { .. } => !self.pointers.scope_ends(n, f, i, state).is_empty(),
            Inst::Return { .. } => !self.pointers.return_ends(n, f, state).is_empty(),
            _ => false,
        };
        if ends {
            self.forget_freed(here);
        }
    }

    /// What this pointer refers to has any contents.
    pub fn forget_written(&mut self, here: &mut Here, at: &Pointer) {
        let groups =
            if self.covers() && self.pointers.is_opaque(at) { self.pointers.everything() } else { at.groups.clone() };
        self.forget_groups(here, &groups);
    }

    /// Any object that may be freed at all may have been.
    pub fn forget_freed(&mut self, here: &mut Here) {
        let any = self.any_array(1);
        self.write_var(here, Var::Freed, SymbolKind::total(1), any);
    }

    /// A call that is not followed.
    pub fn not_followed(&mut self, here: &mut Here, i: usize) {
        let (groups, effect) = self.pointers.touched(here.n, here.f, i, &here.state);
        if effect.writes != Writes::Nothing {
            self.forget_groups(here, &groups);
        }
        if effect.frees {
            self.forget_freed(here);
        }
    }

    /// Memory of the pointer's objects is not modelled: a load gives any value.
    pub fn is_unmodelled(&self, at: &Pointer) -> bool {
        let unmodelled = |g: &GroupId| {
            let region = &self.layout.regions[self.layout.region(*g)];
            // Offsets of an object of any size need not fit into an index.
            region.broken.is_some() || region.modulus != 0 && self.pointers.size(*g).is_none()
        };
        self.covers() && (self.pointers.is_opaque(at) || at.groups.iter().any(unmodelled))
    }

    /// Several objects have this name.
    pub fn is_many(&self, g: GroupId) -> bool {
        let (first, last) = self.layout.ranges[g.index()];
        first != last
    }

    /// The reference of what is allocated.
    pub fn new_reference(&mut self, here: &mut Here, g: GroupId) -> TermId {
        if !self.is_many(g) {
            return self.reference(g);
        }
        // SOUND: one of them differs from all that the path has met; it may also be one of those.
        let r = self.any(self.layout.ref_bits);
        let there = self.in_range(r, self.layout.ranges[g.index()]);
        self.assume(here, there);
        if self.layout.freed.contains(&g) {
            let i = self.terms.sext(r, INDEX_BITS);
            let freed = self.read_var(here, Var::Freed, SymbolKind::total(1));
            let gone = self.terms.read(freed, i);
            let exists = self.terms.not(gone);
            self.assume(here, exists);
        }
        r
    }

    fn forget_groups(&mut self, here: &mut Here, groups: &BTreeSet<GroupId>) {
        {
            let regions: BTreeSet<usize> = groups.iter().map(|g| self.layout.region(*g)).collect();
            for region in regions {
                for atom in self.layout.regions[region].atoms.clone() {
                    let arrays = match atom.kind {
                        AtomKind::Bits { array } => vec![array],
                        AtomKind::Pointer { array, offsets } => [Some(array), offsets].into_iter().flatten().collect(),
                    };
                    for array in arrays {
                        let any = self.any_array(self.layout.arrays[array]);
                        self.set_array(here, array, any);
                    }
                }
            }
        }
    }
}
