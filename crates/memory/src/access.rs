//! Reading and writing values of any width at constant offsets, byte-exactly.

use crate::object::{Background, ByteView, Contents, PAGE, ZeroPage};
use crate::value::{ObjId, Value};
use pleach_expr::{INDEX_BITS, Op, SymbolKind, SymbolOrigin, TermId, Terms};
use smallvec::SmallVec;

/// Copies of at most this many bytes decide uninitialised bytes, or source and copy would differ. Padding stays
/// undecided (less than a word, next to something written), and so do large buffers.
const MAX_DECIDED: u64 = 64;
/// Stores at symbolic offsets that a read of one byte chooses between, instead of being a read of the whole array.
const MAX_STORES: usize = 4;

/// Copies and fills of more bytes look whether they have to leave off.
const LONG: u64 = 1 << 16;

/// Byte `index` of a stored value of `bytes` bytes.
pub(crate) fn byte_of(terms: &mut Terms, value: Value, bytes: u8, index: u8) -> Value {
    match value {
        Value::Int(v) => Value::Int(v >> (8 * u32::from(index)) & 0xff),
        Value::Undef => Value::Undef,
        v => {
            let Some(t) = v.to_term(terms, u16::from(bytes) * 8) else { return Value::Undef };
            let b = terms.extract(t, u16::from(index) * 8, 8);
            Value::from_term(terms, b)
        }
    }
}

impl Contents {
    /// The integer or term at `off..off+n`; the caller checked the bounds. An uninitialised byte is decided here: the
    /// background becomes the array of fresh symbolic bytes of the object `obj`.
    pub fn read(&mut self, terms: &mut Terms, off: u64, n: usize, obj: ObjId) -> Value {
        if n <= 8
            && let Some(v) = self.read_concrete(off, n)
        {
            return Value::Int(v);
        }
        if let Some(v) = self.read_cell(off, n) {
            return v;
        }
        let mut acc: Option<TermId> = None;
        for i in 0..n as u64 {
            let t = self.byte_term(terms, off + i, obj);
            acc = Some(match acc {
                None => t,
                Some(low) => terms.concat(t, low),
            });
        }
        match acc {
            Some(t) => Value::from_term(terms, t),
            None => Value::Int(0),
        }
    }

    fn byte_term(&mut self, terms: &mut Terms, off: u64, obj: ObjId) -> TermId {
        match self.view(off) {
            ByteView::Concrete(b) => terms.constant(8, u64::from(b)),
            ByteView::Of { value, bytes, index } => match byte_of(terms, value, bytes, index) {
                Value::Int(b) => terms.constant(8, b),
                v => match v.to_term(terms, 8) {
                    Some(t) => t,
                    None => terms.constant(8, 0),
                },
            },
            ByteView::Background => {
                let (array, origin) = self.decide_background(terms, off, obj);
                let i = terms.constant(INDEX_BITS, off - origin);
                read_at_constant(terms, array, i)
            }
        }
    }

    /// The array behind the background byte at `off`, and the offset at which it begins.
    pub fn decide_background(&mut self, terms: &mut Terms, off: u64, obj: ObjId) -> (TermId, u64) {
        let part = self.part_at(off);
        match part.background {
            Background::Array(t) => (t, part.origin),
            Background::Zero => (terms.array_const(8, &[]), part.origin),
            Background::Uninit => {
                let len = u32::try_from(part.len).unwrap_or(u32::MAX);
                let origin = SymbolOrigin::Uninitialised { object: obj.0, start: part.start };
                let kind = SymbolKind::Array { element: 8, len };
                let name = || {
                    if part.start == 0 {
                        format!("uninit!{}", obj.0)
                    } else {
                        format!("uninit!{}+{}", obj.0, part.start)
                    }
                };
                let s = terms.symbols.intern(origin, kind, name);
                let a = terms.array_var(s);
                self.set_background(off, Background::Array(a));
                (a, part.origin)
            }
        }
    }

    /// Stores a value of `n` bytes. `Undef` leaves the bytes as if never written.
    pub fn write(&mut self, terms: &mut Terms, off: u64, n: usize, value: Value) {
        match value {
            Value::Int(v) if self.write_concrete(off, n, v) => {}
            Value::Int(v) => {
                for i in 0..n {
                    let b = if i < 8 { v >> (8 * i) & 0xff } else { 0 };
                    self.write_byte(off + i as u64, Value::Int(b), &mut |v, n, i| byte_of(terms, v, n, i));
                }
            }
            Value::Undef => {
                for i in 0..n as u64 {
                    if self.is_uninit(off + i) {
                        self.write_background(off + i, &mut |v, n, i| byte_of(terms, v, n, i));
                    }
                    // Otherwise the old byte stays: any value is allowed, so is the old one.
                }
            }
            v => self.write_cell(off, n, v, &mut |v, n, i| byte_of(terms, v, n, i)),
        }
    }

    fn is_unwritten(&self, off: u64) -> bool {
        matches!(self.view(off), ByteView::Background) && self.is_uninit(off)
    }

    /// Copies `n` bytes from `src` (a snapshot, so that overlap is harmless) to `off` here, keeping stored values
    /// whole.
    pub fn copy_from(&mut self, terms: &mut Terms, off: u64, src: &mut Contents, src_off: u64, n: u64, obj: ObjId) {
        let mut i = 0;
        let (mut looked, mut zero) = (LONG, ZeroPage::default());
        while i < n {
            let at = src_off + i;
            let whole = (self.size() - off - i).min(PAGE as u64);
            if n >= PAGE as u64 && n - i >= whole && self.share_page(off + i, src, at, &mut zero) {
                i += whole;
                continue;
            }
            if i >= looked {
                if terms.brake.pulled() {
                    return;
                }
                looked = i + PAGE as u64;
            }
            let in_page = (PAGE as u64 - at % PAGE as u64).min(n - i);
            let out_page = (PAGE as u64 - (off + i) % PAGE as u64).min(in_page);
            let run = src.concrete_slice(at, out_page as usize);
            if !run.is_empty() && self.write_slice(off + i, run) {
                i += run.len() as u64;
                continue;
            }
            match src.view(at) {
                ByteView::Of { value, bytes, index: 0 } if i + u64::from(bytes) <= n => {
                    self.write(terms, off + i, usize::from(bytes), value);
                    i += u64::from(bytes);
                }
                ByteView::Concrete(b) => {
                    self.write(terms, off + i, 1, Value::Int(u64::from(b)));
                    i += 1;
                }
                ByteView::Background if src.is_uninit(at) && self.is_uninit(off + i) => {
                    let both = |k: &u64| src.is_unwritten(src_off + k) && self.is_uninit(off + k);
                    let run = (i..n).take_while(both).count() as u64;
                    let decided = n <= MAX_DECIDED && (run == n || run >= 8);
                    let mut k = i;
                    while k < i + run {
                        let word = if decided { 1 << (i + run - k).min(8).ilog2() } else { 1 };
                        let v = if decided { src.read(terms, src_off + k, word, obj) } else { Value::Undef };
                        self.write(terms, off + k, word, v);
                        k += word as u64;
                    }
                    i += run;
                }
                _ => {
                    let v = src.read(terms, at, 1, obj);
                    self.write(terms, off + i, 1, v);
                    i += 1;
                }
            }
        }
    }

    /// Sets `n` bytes to one value.
    pub fn fill(&mut self, terms: &mut Terms, off: u64, n: u64, byte: Value) {
        if let Value::Int(b) = byte {
            let chunk = [b as u8; 256];
            let mut i = 0;
            while i < n {
                i += self.fill_pages(off + i, n - i, b as u8, &mut || !terms.brake.halted());
                if i == n || i >= LONG && terms.brake.pulled() {
                    return;
                }
                let k = (n - i).min(256 - (off + i) % 256);
                if !self.write_slice(off + i, &chunk[..k as usize]) {
                    for j in 0..k {
                        self.write(terms, off + i + j, 1, byte);
                    }
                }
                i += k;
            }
        } else {
            for i in 0..n {
                if i >= LONG && i % PAGE as u64 == 0 && terms.brake.pulled() {
                    return;
                }
                self.write(terms, off + i, 1, byte);
            }
        }
    }
}

/// An element of an array. Below few stores at symbolic offsets it is a choice: what the path says about the offset and
/// about the element are then constraints of their own.
fn read_at_constant(terms: &mut Terms, array: TermId, i: TermId) -> TermId {
    let mut stores: SmallVec<[(TermId, TermId); MAX_STORES]> = SmallVec::new();
    let mut below = array;
    while terms.op(below) == Op::Store {
        let n = terms.node(below);
        if stores.len() == MAX_STORES {
            return terms.read(array, i);
        }
        stores.push((n.arg_b(), n.arg_c()));
        below = n.arg_a();
    }
    let element = terms.read(below, i);
    stores.into_iter().rev().fold(element, |old, (at, value)| {
        let here = is_at(terms, at, i);
        terms.ite(here, value, old)
    })
}

/// The index of a store is this constant.
fn is_at(terms: &mut Terms, at: TermId, i: TermId) -> TermId {
    let n = terms.node(at);
    if n.op == Op::Extract && n.b == 0 {
        // SOUND: the offset of a store is within the object, so nothing of it was cut off to get an index; where it
        // means nothing, the store changes nothing.
        let offset = n.arg_a();
        let i = terms.resize_unsigned(i, terms.width(offset));
        return terms.eq(offset, i);
    }
    terms.eq(at, i)
}
