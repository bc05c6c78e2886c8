//! Loops of which nothing is known: what they write has any value.

use crate::graph::{FrameId, NodeId};
use crate::layout::AtomKind;
use crate::stream::{self, Takes};
use crate::transfer::{Here, Translator, Value};
use crate::variables::Var;
use pleach_expr::{INDEX_BITS, SymbolKind};
use pleach_ir::Inst;
use pleach_ir::loops::LoopId;

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
                if let Value::Pointer { offset, .. } = &mut v {
                    let abstracted = here.start.get(&(frame, s)).cloned();
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
            let regions: std::collections::BTreeSet<usize> = at.groups.iter().map(|g| self.layout.region(*g)).collect();
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
