//! One page of an object's contents: its bytes, and where needed a tag for each and the cells.
//!
//! *Invariant*: `special` = number of bytes whose tag is not `CONCRETE`; cells do not overlap and lie in the page; the first byte of a
//! cell is tagged `CELL`, the others `REST`.

use super::{Background, ByteView};
use crate::tags::{self, BACKGROUND, CELL, CONCRETE, REST};
use crate::value::Value;
use rustc_hash::FxHashMap;

#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(super) bytes: Box<[u8]>,
    /// absent: all bytes are concrete
    pub(super) tags: Option<Box<[u8]>>,
    pub(super) special: u32,
    /// offset in the page → (bytes, value)
    pub(super) cells: FxHashMap<u16, (u8, Value)>,
}

impl Page {
    pub(super) fn new(len: usize, background: Background) -> Page {
        let plain = background == Background::Zero;
        Page {
            bytes: vec![0u8; len].into(),
            tags: if plain { None } else { Some(vec![BACKGROUND; len].into()) },
            special: if plain { 0 } else { len as u32 },
            cells: FxHashMap::default(),
        }
    }

    #[inline]
    pub(super) fn is_concrete(&self, off: usize, n: usize) -> bool {
        self.special == 0 || self.tags.as_ref().is_none_or(|t| tags::all_concrete(&t[off..off + n]))
    }

    /// The cell that covers `off`.
    pub(super) fn cell_at(&self, off: usize) -> Option<(usize, u8, Value)> {
        let tags = self.tags.as_ref()?;
        let mut start = off;
        while tags[start] == REST {
            start -= 1;
        }
        let &(bytes, value) = self.cells.get(&(start as u16)).filter(|_| tags[start] == CELL)?;
        Some((start, bytes, value))
    }

    pub(super) fn view(&self, off: usize) -> ByteView {
        match self.tags.as_ref().map_or(CONCRETE, |t| t[off]) {
            CONCRETE => ByteView::Concrete(self.bytes[off]),
            BACKGROUND => ByteView::Background,
            _ => match self.cell_at(off) {
                Some((start, bytes, value)) => ByteView::Of { value, bytes, index: (off - start) as u8 },
                None => unreachable!("a byte tagged as cell lies in a cell"),
            },
        }
    }

    pub(super) fn tags_mut(&mut self) -> &mut [u8] {
        let len = self.bytes.len();
        self.tags.get_or_insert_with(|| vec![CONCRETE; len].into())
    }

    /// Makes room for a write: cells that `off..off+n` touches are removed; what sticks out of one is kept as one-byte
    /// cells through `split`, which gives the value of a single byte of a cell.
    pub(super) fn clear(&mut self, off: usize, n: usize, split: &mut dyn FnMut(Value, u8, u8) -> Value) {
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
    pub(super) fn make_concrete(&mut self, off: usize, n: usize) {
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
    pub(super) fn make_room(&mut self, off: usize, n: usize) -> bool {
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
    pub(super) fn cell_overlapping(&self, off: usize, n: usize) -> Option<(usize, u8, Value)> {
        let first = self.tags.as_ref()?[off..off + n].iter().position(|&t| t >= CELL)?;
        self.cell_at(off + first)
    }
}
