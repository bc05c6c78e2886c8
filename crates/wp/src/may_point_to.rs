//! Reads and writes through a pointer into one of several objects, where one state went on (`--resolution ite`).
//!
//! *Idea*: as where a state splits by object, but in one condition. The objects are found by other ways (links); the
//! pointer is into one of them (a choice) and what is read or written is that object's, by its distance from the
//! pointer. *Invariant*: objects do not overlap, so at most one of the distances is within its object, and the choice
//! says that one is. *Direction*: gives up where an object has no other way to it.

use crate::condition::{MayPointToLiteral, PointsTo};
use crate::transformer::{NoInterpolant, WpResult, WpTransformer};
use pleach_expr::{TermId, Terms};
use pleach_state::{Link, MayPointTo, SizeBound};

const UNKNOWN: NoInterpolant = NoInterpolant::AccessToSeveralObjects;

impl WpTransformer<'_> {
    /// The pointer is into one of the objects, with room for `bytes` bytes, and where it was on the recorded path.
    pub(crate) fn may_point_to(
        &mut self,
        p: TermId,
        (objects, links): (&[MayPointTo], &[Link]),
        (bytes, align): (u64, u8),
        write: bool,
    ) -> WpResult<()> {
        for o in objects {
            let there = self.distance(p, o, bytes)?;
            let place = match o.off {
                Some(k) => {
                    let k = self.terms.constant(self.terms.width(there.0), k);
                    self.terms.eq(there.0, k)
                }
                None if o.aligned && bytes > 1 => {
                    let low = self.terms.extract(there.0, 0, bytes.trailing_zeros() as u16);
                    let zero = self.terms.constant(self.terms.width(low), 0);
                    self.terms.eq(low, zero)
                }
                None => Terms::TRUE,
            };
            let only = self.terms.implies(there.1, place);
            self.require(only);
        }
        let mut ids: Vec<_> = objects.iter().map(|o| o.obj).collect();
        ids.sort_unstable();
        self.condition.require_choice(MayPointToLiteral {
            ptr: p,
            objects: ids,
            bytes,
            write,
            outside: false,
            null: false,
        });
        for l in links {
            let literal = PointsTo::of_link(self.locs, self.terms, *l);
            let size = objects.iter().find(|o| o.obj == l.to).map(|o| o.size);
            let align = if size.is_some() { align } else { 0 };
            self.condition.require_points_to(PointsTo { size, align, write: write && size.is_some(), ..literal });
        }
        self.live.forget();
        Ok(())
    }

    /// How far behind the beginning of the object the pointer is, and that it is within it.
    fn distance(&mut self, p: TermId, o: &MayPointTo, bytes: u64) -> WpResult<(TermId, TermId)> {
        let base = self.terms.base(o.obj);
        let off = self.terms.sub(p, base);
        let SizeBound::Exactly(size) = o.size else { return Err(NoInterpolant::SymbolicSize) };
        let last = size.checked_sub(bytes).ok_or(UNKNOWN)?;
        let last = self.terms.constant(self.terms.width(off), last);
        Ok((off, self.terms.ule(off, last)))
    }

    /// What a read through the pointer gives; goes with [`WpTransformer::among`].
    pub(crate) fn read_may_point_to(&mut self, p: TermId, objects: &[MayPointTo], bytes: u64) -> WpResult<TermId> {
        let mut value: Option<TermId> = None;
        for o in objects {
            let v = match o.off {
                Some(k) => self.contents(o.obj, k, bytes),
                None => self.chosen(p, o.obj, bytes, o.size.most(), o.aligned)?,
            };
            let within = self.distance(p, o, bytes)?.1;
            value = Some(value.map_or(v, |other| self.terms.ite(within, v, other)));
        }
        value.ok_or(UNKNOWN)
    }

    /// The value was written through the pointer; goes with [`WpTransformer::among`].
    pub(crate) fn write_may_point_to(
        &mut self,
        p: TermId,
        objects: &[MayPointTo],
        bytes: u64,
        v: TermId,
    ) -> WpResult<()> {
        // All at once: what is written may speak of cells that are written to.
        let mut map = rustc_hash::FxHashMap::default();
        for o in objects {
            let within = self.distance(p, o, bytes)?.1;
            match o.off {
                Some(k) => {
                    for (var, at, n) in self.cells_within(o.obj, k, bytes) {
                        let mut parts: Option<TermId> = None;
                        for i in at..at + n {
                            let old = self.cell(o.obj, i, 1);
                            let byte = match i >= k && i < k + bytes {
                                true => {
                                    let new = self.terms.extract(v, ((i - k) * 8) as u16, 8);
                                    self.terms.ite(within, new, old)
                                }
                                false => old,
                            };
                            parts = Some(parts.map_or(byte, |low| self.terms.concat(byte, low)));
                        }
                        let whole = match at >= k && at + n <= k + bytes {
                            true => {
                                let new = self.terms.extract(v, ((at - k) * 8) as u16, (n * 8) as u16);
                                self.terms.ite(within, new, var)
                            }
                            false => parts.unwrap_or(var),
                        };
                        map.insert(var, whole);
                    }
                }
                None => map.extend(self.symbolic_offset(p, o.obj, bytes, v, o.aligned)?),
            }
        }
        self.replace_all(&map);
        Ok(())
    }
}
