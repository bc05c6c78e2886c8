//! Reads and writes at offsets that are not constant.
//!
//! *Idea*: what such a read gives is a choice between the words of the object, by the offset; after such a write every
//! byte that the condition mentions is the old one or the new one, by the offset. The offset is the pointer minus the
//! address of the object, which leaves no address behind once the pointer is known to be into it. *Invariant*: the
//! pointer is pinned to the object, and its offset is a multiple of the bytes accessed; both are part of the condition.

use crate::condition::PointsTo;
use crate::transformer::{NoInterpolant, WpResult, WpTransformer};
use pleach_expr::{TermId, Terms};
use pleach_memory::ObjId;
use pleach_memory::symbolic::{select, word_index};
use pleach_state::Access;
use rustc_hash::FxHashMap;

/// Objects of more words than this are not read at a symbolic offset.
const MAX_WORDS: u64 = 64;
/// Nor are constant ones of more.
const MAX_TABLE: u64 = 1 << 13;
/// More cells of an object are not guarded.
const MAX_CELLS: usize = 64;

impl WpTransformer<'_> {
    fn offset(&mut self, ptr: TermId, obj: ObjId) -> TermId {
        let base = self.terms.base(obj);
        self.terms.sub(ptr, base)
    }

    /// The pointer is into the object, its offset a multiple of `bytes`.
    pub(crate) fn require_word_pointer(&mut self, literal: PointsTo, bytes: u64) {
        let off = self.offset(literal.ptr, literal.obj);
        if bytes > 1 {
            let low = self.terms.extract(off, 0, bytes.trailing_zeros() as u16);
            let zero = self.terms.constant(self.terms.width(low), 0);
            let even = self.terms.eq(low, zero);
            self.require(even);
        }
        self.condition.require_points_to(literal);
        self.live.forget();
    }

    /// The word of an object that a pointer into it means; goes with [`WpTransformer::require_word_pointer`].
    pub(crate) fn chosen(&mut self, ptr: TermId, obj: ObjId, bytes: u64, size: u64, aligned: bool) -> WpResult<TermId> {
        let count = size / bytes;
        if !aligned || bytes > 8 || !size.is_multiple_of(bytes) || count > MAX_TABLE {
            return Err(NoInterpolant::ReadAtSymbolicOffset);
        }
        let off = self.offset(ptr, obj);
        let index = word_index(self.terms, off, bytes);
        let table: Option<Vec<u64>> = (0..count).map(|i| self.constant_bytes(obj, i * bytes, bytes)).collect();
        if let Some(table) = table {
            let array = self.terms.array_const((bytes * 8) as u16, &table);
            return Ok(self.terms.read(array, index));
        }
        if count > MAX_WORDS {
            return Err(NoInterpolant::ReadAtSymbolicOffset);
        }
        let words: Vec<TermId> = (0..count).map(|i| self.contents(obj, i * bytes, bytes)).collect();
        Ok(select(self.terms, index, &words, 0))
    }

    /// `bytes` bytes were written at a symbolic offset of the object. True if the condition mentions the object: goes
    /// with [`WpTransformer::require_word_pointer`].
    pub(crate) fn overwrite_symbolic_offset(
        &mut self,
        ptr: TermId,
        obj: ObjId,
        bytes: u64,
        value: TermId,
        aligned: bool,
    ) -> WpResult<bool> {
        let map = self.symbolic_offset(ptr, obj, bytes, value, aligned)?;
        self.replace_all(&map);
        Ok(!map.is_empty())
    }

    /// What becomes of the cells that the condition mentions.
    pub(crate) fn symbolic_offset(
        &mut self,
        ptr: TermId,
        obj: ObjId,
        bytes: u64,
        value: TermId,
        aligned: bool,
    ) -> WpResult<FxHashMap<TermId, TermId>> {
        let cells: Vec<_> = self.cells(obj).collect();
        let mut map: FxHashMap<TermId, TermId> = FxHashMap::default();
        if cells.is_empty() {
            return Ok(map);
        }
        if !aligned || cells.len() > MAX_CELLS {
            return Err(NoInterpolant::WriteAtSymbolicOffset);
        }
        let off = self.offset(ptr, obj);
        for (var, at, n) in cells {
            // Word by word of those written, byte-exactly at the ends.
            let mut parts: Vec<TermId> = Vec::new();
            let mut i = at;
            while i < at + n {
                let word = i / bytes * bytes;
                let len = (word + bytes).min(at + n) - i;
                let old = if len == n { var } else { self.cell(obj, i, len) };
                let new = self.terms.extract(value, ((i - word) * 8) as u16, (len * 8) as u16);
                let k = self.terms.constant(self.terms.width(off), word);
                let here = self.terms.eq(off, k);
                parts.push(self.terms.ite(here, new, old));
                i += len;
            }
            let whole = parts.into_iter().reduce(|low, high| self.terms.concat(high, low));
            map.insert(var, whole.unwrap_or(Terms::FALSE));
        }
        Ok(map)
    }

    /// Bytes were copied, from or to a symbolic offset.
    pub(crate) fn copied_within(&mut self, d: TermId, s: TermId, access: &Access) -> WpResult<u64> {
        let &Access::CopyWithin { to, to_off, from, from_off, from_size, len, whole } = access else {
            return Err(NoInterpolant::TraceMismatch);
        };
        let room = |off: Option<u64>| if off.is_some() { len } else { 0 };
        let looked_at = self.cells_within(to, to_off.unwrap_or(0), to_off.map_or(u64::MAX, |_| len)).next().is_some();
        if looked_at {
            if len > MAX_WORDS {
                return Err(NoInterpolant::CopyAtSymbolicOffset);
            }
            let word = if whole { len } else { 1 };
            let mut parts = Vec::new();
            for i in (0..len).step_by(word as usize) {
                parts.push(match from_off {
                    Some(off) => self.contents(from, off + i, word),
                    None => {
                        let k = self.terms.constant(self.terms.width(s), i);
                        let p = self.terms.add(s, k);
                        self.chosen(p, from, word, from_size.most(), true)?
                    }
                });
            }
            let value = parts.into_iter().reduce(|low, high| self.terms.concat(high, low)).unwrap_or(Terms::FALSE);
            match to_off {
                Some(off) => {
                    self.overwrite(to, off, len, |w, at, n| w.terms.extract(value, (at * 8) as u16, (n * 8) as u16))
                }
                None if whole => {
                    self.overwrite_symbolic_offset(d, to, len, value, true)?;
                    self.require_word_pointer(PointsTo { write: true, ..PointsTo::new(d, to, None) }, len);
                }
                None => self.overwrite_bytes(d, to, len, |w, i| w.terms.extract(value, (i * 8) as u16, 8))?,
            }
            if from_off.is_none() {
                self.require_word_pointer(PointsTo { size: Some(from_size), ..PointsTo::new(s, from, None) }, word);
            }
        }
        if looked_at || self.mentions_memory() {
            self.require_pointer(d, to, to_off, room(to_off), true)?;
        }
        if looked_at {
            self.require_pointer(s, from, from_off, room(from_off), false)?;
        }
        self.valid_unless_evident(d, to, to_off, len, true);
        self.valid_unless_evident(s, from, from_off, len, false);
        Ok(len)
    }

    /// Bytes at a symbolic offset of the object became this one.
    pub(crate) fn filled_within(&mut self, d: TermId, obj: ObjId, len: u64, byte: TermId) -> WpResult<()> {
        let off = self.offset(d, obj);
        let width = self.terms.width(off);
        self.bytes_become(obj, |w, at, old| {
            let at = w.terms.constant(width, at);
            let n = w.terms.constant(width, len);
            let distance = w.terms.sub(at, off);
            let here = w.terms.ult(distance, n);
            w.terms.ite(here, byte, old)
        })
    }

    /// Bytes were written at a symbolic offset of the object, not at a multiple of their number.
    fn overwrite_bytes(
        &mut self,
        ptr: TermId,
        obj: ObjId,
        len: u64,
        new: impl Fn(&mut Self, u64) -> TermId,
    ) -> WpResult<()> {
        let off = self.offset(ptr, obj);
        let width = self.terms.width(off);
        self.bytes_become(obj, |w, at, old| {
            let mut value = old;
            for i in 0..len.min(at + 1) {
                let start = w.terms.constant(width, at - i);
                let here = w.terms.eq(off, start);
                let byte = new(w, i);
                value = w.terms.ite(here, byte, value);
            }
            value
        })
    }

    /// Replaces every byte of the object that the condition mentions, by its offset and its old value.
    fn bytes_become(&mut self, obj: ObjId, new: impl Fn(&mut Self, u64, TermId) -> TermId) -> WpResult<()> {
        let cells: Vec<_> = self.cells(obj).collect();
        if cells.iter().map(|c| c.2 as usize).sum::<usize>() > MAX_CELLS {
            return Err(NoInterpolant::WriteAtSymbolicOffset);
        }
        let mut map: FxHashMap<TermId, TermId> = FxHashMap::default();
        for (var, at, n) in cells {
            let mut whole: Option<TermId> = None;
            for i in at..at + n {
                let old = self.cell(obj, i, 1);
                let byte = new(self, i, old);
                whole = Some(whole.map_or(byte, |low| self.terms.concat(byte, low)));
            }
            map.insert(var, whole.unwrap_or(var));
        }
        self.replace_all(&map);
        Ok(())
    }
}
