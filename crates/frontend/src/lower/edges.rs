//! Phi nodes as copies on edges.
//!
//! All phi nodes of a block take their values at once. The copies here are ordered so that doing them one after the
//! other gives the same; a cycle (a swap) goes through a spare slot.

use super::Unsupported;
use super::emit::{Lowered, Lowering};
use crate::llvm::Block;
use pleach_ir::{BlockId, Copy, Edge, Opnd, Range, Slot};

impl<'m> Lowering<'_, 'm> {
    /// The edge from the current block to `to`.
    pub fn edge(&mut self, from: Block<'m>, to: Block<'m>) -> Lowered<Edge> {
        let target: Option<BlockId> = self.blocks.get(&to).copied();
        let target = target.ok_or_else(|| Unsupported::new("a jump out of the function"))?;
        let mut moves: Vec<(Slot, Opnd)> = Vec::new();
        for phi in to.insts().take_while(|i| i.is_phi()) {
            let value = phi.incoming(from).ok_or_else(|| Unsupported::new("a phi node without its edge"))?;
            let sources = self.operands(value)?;
            let Some(dsts) = self.values.get(&phi.value()) else {
                return Err(Unsupported::new(format!("values of type {}", phi.ty())));
            };
            moves.extend(dsts.iter().filter_map(|d| d.as_slot()).zip(sources));
        }
        let start = self.out.copies.len();
        let ordered = self.sequence(moves);
        self.out.copies.extend(ordered);
        let len = self.out.copies.len() - start;
        Ok(Edge { target, copies: Range { start: start as u32, len: len as u32 } })
    }

    fn sequence(&mut self, moves: Vec<(Slot, Opnd)>) -> Vec<Copy> {
        let slots = moves.iter().map(|(dst, _)| (*dst, self.out.slots[dst.index()].ty)).collect::<Vec<_>>();
        sequence(moves, |broken| {
            let ty = slots.iter().find(|(s, _)| *s == broken).map(|(_, ty)| *ty);
            self.slot(ty.unwrap_or(pleach_ir::Ty::Ptr))
        })
    }
}

/// Orders parallel moves; `spare` gives a slot that can hold the value of the one named.
fn sequence(moves: Vec<(Slot, Opnd)>, mut spare: impl FnMut(Slot) -> Slot) -> Vec<Copy> {
    let mut pending: Vec<(Slot, Opnd)> = moves.into_iter().filter(|(d, s)| *s != Opnd::slot(*d)).collect();
    let mut out = Vec::with_capacity(pending.len());
    while !pending.is_empty() {
        let is_source = |d: Slot| pending.iter().any(|(_, s)| *s == Opnd::slot(d));
        if let Some(free) = pending.iter().position(|(d, _)| !is_source(*d)) {
            let (dst, src) = pending.remove(free);
            out.push(Copy { dst, src });
            continue;
        }
        let broken = pending[0].0;
        let held = spare(broken);
        out.push(Copy { dst: held, src: Opnd::slot(broken) });
        for (_, src) in &mut pending {
            if *src == Opnd::slot(broken) {
                *src = Opnd::slot(held);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every parallel move among four slots, against doing them at once.
    #[test]
    fn sequences_equal_parallel_moves() {
        for code in 0..5u32.pow(4) {
            let sources: Vec<u32> = (0..4).map(|i| code / 5u32.pow(i) % 5).collect();
            // Source 4 is the constant 0.
            let opnd = |s: u32| if s == 4 { Opnd::constant(0) } else { Opnd::slot(Slot(s)) };
            let moves = sources.iter().zip(0..).map(|(s, d)| (Slot(d), opnd(*s))).collect();
            let mut next = 4;
            let copies = sequence(moves, |_| {
                next += 1;
                Slot(next - 1)
            });
            let mut memory: Vec<u32> = (100..100 + next).collect();
            for c in copies {
                memory[c.dst.index()] = c.src.as_slot().map_or(7, |s| memory[s.index()]);
            }
            let expected: Vec<u32> = sources.iter().map(|s| if *s == 4 { 7 } else { 100 + s }).collect();
            assert_eq!(&memory[..4], expected, "sources {sources:?}");
        }
    }
}
