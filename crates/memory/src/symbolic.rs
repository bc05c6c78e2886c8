//! Reading and writing at symbolic offsets.
//!
//! *Idea*: an offset that is a choice between constants ([`crate::constant_offsets`]) makes the value one. Otherwise an access
//! that can be at few places ([`crate::known_bits`]) works on the words there: a read is a balanced `ite` over them (a
//! table look-up where all are constants), a write guards each word. Pointers stay whole that way, so that a pointer
//! read through a symbolic index is an `ite` over bases, which is resolved without the solver. Everything
//! else goes through a byte array term. *Invariant*: the caller has made sure that the offset is in bounds on this
//! path.

use crate::access::byte_of;
use crate::constant_offsets::Offsets;
use crate::known_bits::{Places, low_bits};
use crate::object::{ByteView, Contents, PAGE, Window};
use crate::value::{ObjId, Value};
use pleach_expr::{INDEX_BITS, TermId, Terms};

/// A read over at most this many words becomes an `ite` over the words.
const READ_WORDS: u64 = 512;
/// With at most this many runs of equal words, in at most this many words, it becomes one over the runs: a large hash
/// table with few entries.
const READ_RUNS: usize = 512;
const RUN_WORDS: u64 = 1 << 14;
/// A write over at most this many words guards every word.
const WRITE_WORDS: u64 = 64;
/// A read of constants at more locations than this is no table of them.
const TABLE_WORDS: u64 = 1 << 20;
/// A table of more bytes may be written as an empty one that few bytes are stored into.
const SPARSE_TABLE: usize = 1 << 20;
/// Arrays of more bytes look whether they have to leave off.
const LONG: usize = 1 << 16;
/// With at most this many overlapping locations it guards every byte.
const OVERLAPPING: usize = 8;

/// A number of low bits of `t` known to be zero.
pub fn trailing_zeros(terms: &Terms, t: TermId) -> u16 {
    let (known, bits) = low_bits(terms, t);
    known.min(bits.trailing_zeros() as u16)
}

/// The index of the word at byte offset `off` (words of `n` bytes, `n` a power of two).
pub fn word_index(terms: &mut Terms, off: TermId, n: u64) -> TermId {
    let shift = n.trailing_zeros() as u16;
    let w = terms.width(off);
    let high = terms.extract(off, shift, w - shift);
    terms.resize_unsigned(high, INDEX_BITS)
}

impl Contents {
    /// The places at which a guarded write to the window would have to change a word; `None` where it cannot be done
    /// word by word.
    fn write_places(&self, terms: &Terms, w: Window, off: TermId, n: u64) -> Option<Places> {
        Places::of(terms, off, n, w).filter(|p| p.count <= WRITE_WORDS)
    }

    /// How many these are.
    pub fn write_words(&self, terms: &Terms, w: Window, off: TermId, n: u64) -> Option<u64> {
        match Offsets::of(terms, off) {
            Some(offsets) if few(n) => {
                Some(offsets.leaves(&|k| fits(w, k, n)).len() as u64).filter(|k| *k <= WRITE_WORDS)
            }
            _ => self.write_places(terms, w, off, n).map(|p| p.count),
        }
    }

    /// The value of `n` bytes at an offset that is a choice between constants, as that choice.
    fn read_choice(&mut self, terms: &mut Terms, w: Window, off: TermId, n: u64, uninit: ObjId) -> Option<TermId> {
        let offsets = Offsets::of(terms, off).filter(|_| few(n))?;
        let mut undefined = false;
        let value = offsets.choose(terms, &mut |terms, k| {
            let at = fits(w, k, n).then_some(w.start + k)?;
            let word = self.read(terms, at, n as usize, uninit).to_term(terms, (n * 8) as u16);
            undefined |= word.is_none();
            word
        });
        value.filter(|_| !undefined)
    }

    /// The places that a write of `n` bytes can be at, where there are few and they do not overlap, and when it is at
    /// each.
    fn write_guards(&self, terms: &mut Terms, w: Window, off: TermId, n: u64) -> Option<Vec<(u64, TermId)>> {
        if let Some(offsets) = Offsets::of(terms, off).filter(|_| few(n)) {
            let leaves = offsets.leaves(&|k| fits(w, k, n));
            let disjoint = leaves.windows(2).all(|k| k[1] - k[0] >= n);
            if disjoint && !leaves.is_empty() && leaves.len() as u64 <= WRITE_WORDS {
                return Some(leaves.into_iter().map(|k| (w.start + k, offsets.is(terms, k))).collect());
            }
        }
        let places = self.write_places(terms, w, off, n)?;
        // SOUND: where the offset means something, it is one of these.
        let when = |i: u64, terms: &mut Terms| {
            let k = terms.constant(terms.width(off), places.at(i) - w.start);
            terms.eq(off, k)
        };
        Some((0..places.count).map(|i| (places.at(i), when(i, terms))).collect())
    }

    /// The words at these places as runs of equal ones, each with the index of its first; `None` if there are too many
    /// to choose between.
    fn runs(&mut self, terms: &mut Terms, places: Places, n: u64, uninit: ObjId) -> Option<Vec<(u64, TermId)>> {
        if n < 4 || places.count > RUN_WORDS {
            return None;
        }
        let mut runs: Vec<(u64, TermId)> = Vec::new();
        for i in 0..places.count {
            let word = match self.read_concrete(places.at(i), n as usize) {
                Some(v) => terms.constant((n * 8) as u16, v),
                None => self.read(terms, places.at(i), n as usize, uninit).to_term(terms, (n * 8) as u16)?,
            };
            if runs.last().is_none_or(|(_, last)| *last != word) {
                if runs.len() == READ_RUNS {
                    return None;
                }
                runs.push((i, word));
            }
        }
        Some(runs)
    }

    /// An array of the words at these places, where each is concrete or was stored as a whole.
    fn word_array(&self, terms: &mut Terms, places: Places, n: u64) -> Option<TermId> {
        if n < 4 || places.count > RUN_WORDS {
            return None;
        }
        let width = (n * 8) as u16;
        let mut table = vec![0; places.count as usize];
        let mut stored: Vec<(u64, TermId)> = Vec::new();
        for i in 0..places.count {
            match self.read_concrete(places.at(i), n as usize) {
                Some(v) => table[i as usize] = v,
                None => stored.push((i, self.read_cell(places.at(i), n as usize)?.to_term(terms, width)?)),
            }
        }
        let mut array = terms.array_const(width, &table);
        for (i, word) in stored {
            let at = terms.constant(INDEX_BITS, i);
            array = terms.store(array, at, word);
        }
        Some(array)
    }

    /// The value of `n` bytes at the symbolic offset `off` of the window, where there are not too many places it can be
    /// at.
    fn read_places(&mut self, terms: &mut Terms, w: Window, off: TermId, n: u64, uninit: ObjId) -> Option<TermId> {
        let places = Places::of(terms, off, n, w)?;
        let width = (n * 8) as u16;
        if places.count > TABLE_WORDS {
            return None;
        }
        let concrete: Option<Vec<u64>> =
            (0..places.count).map(|i| self.read_concrete(places.at(i), n as usize)).collect();
        if let Some(table) = concrete {
            let index = places.index(terms, off);
            let array = terms.array_const(width, &table);
            return Some(terms.read(array, index));
        }
        if places.count <= READ_WORDS && !self.is_background(w) {
            let words: Option<Vec<TermId>> = (0..places.count)
                .map(|i| self.read(terms, places.at(i), n as usize, uninit).to_term(terms, width))
                .collect();
            if let Some(words) = words {
                let index = places.index(terms, off);
                return Some(select(terms, index, &words, 0));
            }
        }
        if !self.is_background(w)
            && let Some(runs) = self.runs(terms, places, n, uninit)
        {
            let index = places.index(terms, off);
            return Some(select_run(terms, index, &runs));
        }
        let array = self.word_array(terms, places, n)?;
        let index = places.index(terms, off);
        Some(terms.read(array, index))
    }

    /// The value of `n` bytes at the symbolic offset `off` of the window.
    pub fn read_at(&mut self, terms: &mut Terms, w: Window, off: TermId, n: u64, uninit: ObjId) -> Value {
        let chosen = self.read_choice(terms, w, off, n, uninit);
        if let Some(t) = chosen.or_else(|| self.read_places(terms, w, off, n, uninit)) {
            return Value::from_term(terms, t);
        }
        self.read_array(terms, w, off, n, uninit)
    }

    /// The same through the byte array of the bytes around the window.
    pub fn read_array(&mut self, terms: &mut Terms, w: Window, off: TermId, n: u64, uninit: ObjId) -> Value {
        let (array, origin) = match self.pure_array(w) {
            Some(pure) => pure,
            None => {
                let around = self.around(w);
                (self.flatten(terms, around, uninit), around.start)
            }
        };
        let index = shifted_index(terms, off, w.start - origin);
        let mut acc = None;
        for i in 0..n {
            let k = terms.constant(INDEX_BITS, i);
            let at = terms.add(index, k);
            let b = terms.read(array, at);
            acc = Some(match acc {
                None => b,
                Some(low) => terms.concat(b, low),
            });
        }
        acc.map_or(Value::Int(0), |t| Value::from_term(terms, t))
    }

    /// Stores `n` bytes at the symbolic offset `off` of the window where `guard` holds; elsewhere the offset means
    /// nothing.
    #[allow(clippy::too_many_arguments)]
    pub fn write_at(
        &mut self,
        terms: &mut Terms,
        w: Window,
        guard: TermId,
        off: TermId,
        n: u64,
        value: TermId,
        uninit: ObjId,
    ) {
        if let Some(places) = self.write_guards(terms, w, off, n) {
            let olds: Option<Vec<TermId>> = places
                .iter()
                .map(|(at, _)| self.read(terms, *at, n as usize, uninit).to_term(terms, (n * 8) as u16))
                .collect();
            if let Some(olds) = olds {
                for ((at, here), old) in places.into_iter().zip(olds) {
                    let here = terms.and(guard, here);
                    let new = terms.ite(here, value, old);
                    if new != old {
                        let v = Value::from_term(terms, new);
                        self.write(terms, at, n as usize, v);
                    }
                }
                return;
            }
        }
        if self.write_bytes(terms, w, guard, off, n, value, uninit).is_some() {
            return;
        }
        let around = self.around(w);
        let mut array = self.flatten(terms, around, uninit);
        let index = shifted_index(terms, off, w.start - around.start);
        for i in 0..n {
            let k = terms.constant(INDEX_BITS, i);
            let at = terms.add(index, k);
            let mut b = terms.extract(value, (i * 8) as u16, 8);
            if guard != Terms::TRUE {
                let old = terms.read(array, at);
                b = terms.ite(guard, b, old);
            }
            array = terms.store(array, at, b);
        }
        self.become_array(around, array, &mut |v, n, i| byte_of(terms, v, n, i));
    }

    /// The same byte by byte, where the places that it can be at are few and overlap.
    #[allow(clippy::too_many_arguments)]
    fn write_bytes(
        &mut self,
        terms: &mut Terms,
        w: Window,
        guard: TermId,
        off: TermId,
        n: u64,
        value: TermId,
        uninit: ObjId,
    ) -> Option<()> {
        let offsets = Offsets::of(terms, off)?;
        let leaves = offsets.leaves(&|k| fits(w, k, n));
        if leaves.is_empty() || leaves.len() > OVERLAPPING || n > 8 {
            return None;
        }
        let mut touched: Vec<u64> = leaves.iter().flat_map(|k| *k..k + n).collect();
        touched.sort_unstable();
        touched.dedup();
        let mut bytes = Vec::with_capacity(touched.len());
        for at in touched {
            let old = self.read(terms, w.start + at, 1, uninit).to_term(terms, 8)?;
            let mut byte = old;
            for &k in leaves.iter().filter(|k| (**k..**k + n).contains(&at)) {
                let here = offsets.is(terms, k);
                let here = terms.and(guard, here);
                let new = terms.extract(value, ((at - k) * 8) as u16, 8);
                byte = terms.ite(here, new, byte);
            }
            if byte != old {
                bytes.push((w.start + at, byte));
            }
        }
        for (at, byte) in bytes {
            let v = Value::from_term(terms, byte);
            self.write(terms, at, 1, v);
        }
        Some(())
    }

    /// A window of whole parts as one byte array term that begins there. Of a large object only the pages that were
    /// written to are looked at.
    pub fn flatten(&mut self, terms: &mut Terms, w: Window, uninit: ObjId) -> TermId {
        let mut bytes = self.bytes_in(terms, w);
        // One array behind all of it is written over; several are read byte by byte.
        let behind = bytes.background.first().map(|i| self.part_at(w.start + i));
        let one = behind.filter(|p| p.own && p.start == w.start && p.len == w.len && p.origin == w.start);
        let mut array = match one {
            Some(_) => self.decide_background(terms, w.start, uninit).0,
            None => {
                bytes.others.append(&mut bytes.background);
                bytes.take_table(terms, w.len as usize)
            }
        };
        for (k, (i, b)) in bytes.concrete.into_iter().enumerate() {
            if k % LONG == LONG - 1 && terms.brake.pulled() {
                break;
            }
            let at = terms.constant(INDEX_BITS, i);
            let b = terms.constant(8, u64::from(b));
            array = terms.store(array, at, b);
        }
        for (k, i) in bytes.others.into_iter().enumerate() {
            if k % LONG == LONG - 1 && terms.brake.pulled() {
                break;
            }
            let at = terms.constant(INDEX_BITS, i);
            if let Some(b) = self.read(terms, w.start + i, 1, uninit).to_term(terms, 8) {
                array = terms.store(array, at, b);
            }
        }
        array
    }

    /// What the window holds. Bytes of pages that nobody wrote to are left out: their background is one, and of it one
    /// byte is enough.
    fn bytes_in(&self, terms: &mut Terms, w: Window) -> Bytes {
        let mut bytes = Bytes::default();
        let mut i = 0;
        while i < w.len {
            let end = ((w.start + i) / PAGE as u64 + 1) * PAGE as u64 - w.start;
            let page = i..end.min(w.len);
            i = page.end;
            if i >= LONG as u64 && terms.brake.pulled() {
                break;
            }
            if !self.has_parts() && !self.has_page(w.start + page.start) {
                if self.view(w.start + page.start) == ByteView::Background {
                    bytes.background.push(page.start);
                }
                continue;
            }
            for i in page {
                match self.view(w.start + i) {
                    ByteView::Concrete(b) => bytes.concrete.push((i, b)),
                    ByteView::Background => bytes.background.push(i),
                    ByteView::Of { .. } => bytes.others.push(i),
                }
            }
        }
        bytes
    }
}

/// The bytes of a window by what they are, with their offsets.
#[derive(Default)]
struct Bytes {
    concrete: Vec<(u64, u8)>,
    background: Vec<u64>,
    others: Vec<u64>,
}

impl Bytes {
    /// The concrete bytes as a table, and none of them left; as an empty table where they are few and sparse.
    fn take_table(&mut self, terms: &mut Terms, len: usize) -> TermId {
        self.concrete.retain(|(_, b)| *b != 0);
        if len > SPARSE_TABLE && len / 16 > self.concrete.len() {
            return terms.array_const(8, &[]);
        }
        if len > SPARSE_TABLE && terms.brake.pulled() {
            self.concrete.clear();
            return terms.array_const(8, &[]);
        }
        let mut table = vec![0u64; len];
        for (i, b) in std::mem::take(&mut self.concrete) {
            table[i as usize] = u64::from(b);
        }
        terms.array_const(8, &table)
    }
}

/// Sizes of accesses that words are made of.
fn few(n: u64) -> bool {
    n.is_power_of_two() && n <= 8
}

/// The window has `n` bytes at `k`.
fn fits(w: Window, k: u64, n: u64) -> bool {
    w.len.checked_sub(n).is_some_and(|last| k <= last)
}

/// An offset of a window as an index of the array that begins `before` bytes earlier.
fn shifted_index(terms: &mut Terms, off: TermId, before: u64) -> TermId {
    let index = terms.resize_unsigned(off, INDEX_BITS);
    let k = terms.constant(INDEX_BITS, before);
    terms.add(index, k)
}

/// `words[index - first]` as a balanced `ite`; equal neighbours collapse.
pub fn select(terms: &mut Terms, index: TermId, words: &[TermId], first: u64) -> TermId {
    match words {
        [] => unreachable!("an object that is read has at least one word"),
        [only] => *only,
        _ if words.iter().all(|w| *w == words[0]) => words[0],
        _ => {
            let mid = words.len() / 2;
            let low = select(terms, index, &words[..mid], first);
            let high = select(terms, index, &words[mid..], first + mid as u64);
            let m = terms.constant(INDEX_BITS, first + mid as u64);
            let below = terms.ult(index, m);
            terms.ite(below, low, high)
        }
    }
}

/// The word at `index` as a balanced `ite`; `runs` are equal words, each with the index of its first.
fn select_run(terms: &mut Terms, index: TermId, runs: &[(u64, TermId)]) -> TermId {
    match runs {
        [] => unreachable!("an object that is read has at least one word"),
        [(_, only)] => *only,
        _ => {
            let (low, high) = runs.split_at(runs.len() / 2);
            let first = high[0].0;
            let (low, high) = (select_run(terms, index, low), select_run(terms, index, high));
            let m = terms.constant(INDEX_BITS, first);
            let below = terms.ult(index, m);
            terms.ite(below, low, high)
        }
    }
}
