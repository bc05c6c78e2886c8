//! An object's contents: plain bytes in copy-on-write pages, with an overlay for pointers and symbolic values.
//!
//! *Idea*: each page has its bytes and, only where needed, a tag per byte: concrete, background, or part of a cell. A
//! cell is a whole value as it was stored (a pointer, a 4-byte term), so that reading it back with the same width gives
//! the same value without splitting it. The background is what a byte holds before it is written: zero, or a byte of an
//! array term (symbolic input, uninitialised memory, or the result of writes at symbolic offsets).

use crate::tags::{BACKGROUND, CELL, CONCRETE, REST};
use crate::value::Value;
use pleach_expr::TermId;
use smallvec::SmallVec;
use std::rc::Rc;

#[path = "merge_contents.rs"]
mod merge_contents;
#[path = "page.rs"]
mod page;
#[path = "parts.rs"]
mod parts;
#[path = "whole_pages.rs"]
mod whole_pages;
use page::Page;
pub use parts::Part;
pub(crate) use whole_pages::ZeroPage;

pub const PAGE: usize = 4096;

/// What a byte holds before anything is written to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Background {
    Zero,
    /// Never written. Reading decides it: the owner then turns it into an `Array` of fresh symbolic bytes.
    Uninit,
    /// byte `i` is `read(array, i)`
    Array(TermId),
}

/// A range of bytes that an access stays within.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    pub start: u64,
    pub len: u64,
}

impl Window {
    pub fn end(self) -> u64 {
        self.start + self.len
    }
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
    /// of all bytes, unless there are parts
    background: Background,
    /// in order; a byte in none of them has the background `Zero`. All pages exist then.
    parts: Option<Rc<Vec<Part>>>,
    pages: SmallVec<[Option<Rc<Page>>; 2]>,
}

impl Contents {
    pub fn new(size: u64, background: Background) -> Contents {
        Contents { size, background, parts: None, pages: SmallVec::new() }
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

    pub fn whole(&self) -> Window {
        Window { start: 0, len: self.size }
    }

    /// Consists of parts, and one of them is an array that writes at symbolic offsets made of several objects.
    pub fn is_array(&self) -> bool {
        match self.parts.as_ref().map(|p| &p[..]) {
            Some([p]) => p.start == 0 && p.len == self.size && matches!(p.background, Background::Array(_)),
            _ => false,
        }
    }

    pub(crate) fn background(&self) -> Background {
        self.background
    }

    /// The bytes of each page that exists, and their tags if not all are concrete.
    pub(crate) fn pages(&self) -> impl Iterator<Item = Option<(&[u8], Option<&[u8]>)>> {
        self.pages.iter().map(|p| {
            let p = p.as_deref()?;
            Some((&*p.bytes, p.tags.as_deref().filter(|_| p.special > 0)))
        })
    }

    /// What is stored in a window and is no concrete byte.
    pub fn held(&self, w: Window) -> Vec<Value> {
        let mut all: Vec<Value> =
            self.cells().filter(|(o, n, _)| *o < w.end() && w.start < o + u64::from(*n)).map(|c| c.2).collect();
        let whole = [self.part_at(w.start)];
        let parts = self.parts.as_ref().map_or(&whole[..], |p| p);
        for p in parts.iter().filter(|p| p.start < w.end() && w.start < p.start + p.len) {
            if let Background::Array(t) = p.background {
                all.push(Value::Term(t));
            }
        }
        all
    }

    /// Both have the very same page with this byte, or none.
    pub(crate) fn shares_page(&self, other: &Contents, off: u64) -> bool {
        let of = |c: &Contents| c.pages.get(off as usize / PAGE).cloned().flatten();
        match (of(self), of(other)) {
            (None, None) => true,
            (Some(a), Some(b)) => Rc::ptr_eq(&a, &b),
            _ => false,
        }
    }

    /// Something was written to the page with this byte.
    pub(crate) fn has_page(&self, off: u64) -> bool {
        self.pages.get(off as usize / PAGE).is_some_and(Option::is_some)
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

    /// The integer at `off..off+n` (n ≤ 8) if all its bytes are concrete and in one page. The caller checked the
    /// bounds.
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

    /// Writes a concrete integer; `false` if the general way must be taken (page border, or a cell that sticks out).
    #[inline]
    pub fn write_concrete(&mut self, off: u64, n: usize, value: u64) -> bool {
        let (p, o) = (off as usize / PAGE, off as usize % PAGE);
        if o + n > PAGE || n > 8 {
            return false;
        }
        let page = self.page_mut(p);
        if page.special != 0 && !page.make_room(o, n) {
            return false;
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
        if page.special == 0 {
            return None;
        }
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

    /// Stores a value of `n` bytes as a cell (bytes of it, if it crosses a page). `split(value, bytes, i)` gives byte
    /// `i` of a cell.
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
        if page.special != 0
            && let Some(same) = page.cells.get_mut(&(o as u16)).filter(|(bytes, _)| usize::from(*bytes) == n)
        {
            same.1 = value;
            return;
        }
        page.clear(o, n, split);
        let tags = page.tags_mut();
        tags[o] = CELL;
        tags[o + 1..o + n].fill(REST);
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

    /// The concrete bytes from `off` on, at most `n` and as far as they lie in one page.
    pub fn concrete_slice(&self, off: u64, n: usize) -> &[u8] {
        let (p, o) = (off as usize / PAGE, off as usize % PAGE);
        let Some(Some(page)) = self.pages.get(p) else { return &[] };
        let end = page.bytes.len().min(o + n);
        let run = match &page.tags {
            Some(t) if page.special != 0 => t[o..end].iter().position(|&t| t != CONCRETE).unwrap_or(end - o),
            _ => end - o,
        };
        &page.bytes[o..o + run]
    }

    /// Concrete bytes in one page, written at once; `false` if the general way must be taken.
    pub fn write_slice(&mut self, off: u64, data: &[u8]) -> bool {
        let (p, o) = (off as usize / PAGE, off as usize % PAGE);
        if o + data.len() > PAGE {
            return false;
        }
        let page = self.page_mut(p);
        if page.special != 0 && !page.make_room(o, data.len()) {
            return false;
        }
        page.bytes[o..o + data.len()].copy_from_slice(data);
        true
    }

    /// Everything becomes background `array`.
    pub fn reset(&mut self, background: Background) {
        self.pages.clear();
        self.parts = None;
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

    /// The stored values that are not concrete bytes, in their order: offset, bytes, value.
    pub fn cells(&self) -> impl Iterator<Item = (u64, u8, Value)> + '_ {
        self.pages.iter().enumerate().flat_map(|(i, p)| {
            let mut of_page: Vec<_> = p
                .iter()
                .flat_map(|p| p.cells.iter().map(|(&o, &(n, v))| ((i * PAGE) as u64 + u64::from(o), n, v)))
                .collect();
            of_page.sort_unstable_by_key(|cell| cell.0);
            of_page
        })
    }
}

#[cfg(test)]
#[path = "object_tests.rs"]
mod tests;
