//! A set of small integers, one bit each; the dataflow analyses keep one per block.

/// A set of indices below a fixed bound. Indices at or above the bound are never members.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct BitSet {
    words: Vec<u64>,
    bound: usize,
}

impl BitSet {
    pub fn new(bound: usize) -> BitSet {
        BitSet { words: vec![0; bound.div_ceil(64)], bound }
    }

    /// Every index below `bound`.
    pub fn full(bound: usize) -> BitSet {
        let mut s = BitSet { words: vec![!0; bound.div_ceil(64)], bound };
        if let Some(last) = s.words.last_mut()
            && !bound.is_multiple_of(64)
        {
            *last = (1 << (bound % 64)) - 1;
        }
        s
    }

    pub fn bound(&self) -> usize {
        self.bound
    }

    #[inline]
    pub fn contains(&self, i: usize) -> bool {
        i < self.bound && self.words[i / 64] >> (i % 64) & 1 == 1
    }

    /// Whether `i` was new. An index outside the bound is ignored.
    #[inline]
    pub fn insert(&mut self, i: usize) -> bool {
        if i >= self.bound || self.contains(i) {
            return false;
        }
        self.words[i / 64] |= 1 << (i % 64);
        true
    }

    #[inline]
    pub fn remove(&mut self, i: usize) {
        if i < self.bound {
            self.words[i / 64] &= !(1 << (i % 64));
        }
    }

    /// `self ∪= other`; whether `self` grew. Both sets must have the same bound.
    pub fn union_with(&mut self, other: &BitSet) -> bool {
        self.zip(other, |a, b| a | b)
    }

    /// `self ∩= other`; whether `self` shrank. Both sets must have the same bound.
    pub fn intersect_with(&mut self, other: &BitSet) -> bool {
        self.zip(other, |a, b| a & b)
    }

    /// `self ∖= other`; whether `self` shrank. Both sets must have the same bound.
    pub fn subtract(&mut self, other: &BitSet) -> bool {
        self.zip(other, |a, b| a & !b)
    }

    fn zip(&mut self, other: &BitSet, op: impl Fn(u64, u64) -> u64) -> bool {
        debug_assert_eq!(self.bound, other.bound);
        let mut changed = false;
        for (a, &b) in self.words.iter_mut().zip(&other.words) {
            let new = op(*a, b);
            changed |= new != *a;
            *a = new;
        }
        changed
    }

    pub fn is_subset(&self, other: &BitSet) -> bool {
        self.words.iter().zip(&other.words).all(|(a, b)| a & !b == 0)
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&w| w == 0)
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// The members in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                Some(i * 64 + bit)
            })
        })
    }
}

impl std::fmt::Debug for BitSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
