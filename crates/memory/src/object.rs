//! An object's contents: plain bytes in copy-on-write pages, with an overlay for pointers and symbolic values.
//!
//! *Idea*: each page has its bytes and, only where needed, a tag per byte: concrete, background, or part of a cell. A cell is
//! a whole value as it was stored (a pointer, a 4-byte term), so that reading it back with the same width gives the same
//! value without taking it apart. The background is what a byte holds before it is written: zero, or a byte of an array
//! term (symbolic input, uninitialised memory, or the result of writes at symbolic offsets).
//! *Invariant*: `special` = number of bytes whose tag is not `CONCRETE`; cells of a page do not overlap and lie in it.

use crate::value::Value;
use pleach_expr::TermId;
use std::collections::BTreeMap;
use std::rc::Rc;

pub const PAGE: usize = 4096;

const CONCRETE: u8 = 0;
const BACKGROUND: u8 = 1;
const CELL: u8 = 2;

/// What a byte holds before anything is written to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Background {
    Zero,
    /// Never written. Reading decides it: the owner then turns it into an `Array` of fresh symbolic bytes.
    Uninit,
    /// byte `i` is `read(array, i)`
    Array(TermId),
}

#[derive(Clone, Debug)]
struct Page {
    bytes: Box<[u8]>,
    /// absent: all bytes are concrete
    tags: Option<Box<[u8]>>,
    special: u32,
    /// offset in the page → (bytes, value)
    cells: BTreeMap<u16, (u8, Value)>,
}

/// One byte, looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ByteView {
    Concrete(u8),
    /// byte `index` of a stored value of `bytes` bytes
    Of {
        value: Value,
        bytes: u8,
        index: u8,
    },
    /// byte of the background
    Background,
}

#[derive(Clone, Debug)]
pub struct Contents {
    size: u64,
    pub background: Background,
    pages: Vec<Option<Rc<Page>>>,
}

impl Page {
    fn new(len: usize, background: Background) -> Page {
        let plain = background == Background::Zero;
        Page {
            bytes: vec![0u8; len].into(),
            tags: if plain { None } else { Some(vec![BACKGROUND; len].into()) },
            special: if plain { 0 } else { len as u32 },
            cells: BTreeMap::new(),
        }
    }

    #[inline]
    fn is_concrete(&self, off: usize, n: usize) -> bool {
        self.special == 0 || self.tags.as_ref().is_none_or(|t| t[off..off + n].iter().all(|&x| x == CONCRETE))
    }

    /// The cell that covers `off`.
    fn cell_at(&self, off: usize) -> Option<(usize, u8, Value)> {
        let (&start, &(bytes, value)) = self.cells.range(..=off as u16).next_back()?;
        (off < usize::from(start) + usize::from(bytes)).then_some((usize::from(start), bytes, value))
    }

    fn view(&self, off: usize) -> ByteView {
        match self.tags.as_ref().map_or(CONCRETE, |t| t[off]) {
            CONCRETE => ByteView::Concrete(self.bytes[off]),
            BACKGROUND => ByteView::Background,
            _ => match self.cell_at(off) {
                Some((start, bytes, value)) => ByteView::Of { value, bytes, index: (off - start) as u8 },
                None => unreachable!("a byte tagged as cell lies in a cell"),
            },
        }
    }

    fn tags_mut(&mut self) -> &mut [u8] {
        let len = self.bytes.len();
        self.tags.get_or_insert_with(|| vec![CONCRETE; len].into())
    }

    /// Makes room for a write: cells that `off..off+n` touches are removed; what sticks out of one is kept as one-byte
    /// cells through `split`, which gives the value of a single byte of a cell.
    fn clear(&mut self, off: usize, n: usize, split: &mut dyn FnMut(Value, u8, u8) -> Value) {
        if self.special == 0 {
            return;
        }
        while let Some((start, bytes, value)) = self.cell_overlapping(off, n) {
            self.cells.remove(&(start as u16));
            for i in 0..bytes {
                let at = start + usize::from(i);
                if at < off || at >= off + n {
                    match split(value, bytes, i) {
                        Value::Int(b) => {
                            self.bytes[at] = b as u8;
                            self.tags_mut()[at] = CONCRETE;
                            self.special -= 1;
                        }
                        v => {
                            self.cells.insert(at as u16, (1, v));
                        }
                    }
                }
            }
        }
        let mut cleared = 0;
        if let Some(tags) = &mut self.tags {
            for t in &mut tags[off..off + n] {
                cleared += u32::from(*t != CONCRETE);
                *t = CONCRETE;
            }
        }
        self.special -= cleared;
        if self.special == 0 {
            self.tags = None;
        }
    }

    fn cell_overlapping(&self, off: usize, n: usize) -> Option<(usize, u8, Value)> {
        let (&start, &(bytes, value)) = self.cells.range(..(off + n) as u16).next_back()?;
        (usize::from(start) + usize::from(bytes) > off).then_some((usize::from(start), bytes, value))
    }
}

impl Contents {
    pub fn new(size: u64, background: Background) -> Contents {
        Contents { size, background, pages: Vec::new() }
    }

    pub fn from_bytes(bytes: &[u8]) -> Contents {
        let mut c = Contents::new(bytes.len() as u64, Background::Zero);
        for (i, chunk) in bytes.chunks(PAGE).enumerate() {
            if chunk.iter().any(|&b| b != 0) {
                c.page_mut(i).bytes.copy_from_slice(chunk);
            }
        }
        c
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    fn page_len(&self, i: usize) -> usize {
        (self.size - (i * PAGE) as u64).min(PAGE as u64) as usize
    }

    fn page_mut(&mut self, i: usize) -> &mut Page {
        if self.pages.len() <= i {
            self.pages.resize(i + 1, None);
        }
        if self.pages[i].is_none() {
            self.pages[i] = Some(Rc::new(Page::new(self.page_len(i), self.background)));
        }
        match &mut self.pages[i] {
            Some(p) => Rc::make_mut(p),
            None => unreachable!("just filled"),
        }
    }

    /// The integer at `off..off+n` (n ≤ 8) if all its bytes are concrete and in one page. The caller checked the bounds.
    #[inline]
    pub fn read_concrete(&self, off: u64, n: usize) -> Option<u64> {
        let (p, o) = (off as usize / PAGE, off as usize % PAGE);
        if o + n > PAGE {
            return None;
        }
        match self.pages.get(p) {
            Some(Some(page)) => {
                if !page.is_concrete(o, n) {
                    return None;
                }
                let b = &page.bytes[o..o + n];
                Some(match n {
                    1 => u64::from(b[0]),
                    2 => u64::from(u16::from_le_bytes([b[0], b[1]])),
                    4 => u64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]])),
                    8 => u64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]),
                    _ => b.iter().rev().fold(0, |acc, &x| acc << 8 | u64::from(x)),
                })
            }
            _ => (self.background == Background::Zero).then_some(0),
        }
    }

    /// Writes a concrete integer; `false` if the general way must be taken (page border, or cells in the way).
    #[inline]
    pub fn write_concrete(&mut self, off: u64, n: usize, value: u64) -> bool {
        let (p, o) = (off as usize / PAGE, off as usize % PAGE);
        if o + n > PAGE || n > 8 {
            return false;
        }
        let page = self.page_mut(p);
        if page.special != 0 {
            if page.cell_overlapping(o, n).is_some() {
                return false;
            }
            page.clear(o, n, &mut |v, _, _| v);
        }
        let b = &mut page.bytes[o..o + n];
        let bytes = value.to_le_bytes();
        match n {
            1 => b[0] = bytes[0],
            2 => b.copy_from_slice(&bytes[..2]),
            4 => b.copy_from_slice(&bytes[..4]),
            8 => b.copy_from_slice(&bytes[..8]),
            _ => b.copy_from_slice(&bytes[..n]),
        }
        true
    }

    /// The value stored at exactly `off` with exactly `n` bytes, if a cell holds one.
    #[inline]
    pub fn read_cell(&self, off: u64, n: usize) -> Option<Value> {
        let page = self.pages.get(off as usize / PAGE)?.as_ref()?;
        let &(bytes, value) = page.cells.get(&((off as usize % PAGE) as u16))?;
        (usize::from(bytes) == n).then_some(value)
    }

    pub fn view(&self, off: u64) -> ByteView {
        match self.pages.get(off as usize / PAGE) {
            Some(Some(p)) => p.view(off as usize % PAGE),
            _ if self.background == Background::Zero => ByteView::Concrete(0),
            _ => ByteView::Background,
        }
    }

    /// Stores a value of `n` bytes as a cell (bytes of it, if it crosses a page). `split(value, bytes, i)` gives byte `i` of a cell.
    pub fn write_cell(&mut self, off: u64, n: usize, value: Value, split: &mut dyn FnMut(Value, u8, u8) -> Value) {
        let (p, o) = (off as usize / PAGE, off as usize % PAGE);
        if o + n > PAGE || n > usize::from(u8::MAX) {
            for i in 0..n {
                let byte = split(value, n as u8, i as u8);
                self.write_byte(off + i as u64, byte, split);
            }
            return;
        }
        let page = self.page_mut(p);
        page.clear(o, n, split);
        page.tags_mut()[o..o + n].fill(CELL);
        page.special += n as u32;
        page.cells.insert(o as u16, (n as u8, value));
    }

    /// Writes one byte: concrete (`Int`) or a one-byte cell.
    pub fn write_byte(&mut self, off: u64, value: Value, split: &mut dyn FnMut(Value, u8, u8) -> Value) {
        match value {
            Value::Int(b) => {
                let (p, o) = (off as usize / PAGE, off as usize % PAGE);
                let page = self.page_mut(p);
                page.clear(o, 1, split);
                page.bytes[o] = b as u8;
            }
            v => self.write_cell(off, 1, v, split),
        }
    }

    /// Makes a byte background again (never written).
    pub fn write_background(&mut self, off: u64, split: &mut dyn FnMut(Value, u8, u8) -> Value) {
        let (p, o) = (off as usize / PAGE, off as usize % PAGE);
        let page = self.page_mut(p);
        page.clear(o, 1, split);
        page.tags_mut()[o] = BACKGROUND;
        page.special += 1;
    }

    /// All bytes concrete from `off` for `n` bytes, as a slice, if they lie in one page.
    pub fn concrete_slice(&self, off: u64, n: usize) -> Option<&[u8]> {
        let (p, o) = (off as usize / PAGE, off as usize % PAGE);
        let page = self.pages.get(p)?.as_ref()?;
        (o + n <= page.bytes.len() && page.is_concrete(o, n)).then(|| &page.bytes[o..o + n])
    }

    /// Concrete bytes in one page, written at once; `false` if the general way must be taken.
    pub fn write_slice(&mut self, off: u64, data: &[u8]) -> bool {
        let (p, o) = (off as usize / PAGE, off as usize % PAGE);
        if o + data.len() > PAGE {
            return false;
        }
        let page = self.page_mut(p);
        if page.special != 0 {
            if page.cell_overlapping(o, data.len()).is_some() {
                return false;
            }
            page.clear(o, data.len(), &mut |v, _, _| v);
        }
        page.bytes[o..o + data.len()].copy_from_slice(data);
        true
    }

    /// Everything becomes background `array`.
    pub fn reset(&mut self, background: Background) {
        self.pages.clear();
        self.background = background;
    }

    /// The object is one value-free block: nothing was written over the background.
    pub fn is_untouched(&self) -> bool {
        self.pages.iter().all(Option::is_none)
    }

    /// Bytes held, about (shared pages count fully).
    pub fn memory(&self) -> usize {
        self.pages
            .iter()
            .flatten()
            .map(|p| p.bytes.len() * (1 + usize::from(p.tags.is_some())) + p.cells.len() * 32)
            .sum()
    }

    /// The stored values that are not concrete bytes: offset, bytes, value.
    pub fn cells(&self) -> impl Iterator<Item = (u64, u8, Value)> + '_ {
        self.pages.iter().enumerate().flat_map(|(i, p)| {
            p.iter()
                .flat_map(move |p| p.cells.iter().map(move |(&o, &(n, v))| ((i * PAGE) as u64 + u64::from(o), n, v)))
        })
    }
}
