//! What an object or an address space holds, as words that are equal only where the contents are.
//!
//! *Direction*: equal contents may have different words, where they came about in different ways.

use crate::object::{Background, Contents};
use crate::space::{AddressSpace, Object, ObjectEntry};
use crate::tags::CONCRETE;
use crate::value::{ObjId, Value};
use std::rc::Rc;

impl Contents {
    /// The contents as words; the values in memory that are no plain bytes are given to `value`. False where they have
    /// no such form.
    pub fn words(&self, out: &mut Vec<u64>, value: &mut dyn FnMut(Value, &mut Vec<u64>)) -> bool {
        if self.has_parts() {
            return false;
        }
        out.push(self.size());
        match self.background() {
            Background::Zero => out.push(0),
            Background::Uninit => out.push(1),
            Background::Array(t) => {
                out.push(2);
                value(Value::Term(t), out);
            }
        }
        out.push(self.pages().count() as u64);
        for page in self.pages() {
            let Some((bytes, tags)) = page else {
                out.push(u64::MAX);
                continue;
            };
            out.extend([bytes.len() as u64, u64::from(tags.is_some())]);
            match tags {
                None => out.extend(bytes.chunks(8).map(word)),
                // What lies below a value that is no byte does not count.
                Some(tags) => out.extend(bytes.iter().zip(tags).map(|(b, t)| match *t {
                    CONCRETE => u64::from(*b),
                    other => 256 + u64::from(other),
                })),
            }
        }
        out.push(self.cells().count() as u64);
        for (off, n, v) in self.cells() {
            out.extend([off, u64::from(n)]);
            value(v, out);
        }
        true
    }
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b))
}

impl Object {
    /// Where the object came from, what it is and what it holds.
    fn words(&self, out: &mut Vec<u64>, value: &mut dyn FnMut(Value, &mut Vec<u64>)) -> bool {
        let Some(size) = self.size().fixed() else { return false };
        // An address may have become a number, and the next one must be the same.
        out.extend([size, self.addr, self.align, self.kind as u64, u64::from(self.readonly)]);
        out.extend([u64::from(self.site.func), u64::from(self.site.inst), u64::from(self.site.calls)]);
        self.contents.words(out, value)
    }
}

impl AddressSpace {
    /// All that is live, by id: objects below `fixed` where they differ from `base`, the others all. False where that
    /// has no form as words.
    pub fn words(
        &self,
        base: &AddressSpace,
        fixed: u32,
        out: &mut Vec<u64>,
        value: &mut dyn FnMut(Value, &mut Vec<u64>),
    ) -> bool {
        let special = !self.segments.is_empty() || !self.fixed.is_empty() || !self.sizes.is_empty();
        if special || self.pinned.iter().any(|o| o.0 >= fixed) || self.len() > fixed as usize + MANY {
            return false;
        }
        let changed = self.objects.unshared(&base.objects);
        let changed = changed.into_iter().filter(|i| *i < fixed as usize);
        for i in changed.chain(fixed as usize..self.len()) {
            let id = ObjId(i as u32);
            let ObjectEntry::Live(o) = (match self.entry(id) {
                Some(e) => e,
                None => return false,
            }) else {
                if i < fixed as usize {
                    return false;
                }
                continue;
            };
            if i < fixed as usize && is_same(base.entry(id), o) {
                continue;
            }
            out.push(i as u64);
            if !o.words(out, value) {
                return false;
            }
        }
        true
    }
}

/// More objects than this beyond the fixed ones are not looked at.
const MANY: usize = 4096;

/// The base has the same object with the same contents, plain bytes only.
fn is_same(base: Option<&ObjectEntry>, o: &Rc<Object>) -> bool {
    let Some(ObjectEntry::Live(b)) = base else { return false };
    if Rc::ptr_eq(b, o) {
        return true;
    }
    let (mut plain, mut mine, mut theirs) = (true, Vec::new(), Vec::new());
    let mut only_numbers = |_: Value, _: &mut Vec<u64>| plain = false;
    let both = o.words(&mut mine, &mut only_numbers) && b.words(&mut theirs, &mut only_numbers);
    both && plain && mine == theirs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{ObjectKind, Site};

    fn space(bytes: &[u8]) -> (AddressSpace, ObjId) {
        let mut s = AddressSpace::new(64);
        let site = Site::new(0, 0);
        let id = s.allocate(8u64, 8, ObjectKind::Global, site, Contents::from_bytes(bytes)).unwrap_or(ObjId(0));
        (s, id)
    }

    fn words(s: &AddressSpace, base: &AddressSpace, fixed: u32) -> Vec<u64> {
        let mut out = Vec::new();
        assert!(s.words(base, fixed, &mut out, &mut |v, out| out.push(v.int().unwrap_or(7))));
        out
    }

    #[test]
    fn what_is_as_in_the_base_is_left_out() {
        let (base, id) = space(&[1; 8]);
        let mut s = base.clone();
        let fixed = base.len() as u32;
        assert!(words(&s, &base, fixed).is_empty());
        let write = |s: &mut AddressSpace, v: u64| {
            assert!(s.get_mut(id).is_some_and(|o| o.contents.write_concrete(0, 4, v)));
        };
        write(&mut s, 5);
        let five = words(&s, &base, fixed);
        write(&mut s, 6);
        assert_ne!(words(&s, &base, fixed), five);
        write(&mut s, 0x0101_0101);
        assert!(words(&s, &base, fixed).is_empty(), "written back");
        assert!(!words(&s, &base, 0).is_empty(), "no object is fixed");
    }
}
