//! Copies and fills whose length was not known: every byte up to the most that the path allowed is the new one or the
//! old one, by the length.
//!
//! *Invariant*: the length is at most that, and both ends are pinned with room for it; both are part of the condition.

use crate::transformer::{NoInterpolant, WpResult, WpTransformer};
use pleach_expr::TermId;
use pleach_ir::{Function, Opnd};
use pleach_memory::ObjId;
use pleach_state::Access;

impl WpTransformer<'_> {
    pub(crate) fn copied_up_to(
        &mut self,
        f: &Function,
        depth: u32,
        (d, s): (TermId, TermId),
        (len, width): (Opnd, u16),
        access: &Access,
    ) -> WpResult<()> {
        let &Access::CopyUpTo { to, to_off, from, from_off, most } = access else {
            return Err(NoInterpolant::TraceMismatch);
        };
        let mentioned = self.mentions_memory();
        let n = self.operand(f, depth, len, width)?;
        if most > 0 {
            if mentioned {
                self.up_to(to, to_off, most, n, |w, i| w.contents(from, from_off + i, 1));
                self.require_pointer(d, to, Some(to_off), most, true)?;
                self.require_pointer(s, from, Some(from_off), most, false)?;
            } else {
                self.valid_unless_evident(d, to, Some(to_off), most, true);
                self.valid_unless_evident(s, from, Some(from_off), most, false);
            }
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
        let &Access::FillUpTo { obj, off, most } = access else {
            return Err(NoInterpolant::TraceMismatch);
        };
        let mentioned = self.mentions_memory();
        let n = self.operand(f, depth, len, width)?;
        if most > 0 {
            if mentioned {
                let b = self.operand(f, depth, byte, 8)?;
                self.up_to(obj, off, most, n, |_, _| b);
                self.require_pointer(d, obj, Some(off), most, true)?;
            } else {
                self.valid_unless_evident(d, obj, Some(off), most, true);
            }
        }
        self.at_most(n, most);
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
