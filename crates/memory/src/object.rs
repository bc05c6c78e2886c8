//! An object's contents: plain bytes in copy-on-write pages, with an overlay for pointers and symbolic values.
//!
//! *Idea*: each page has its bytes and, only where needed, a tag per byte: concrete, background, or part of a cell. A
//! cell is a whole value as it was stored (a pointer, a 4-byte term), so that reading it back with the same width gives
//! the same value without splitting it. The background is what a byte holds before it is written: zero, or a byte of an
//! array term (symbolic input, uninitialised memory, or the result of writes at symbolic offsets). *Invariant*:
//! `special` = number of bytes whose tag is not `CONCRETE`; cells of a page do not overlap and lie in it; the first
//! byte of a cell is tagged `CELL`, the others `REST`.

use crate::tags::{self, BACKGROUND, CELL, CONCRETE, REST};
use crate::value::Value;
use pleach_expr::{Brake, TermId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;

#[path = "whole_pages.rs"]
mod whole_pages;
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

/// Bytes with a background of their own: of an object that became part of a segment, or of a piece of one that was
/// split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    pub start: u64,
    pub len: u64,
    pub background: Background,
    /// byte `i` of the contents is byte `i - origin` of the array
    pub origin: u64,
    /// the array has nothing but this part
    pub own: bool,
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

#[derive(Clone, Debug)]
struct Page {
    bytes: Box<[u8]>,
    /// absent: all bytes are concrete
    tags: Option<Box<[u8]>>,
    special: u32,
    /// offset in the page → (bytes, value)
    cells: FxHashMap<u16, (u8, Value)>,
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

impl Page {
    fn new(len: usize, background: Background) -> Page {
        let plain = background == Background::Zero;
        Page {
            bytes: vec![0u8; len].into(),
            tags: if plain { None } else { Some(vec![BACKGROUND; len].into()) },
            special: if plain { 0 } else { len as u32 },
            cells: FxHashMap::default(),
        }
    }

    #[inline]
    fn is_concrete(&self, off: usize, n: usize) -> bool {
        self.special == 0 || self.tags.as_ref().is_none_or(|t| tags::all_concrete(&t[off..off + n]))
    }

    /// The cell that covers `off`.
    fn cell_at(&self, off: usize) -> Option<(usize, u8, Value)> {
        let tags = self.tags.as_ref()?;
        let mut start = off;
        while tags[start] == REST {
            start -= 1;
        }
        let &(bytes, value) = self.cells.get(&(start as u16)).filter(|_| tags[start] == CELL)?;
        Some((start, bytes, value))
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
                let kept = if at < off || at >= off + n { Some(split(value, bytes, i)) } else { None };
                let tag = match kept {
                    Some(Value::Int(b)) => {
                        self.bytes[at] = b as u8;
                        CONCRETE
                    }
                    Some(v) => {
                        self.cells.insert(at as u16, (1, v));
                        CELL
                    }
                    None => CONCRETE,
                };
                self.special -= u32::from(tag == CONCRETE);
                self.tags_mut()[at] = tag;
            }
        }
        self.make_concrete(off, n);
    }

    /// Bytes in no cell become concrete ones.
    fn make_concrete(&mut self, off: usize, n: usize) {
        if let Some(tags) = &mut self.tags {
            let tags = &mut tags[off..off + n];
            self.special -= tags::special(tags);
            tags.fill(CONCRETE);
        }
        // Small objects that hold a pointer now and a number then keep their tags.
        if self.special == 0 && self.bytes.len() > 64 {
            self.tags = None;
        }
    }

    /// Room for `n` concrete bytes: cells that lie within are removed. `false`, and nothing happens, if one sticks out.
    #[inline]
    fn make_room(&mut self, off: usize, n: usize) -> bool {
        if self.is_concrete(off, n) {
            return true;
        }
        let Some(tags) = &self.tags else { return true };
        // A cell sticks out if the first byte is inside one, or the byte behind is.
        if tags[off] == REST || tags.get(off + n).is_some_and(|&t| t == REST) {
            return false;
        }
        if !self.cells.is_empty() {
            for at in tags::cells(&tags[off..off + n]) {
                self.cells.remove(&((off + at) as u16));
            }
        }
        self.make_concrete(off, n);
        true
    }

    /// A cell that `off..off+n` touches.
    fn cell_overlapping(&self, off: usize, n: usize) -> Option<(usize, u8, Value)> {
        let first = self.tags.as_ref()?[off..off + n].iter().position(|&t| t >= CELL)?;
        self.cell_at(off + first)
    }
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

    /// What is behind a byte that was not written.
    pub fn part_at(&self, off: u64) -> Part {
        let Some(parts) = &self.parts else {
            return Part { start: 0, len: self.size, background: self.background, origin: 0, own: true };
        };
        let after = parts.partition_point(|p| p.start <= off);
        match after.checked_sub(1).map(|i| parts[i]) {
            Some(p) if off < p.start + p.len => p,
            _ => Part { start: off, len: 1, background: Background::Zero, origin: off, own: true },
        }
    }

    pub fn is_uninit(&self, off: u64) -> bool {
        self.part_at(off).background == Background::Uninit
    }

    /// Whether it consists of parts.
    pub fn has_parts(&self) -> bool {
        self.parts.is_some()
    }

    /// The background of the part with this byte was decided.
    pub(crate) fn set_background(&mut self, off: u64, background: Background) {
        match &mut self.parts {
            None => self.background = background,
            Some(parts) => {
                let after = parts.partition_point(|p| p.start <= off);
                if let Some(i) = after.checked_sub(1) {
                    Rc::make_mut(parts)[i].background = background;
                }
            }
        }
    }

    pub fn same_backgrounds(&self, other: &Contents) -> bool {
        self.background == other.background && self.parts == other.parts
    }

    /// What was decided in a copy with the same layout is decided here as well.
    pub fn adopt_backgrounds(&mut self, copy: &Contents) {
        self.background = copy.background;
        self.parts = copy.parts.clone();
    }

    /// The smallest range of whole parts around a window.
    pub fn around(&self, w: Window) -> Window {
        let Some(parts) = &self.parts else { return self.whole() };
        let touched = parts.iter().filter(|p| p.start < w.end() && w.start < p.start + p.len);
        let (start, end) = touched.fold((w.start, w.end()), |(s, e), p| (s.min(p.start), e.max(p.start + p.len)));
        Window { start, len: end - start }
    }

    /// All pages exist after this, unless the brake is pulled.
    fn make_pages(&mut self, brake: &mut Brake) -> bool {
        for i in 0..(self.size as usize).div_ceil(PAGE) {
            if i % 64 == 63 && brake.pulled() {
                return false;
            }
            self.page_mut(i);
        }
        true
    }

    /// Gives pieces of `size` bytes a background of their own.
    pub fn split(&mut self, size: u64, brake: &mut Brake) {
        if self.parts.is_some() || size == 0 || !self.make_pages(brake) {
            return;
        }
        let (all, background) = (self.size, self.background);
        let part = |start: u64| {
            let len = size.min(all - start);
            // Bytes that were never read may be fresh symbolic variables of the piece.
            let own = background == Background::Uninit;
            Part { start, len, background, origin: if own { start } else { 0 }, own }
        };
        self.parts = Some(Rc::new((0..all).step_by(size as usize).map(part).collect()));
        self.background = Background::Zero;
    }

    /// Contents side by side at these offsets, which are ascending and leave room; what lies between is zero.
    pub fn concat(
        blocks: &[(u64, &Contents)],
        size: u64,
        split: &mut dyn FnMut(Value, u8, u8) -> Value,
        brake: &mut Brake,
    ) -> Contents {
        let mut all = Contents::new(size, Background::Zero);
        if !all.make_pages(brake) {
            return all;
        }
        let mut parts = Vec::new();
        for &(at, c) in blocks {
            match &c.parts {
                Some(inner) => {
                    parts.extend(inner.iter().map(|p| Part { start: at + p.start, origin: at + p.origin, ..*p }))
                }
                None if c.background != Background::Zero => {
                    parts.push(Part { start: at, len: c.size, background: c.background, origin: at, own: true });
                }
                None => {}
            }
            let mut i = 0;
            while i < c.size {
                let n = (PAGE as u64 - i % PAGE as u64).min(PAGE as u64 - (at + i) % PAGE as u64).min(c.size - i);
                let run = c.concrete_slice(i, n as usize);
                if !run.is_empty() && all.write_slice(at + i, run) {
                    i += run.len() as u64;
                    continue;
                }
                match c.view(i) {
                    ByteView::Concrete(b) => all.write_byte(at + i, Value::Int(u64::from(b)), split),
                    ByteView::Background => all.write_background(at + i, split),
                    ByteView::Of { value, bytes, index: 0 } => {
                        all.write_cell(at + i, usize::from(bytes), value, split);
                        i += u64::from(bytes) - 1;
                    }
                    ByteView::Of { value, bytes, index } => {
                        let byte = split(value, bytes, index);
                        all.write_byte(at + i, byte, split);
                    }
                }
                i += 1;
            }
        }
        all.parts = Some(Rc::new(parts));
        all
    }

    /// The bytes of a window, which consists of whole parts, become the array's.
    pub(crate) fn become_array(&mut self, w: Window, array: TermId, split: &mut dyn FnMut(Value, u8, u8) -> Value) {
        let Some(parts) = &self.parts else { return self.reset(Background::Array(array)) };
        let mut parts: Vec<Part> = parts.iter().copied().filter(|p| p.start < w.start || p.start >= w.end()).collect();
        let new = Part { start: w.start, len: w.len, background: Background::Array(array), origin: w.start, own: true };
        let at = parts.partition_point(|p| p.start < w.start);
        parts.insert(at, new);
        self.parts = Some(Rc::new(parts));
        for off in w.start..w.end() {
            self.write_background(off, split);
        }
    }

    /// All bytes of the window are background of one part that is an array of its own: the array and where it begins.
    pub(crate) fn pure_array(&self, w: Window) -> Option<(TermId, u64)> {
        let p = self.part_at(w.start);
        let Background::Array(array) = p.background else { return None };
        if !p.own || p.start > w.start || p.start + p.len < w.end() {
            return None;
        }
        let pure = match self.parts {
            None => self.is_untouched(),
            Some(_) => (w.start..w.end()).all(|i| self.view(i) == ByteView::Background),
        };
        pure.then_some((array, p.origin))
    }

    /// Nothing was written to the window over one background.
    pub(crate) fn is_background(&self, w: Window) -> bool {
        match self.parts {
            None => self.is_untouched(),
            Some(_) => self.pure_array(w).is_some(),
        }
    }

    /// Consists of parts, and one of them is an array that writes at symbolic offsets made of several objects.
    pub fn is_array(&self) -> bool {
        match self.parts.as_ref().map(|p| &p[..]) {
            Some([p]) => p.start == 0 && p.len == self.size && matches!(p.background, Background::Array(_)),
            _ => false,
        }
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
