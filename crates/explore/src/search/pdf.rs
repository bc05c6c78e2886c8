//! A discrete distribution that changes: draw, add, change and remove in O(log n).
//!
//! *Idea*: a complete binary tree of sums. A change recomputes the sums above it from their two parts, so that rounding
//! errors do not add up over millions of changes.
//! *Invariant*: a free slot weighs 0, a taken one more than 0; hence a positive sum has a taken slot below it.

use rustc_hash::FxHashMap;
use std::hash::Hash;

pub struct Pdf<K> {
    /// root at 1, children of `i` at `2i` and `2i+1`, slots from `capacity`
    sums: Vec<f64>,
    keys: Vec<Option<K>>,
    slot: FxHashMap<K, usize>,
    free: Vec<usize>,
}

impl<K: Copy + Eq + Hash> Default for Pdf<K> {
    fn default() -> Self {
        Pdf { sums: vec![0.0; 2], keys: vec![None], slot: FxHashMap::default(), free: vec![0] }
    }
}

impl<K: Copy + Eq + Hash> Pdf<K> {
    pub fn len(&self) -> usize {
        self.slot.len()
    }
    pub fn is_empty(&self) -> bool {
        self.slot.is_empty()
    }

    /// Adds the key or changes its weight. Weights that are not positive numbers count as the smallest one.
    pub fn set(&mut self, key: K, weight: f64) {
        let slot = match self.slot.get(&key) {
            Some(&s) => s,
            None => {
                let s = self.free.pop().unwrap_or_else(|| self.double());
                self.keys[s] = Some(key);
                self.slot.insert(key, s);
                s
            }
        };
        let lowest = f64::MIN_POSITIVE;
        self.put(slot, if weight.is_finite() { weight.max(lowest) } else { lowest });
    }

    pub fn remove(&mut self, key: K) {
        if let Some(slot) = self.slot.remove(&key) {
            self.keys[slot] = None;
            self.free.push(slot);
            self.put(slot, 0.0);
        }
    }

    /// The key at `at` (in `[0, 1)`) of the total weight.
    pub fn choose(&self, at: f64) -> Option<K> {
        let capacity = self.keys.len();
        let mut left = at * self.sums[1];
        let mut i = 1;
        while i < capacity {
            let (a, b) = (self.sums[2 * i], self.sums[2 * i + 1]);
            if b == 0.0 || (left < a && a > 0.0) {
                i *= 2;
            } else {
                left -= a;
                i = 2 * i + 1;
            }
        }
        self.keys[i - capacity]
    }

    fn put(&mut self, slot: usize, weight: f64) {
        let mut i = self.keys.len() + slot;
        self.sums[i] = weight;
        while i > 1 {
            i /= 2;
            self.sums[i] = self.sums[2 * i] + self.sums[2 * i + 1];
        }
    }

    /// Twice the room; gives one of the new slots.
    fn double(&mut self) -> usize {
        let old = self.keys.len();
        let mut sums = vec![0.0; 4 * old];
        sums[2 * old..3 * old].copy_from_slice(&self.sums[old..]);
        for i in (1..2 * old).rev() {
            sums[i] = sums[2 * i] + sums[2 * i + 1];
        }
        self.sums = sums;
        self.keys.resize(2 * old, None);
        self.free.extend((old + 1..2 * old).rev());
        old
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn draws_by_weight() {
        let mut p = Pdf::default();
        assert_eq!(p.choose(0.5), None);
        for (k, w) in [(1, 1.0), (2, 3.0), (3, 0.0), (4, 4.0)] {
            p.set(k, w);
        }
        let mut rng = Rng::new(7, 0);
        let mut hits = [0; 5];
        for _ in 0..8000 {
            hits[p.choose(rng.unit()).unwrap()] += 1;
        }
        assert_eq!(hits[3], 0);
        assert!((900..1100).contains(&hits[1]) && (2850..3150).contains(&hits[2]), "{hits:?}");
        p.remove(1);
        p.remove(2);
        p.remove(4);
        assert_eq!(p.choose(0.99), Some(3));
        p.remove(3);
        assert!(p.is_empty() && p.choose(0.0).is_none());
    }

    #[test]
    fn every_key_can_be_drawn_after_many_changes() {
        let mut p = Pdf::default();
        let mut rng = Rng::new(1, 0);
        for i in 0..1000 {
            p.set(i, rng.unit() * 10f64.powi(rng.below(40) as i32 - 20));
        }
        for i in (0..1000).step_by(3) {
            p.remove(i);
        }
        for i in 0..500 {
            p.set(i, if i % 2 == 0 { f64::NAN } else { 0.5f64.powi(2000) });
        }
        let mut drawn = 0;
        while let Some(k) = p.choose(rng.unit()) {
            p.remove(k);
            drawn += 1;
        }
        assert_eq!(drawn, 1000 - 334 + 167);
    }
}
