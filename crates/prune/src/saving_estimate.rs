//! What a subsumed state would have cost.
//!
//! *Idea*: the subsuming subtree, with the states subsumed in it, is what the subsumed state would have cost if all of
//! those paths were feasible for it. In programs that compare their inputs with each other most of them are not, and
//! the error multiplies with every level of the tree. So some subsumed states are explored in a sub-exploration
//! (`explore/src/cost_sampling.rs`), within bounds. Such a cost sample counts as measured, and a multiple of it where
//! it did not end. A state that was not explored counts at most for the average of the samples.

/// A cost sample that did not end counts at least `BEYOND` times, and more the fewer samples end, at most `FAR_BEYOND`
/// times.
const BEYOND: u64 = 2;
const FAR_BEYOND: u64 = 64;
/// One sample has a weight of at least one part in `WEIGHT` in the average.
const WEIGHT: u64 = 8;
/// What all samples may cost: `START`, and one part in `SHARE` of what pruning spends.
const START: u64 = 60_000;
const SHARE: u64 = 12;
/// What one sample may cost: `ONE`, or one part in `ONE_SHARE` of what pruning spends.
const ONE: u64 = 5_000;
const ONE_SHARE: u64 = 64;
/// Nothing is sampled before `FROM` was spent, nor a saving of less than one part in `MATTERS` of it.
const FROM: u64 = 10_000;
const MATTERS: u64 = 64;
/// What a sample costs besides its instructions.
const SAMPLE: u64 = 300;

#[derive(Default)]
pub struct SavingEstimate {
    /// what subsumed states count for on average, according to the samples
    usual: Option<u64>,
    /// what samples have cost, in units
    pub cost: u64,
    pub samples: u64,
    /// those that saw the end
    pub ended: u64,
}

impl SavingEstimate {
    /// The estimate for a state whose subsuming subtree cost `whole`.
    pub fn of(&self, whole: u64) -> u64 {
        self.usual.map_or(whole, |u| whole.min(u))
    }

    /// Whether a state whose subsuming subtree cost `whole` is worth exploring further, after `cost`, where `spent` was
    /// spent on pruning.
    ///
    /// `number`: how many states the same node has subsumed. The more there were, the less another one tells.
    pub fn wants_sample(&self, whole: u64, number: u32, cost: u64, spent: u64) -> bool {
        let one = ONE.max(spent / ONE_SHARE);
        number.is_power_of_two()
            && spent >= FROM
            && whole > spent / MATTERS
            && cost < one
            && self.cost + one <= START + spent / SHARE
    }

    /// It was, at this cost, to its end or not. What it counts for.
    pub fn sampled(&mut self, whole: u64, cost: u64, ended: bool) -> u64 {
        self.samples += 1;
        self.ended += u64::from(ended);
        self.cost += SAMPLE + cost;
        let times = (self.samples / (self.ended + 1)).clamp(BEYOND, FAR_BEYOND);
        let found = if ended { cost } else { cost.saturating_mul(times).min(whole.max(cost)) };
        let weight = self.samples.min(WEIGHT);
        self.usual = Some(self.usual.map_or(found, |u| u - u / weight + found / weight));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_probes_find_is_believed() {
        let mut b = SavingEstimate::default();
        assert_eq!(b.of(u64::MAX), u64::MAX);
        for _ in 0..100 {
            assert_eq!(b.sampled(1000, 250, true), 250);
        }
        assert!((240..260).contains(&b.of(1000)) && b.of(100) == 100, "{}", b.of(1000));
        for _ in 0..100 {
            b.sampled(1 << 60, 5000, false);
        }
        assert!(b.of(1 << 60) > 5000 * (BEYOND - 1));
    }

    #[test]
    fn probes_have_their_bounds() {
        let mut b = SavingEstimate::default();
        let spent = 100 * FROM;
        assert!(b.wants_sample(spent, 1, 0, spent));
        assert!(!b.wants_sample(spent, 3, 0, spent), "two were sampled before");
        assert!(!b.wants_sample(spent / MATTERS, 1, 0, spent), "too little to matter");
        assert!(!b.wants_sample(u64::MAX, 1, spent, spent), "too much for one");
        let mut sampled = 0;
        while b.wants_sample(spent, 1, 0, spent) {
            b.sampled(spent, 1000, true);
            sampled += 1;
        }
        assert!(sampled > 10 && b.cost < START + spent / SHARE);
    }
}
