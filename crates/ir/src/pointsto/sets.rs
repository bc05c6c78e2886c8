//! Sets of objects that are shared until they differ.
//!
//! Most variables of a program point to what another one does. A set is therefore counted by reference, and growing
//! into another set means becoming that set.

use std::rc::Rc;

/// Blocks of 64 numbers with at least one member, by their number.
type Blocks = Vec<(u32, u64)>;

#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
pub(super) struct Set(Option<Rc<Blocks>>);

impl Set {
    pub fn one(x: u32) -> Set {
        Set(Some(Rc::new(vec![(x / 64, 1 << (x % 64))])))
    }

    fn blocks(&self) -> &[(u32, u64)] {
        self.0.as_ref().map_or(&[], |b| b)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Which set it is, not what is in it: equal ids are equal sets.
    pub fn id(&self) -> usize {
        self.0.as_ref().map_or(0, |b| Rc::as_ptr(b) as usize)
    }

    pub fn same(&self, other: &Set) -> bool {
        self.id() == other.id() || self.blocks() == other.blocks()
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.blocks().iter().flat_map(|&(n, bits)| (0..64).filter(move |i| bits >> i & 1 == 1).map(move |i| n * 64 + i))
    }

    fn contains_all(&self, other: &Set) -> bool {
        let mut mine = self.blocks().iter();
        other.blocks().iter().all(|&(n, bits)| mine.find(|b| b.0 >= n).is_some_and(|b| b.0 == n && bits & !b.1 == 0))
    }

    /// What is in this set and not in the other.
    pub fn without(&self, other: &Set) -> Set {
        if other.is_empty() || self.id() == other.id() {
            return if other.is_empty() { self.clone() } else { Set::default() };
        }
        let theirs = other.blocks();
        let mut at = 0;
        let mut left = Blocks::new();
        for &(n, bits) in self.blocks() {
            at += theirs[at..].iter().take_while(|b| b.0 < n).count();
            let gone = theirs.get(at).filter(|b| b.0 == n).map_or(0, |b| b.1);
            if bits & !gone != 0 {
                left.push((n, bits & !gone));
            }
        }
        Set((!left.is_empty()).then(|| Rc::new(left)))
    }

    /// Takes in `other`; whether that made it larger.
    pub fn grow(&mut self, other: &Set) -> bool {
        if self.id() == other.id() || self.contains_all(other) {
            return false;
        }
        if other.contains_all(self) {
            *self = other.clone();
            return true;
        }
        let (a, b) = (self.blocks(), other.blocks());
        let mut all = Blocks::with_capacity(a.len() + b.len());
        let (mut i, mut j) = (0, 0);
        while i < a.len() || j < b.len() {
            let (m, n) = (a.get(i).map_or(u32::MAX, |x| x.0), b.get(j).map_or(u32::MAX, |x| x.0));
            let mut bits = 0;
            if m <= n {
                bits |= a[i].1;
                i += 1;
            }
            if n <= m {
                bits |= b[j].1;
                j += 1;
            }
            all.push((m.min(n), bits));
        }
        self.0 = Some(Rc::new(all));
        true
    }
}
