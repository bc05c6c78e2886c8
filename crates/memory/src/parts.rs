//! What lies behind bytes that were not written: one background for all, or one for each part.

use super::{Background, ByteView, Contents, PAGE, Window};
use crate::value::Value;
use pleach_expr::{Brake, TermId};
use std::rc::Rc;

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

impl Contents {
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
    pub(super) fn make_pages(&mut self, brake: &mut Brake) -> bool {
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
            // Bytes that nobody has looked at may be new symbolic variables of the piece.
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
}
