//! Copies and fills whose length was not known: every byte up to the most that the path allowed is the new one or the
//! old one, by the length.
//!
//! *Invariant*: the length is at most that, and both ends are pinned with room for it; both are part of the condition.

use crate::transformer::{NoInterpolant, WpResult, WpTransformer};
use pleach_expr::TermId;
use pleach_ir::{Function, Opnd};
use pleach_memory::ObjId;
use pleach_state::{Access, RangeStart};

impl WpTransformer<'_> {
    pub(crate) fn copied_up_to(
        &mut self,
        f: &Function,
        depth: u32,
        (d, s): (TermId, TermId),
        (len, width): (Opnd, u16),
        access: &Access,
    ) -> WpResult<()> {
        let &Access::CopyUpTo { to, from, most } = access else {
            return Err(NoInterpolant::TraceMismatch);
        };
        let mentioned = self.mentions_memory();
        let n = self.operand(f, depth, len, width)?;
        if most > 0 {
            if mentioned {
                self.up_to(to.obj, to.off, most, n, |w, i| w.contents(from.obj, from.off + i, 1));
            }
            self.room_up_to(d, to, (n, most), true, mentioned)?;
            self.room_up_to(s, from, (n, most), false, mentioned)?;
        }
        self.at_most(n, most);
        Ok(())
    }

    pub(crate) fn filled_up_to(
        &mut self,
        f: &Function,
        depth: u32,
        d: TermId,
        byte: Opnd,
        (len, width): (Opnd, u16),
        access: &Access,
    ) -> WpResult<()> {
        let &Access::FillUpTo { to, most } = access else {
            return Err(NoInterpolant::TraceMismatch);
        };
        let mentioned = self.mentions_memory();
        let n = self.operand(f, depth, len, width)?;
        if most > 0 {
            if mentioned {
                let b = self.operand(f, depth, byte, 8)?;
                self.up_to(to.obj, to.off, most, n, |_, _| b);
            }
            self.room_up_to(d, to, (n, most), true, mentioned)?;
        }
        self.at_most(n, most);
        Ok(())
    }

    /// The pointer is to the beginning of a range with room for `n` bytes, `most` at most.
    fn room_up_to(
        &mut self,
        ptr: TermId,
        at: RangeStart,
        (n, most): (TermId, u64),
        write: bool,
        mentioned: bool,
    ) -> WpResult<()> {
        let RangeStart { obj, off, sized } = at;
        if !sized && mentioned {
            return self.require_pointer(ptr, obj, Some(off), most, write);
        }
        if !sized {
            self.valid_unless_evident(ptr, obj, Some(off), most, write);
            return Ok(());
        }
        self.require_pointer(ptr, obj, Some(off), 0, write)?;
        // SOUND: `n ≤ most` is part of the condition, so that the sum does not wrap around.
        let w = self.terms.width(n).max(self.terms.pointer_bits);
        let size = self.size_of(obj);
        let (size, length) = (self.terms.zext(size, w), self.terms.zext(n, w));
        let start = self.terms.constant(w, off);
        let end = self.terms.add(start, length);
        let inside = self.terms.ule(end, size);
        let zero = self.terms.constant(w, 0);
        let none = self.terms.eq(length, zero);
        let fits = self.terms.or(none, inside);
        self.require(fits);
        Ok(())
    }

    /// The first `n` bytes from `off` on became new ones.
    fn up_to(&mut self, obj: ObjId, off: u64, most: u64, n: TermId, new: impl Fn(&mut Self, u64) -> TermId) {
        let width = self.terms.width(n);
        self.overwrite(obj, off, most, |w, at, count| {
            let mut whole: Option<TermId> = None;
            for i in at..at + count {
                let (b, old, k) = (new(w, i), w.cell(obj, off + i, 1), w.terms.constant(width, i));
                let written = w.terms.ult(k, n);
                let byte = w.terms.ite(written, b, old);
                whole = Some(whole.map_or(byte, |low| w.terms.concat(byte, low)));
            }
            whole.unwrap_or(n)
        });
    }

    fn at_most(&mut self, n: TermId, most: u64) {
        let width = self.terms.width(n);
        if width >= 64 || most <= pleach_expr::mask(width) {
            let k = self.terms.constant(width, most);
            let fits = self.terms.ule(n, k);
            self.require(fits);
        }
    }
}
