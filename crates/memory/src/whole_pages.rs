//! Copying and filling by whole pages: a page that is equal to another one is the same one until it is written to. So a
//! copy of many bytes takes little memory and time.

use super::{Background, Contents, PAGE, Page};
use crate::tags::BACKGROUND;
use std::rc::Rc;

impl Contents {
    /// The page that begins at `to` becomes the one of `src` that begins at `from`, if that is the same as copying its
    /// bytes; `false` if not.
    pub(crate) fn share_page(&mut self, to: u64, src: &Contents, from: u64, zero: &mut ZeroPage) -> bool {
        let page = PAGE as u64;
        let whole = to.is_multiple_of(page) && from.is_multiple_of(page) && self.parts.is_none() && src.parts.is_none();
        let (p, q) = ((to / page) as usize, (from / page) as usize);
        if !whole || self.size < to || src.size < from || self.page_len(p) != src.page_len(q) {
            return false;
        }
        let shared = match src.pages.get(q).cloned().flatten() {
            Some(shared) if self.same_behind(src) || shared.is_all_written() => Some(shared),
            None if self.same_behind(src) => None,
            None if src.background == Background::Zero => Some(zero.of(self.page_len(p))),
            _ => return false,
        };
        self.put_page(p, shared);
        true
    }

    /// Bytes in no page are the same here and there. Bytes that nobody has decided are not: each object has its own.
    fn same_behind(&self, other: &Contents) -> bool {
        self.background == other.background && !matches!(self.background, Background::Array(_))
    }

    /// The pages from `off` on become one page of equal bytes, as many as lie within the next `n` bytes; how many bytes
    /// that are.
    pub(crate) fn fill_pages(&mut self, off: u64, n: u64, byte: u8, go_on: &mut dyn FnMut() -> bool) -> u64 {
        let page = PAGE as u64;
        if !off.is_multiple_of(page) || n < page || self.parts.is_some() {
            return 0;
        }
        let plain = byte == 0 && self.background == Background::Zero;
        let filled = (!plain).then(|| {
            let mut filled = Page::new(PAGE, Background::Zero);
            filled.bytes.fill(byte);
            Rc::new(filled)
        });
        let mut done = 0;
        while n - done >= page && (!(done + page).is_multiple_of(256 * page) || go_on()) {
            self.put_page(((off + done) / page) as usize, filled.clone());
            done += page;
        }
        done
    }

    fn put_page(&mut self, i: usize, page: Option<Rc<Page>>) {
        if self.pages.len() <= i {
            if page.is_none() {
                return;
            }
            self.pages.resize(i + 1, None);
        }
        self.pages[i] = page;
    }
}

/// One page of zeros for a whole copy.
#[derive(Default)]
pub(crate) struct ZeroPage(Option<Rc<Page>>);

impl ZeroPage {
    fn of(&mut self, len: usize) -> Rc<Page> {
        match &self.0 {
            Some(page) if page.bytes.len() == len => page.clone(),
            _ => self.0.insert(Rc::new(Page::new(len, Background::Zero))).clone(),
        }
    }
}

impl Page {
    /// No byte is background.
    fn is_all_written(&self) -> bool {
        self.special == 0 || self.tags.as_ref().is_none_or(|t| !t.contains(&BACKGROUND))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::ByteView;
    use crate::value::{ObjId, Value};
    use pleach_expr::{Brake, SymbolKind, Terms};
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    const SIZE: u64 = 3 * PAGE as u64 + 100;

    fn bytes(c: &Contents) -> Vec<ByteView> {
        (0..c.size()).map(|i| c.view(i)).collect()
    }

    /// Pages of each kind: written in part with a cell, not written, all of it.
    fn mixed(terms: &mut Terms, background: Background) -> Contents {
        let mut c = Contents::new(SIZE, background);
        let x = terms.symbols.named("x", SymbolKind::Bits(32));
        let x = terms.var(x);
        c.write(terms, 8, 4, Value::Term(x));
        c.write(terms, 40, 8, Value::Int(0x0102_0304_0506_0708));
        c.fill(terms, 2 * PAGE as u64, PAGE as u64 + 100, Value::Int(9));
        c
    }

    #[test]
    fn a_copy_by_pages_is_a_copy_by_bytes() {
        for background in [Background::Zero, Background::Uninit] {
            let mut terms = Terms::new(64);
            let mut source = mixed(&mut terms, background);
            let (mut whole, mut single) =
                (Contents::new(SIZE, Background::Zero), Contents::new(SIZE, Background::Zero));
            for to in [&mut whole, &mut single] {
                *to = Contents::new(SIZE, background);
                to.fill(&mut terms, 0, SIZE, Value::Int(7));
            }
            whole.copy_from(&mut terms, 0, &mut source.clone(), 0, SIZE, ObjId(0));
            let step = PAGE as u64 / 4;
            for at in (0..SIZE).step_by(step as usize) {
                single.copy_from(&mut terms, at, &mut source, at, step.min(SIZE - at), ObjId(0));
            }
            assert_eq!(bytes(&whole), bytes(&single), "{background:?}");
            // The copy is one of its own.
            let before = bytes(&source);
            whole.fill(&mut terms, 0, SIZE, Value::Int(1));
            assert_eq!(bytes(&source), before);
            assert!(bytes(&whole).iter().all(|b| *b == ByteView::Concrete(1)));
        }
    }

    #[test]
    fn another_background_is_not_taken_over() {
        let mut terms = Terms::new(64);
        let mut source = Contents::new(SIZE, Background::Zero);
        let mut to = Contents::new(SIZE, Background::Uninit);
        to.copy_from(&mut terms, 0, &mut source, 0, SIZE, ObjId(0));
        assert!(bytes(&to).iter().all(|b| *b == ByteView::Concrete(0)));
        let mut back = Contents::new(SIZE, Background::Zero);
        let mut uninit = mixed(&mut terms, Background::Uninit);
        back.copy_from(&mut terms, 0, &mut uninit, 0, SIZE, ObjId(0));
        assert!(matches!(back.view(0), ByteView::Of { .. }), "what was never written is read, and so decided");
    }

    #[test]
    fn long_work_leaves_off() {
        let mut terms = Terms::new(64);
        let short = Arc::new(AtomicBool::new(true));
        terms.brake = Brake::new(Arc::default(), short);
        let size = 4 << 20;
        let mut to = Contents::new(size, Background::Uninit);
        let x = terms.symbols.named("x", SymbolKind::Bits(8));
        let x = terms.var(x);
        to.fill(&mut terms, 0, size, Value::Term(x));
        assert!(terms.brake.take().is_some());
        assert_eq!(to.view(size - 1), ByteView::Background);
        let mut source = to.clone();
        to.copy_from(&mut terms, 1, &mut source, 0, size - 1, ObjId(0));
        assert!(terms.brake.take().is_some());
        // Short work, or work that takes little because pages are shared, goes on.
        source.fill(&mut terms, 0, size, Value::Int(1));
        to.copy_from(&mut terms, 0, &mut source, 0, size, ObjId(0));
        assert_eq!((to.view(size - 1), terms.brake.take()), (ByteView::Concrete(1), None));
        to.fill(&mut terms, 0, SIZE, Value::Int(2));
        to.copy_from(&mut terms, SIZE, &mut to.clone(), 0, SIZE, ObjId(0));
        let window = crate::object::Window { start: 0, len: SIZE };
        assert_eq!((to.view(2 * SIZE - 1), terms.brake.take()), (ByteView::Concrete(2), None));
        let mut small = Contents::new(SIZE, Background::Uninit);
        small.fill(&mut terms, 7, 90, Value::Int(2));
        small.flatten(&mut terms, window, ObjId(0));
        assert_eq!(terms.brake.take(), None);
    }

    #[test]
    fn a_large_object_is_an_array_without_its_bytes() {
        let mut terms = Terms::new(64);
        let mut c = Contents::new(1 << 30, Background::Zero);
        c.write(&mut terms, 1 << 29, 1, Value::Int(5));
        let whole = c.whole();
        let before = terms.len();
        let array = c.flatten(&mut terms, whole, ObjId(0));
        assert!(terms.len() < before + 10);
        let at = |terms: &mut Terms, i: u64| {
            let k = terms.constant(pleach_expr::INDEX_BITS, i);
            let b = terms.read(array, k);
            terms.as_const(b)
        };
        assert_eq!((at(&mut terms, 1 << 29), at(&mut terms, 77)), (Some(5), Some(0)));
    }
}
