//! What a covered state would have cost.
//!
//! *Idea*: the coverer's subtree, with what was covered in it, is what the covered state would have cost if all of
//! those paths were possible for it. In programs that compare their inputs with each other most of them are not, and
//! the error multiplies with every level of the tree. So some covered states are explored aside
//! (`explore/src/probe.rs`), within bounds. What was seen is believed, and a few times that where no end was seen; a
//! state that was not explored counts at most for what those that were do on average.

/// What was seen of a subtree that did not end is believed so many times, and more often the fewer probes end.
const BEYOND: u64 = 2;
const FAR_BEYOND: u64 = 64;
/// One probe has at least one part in so many in the average.
const WEIGHT: u64 = 8;
/// What probes may cost: so much, and one part in so many of what pruning spends.
const START: u64 = 60_000;
const SHARE: u64 = 12;
/// One of them may cost so much, or one part in so many of what pruning spends.
const ONE: u64 = 5_000;
const ONE_SHARE: u64 = 64;
/// Nothing is asked before so much was spent, nor about less than one part in so many of it.
const FROM: u64 = 10_000;
const MATTERS: u64 = 64;
/// What a probe costs beside its instructions.
const PROBE: u64 = 300;

#[derive(Default)]
pub struct SavingEstimate {
    /// what covered states count for on average, as far as probes saw
    usual: Option<u64>,
    /// what probes have cost, in units
    pub cost: u64,
    pub probes: u64,
    /// those that saw the end
    pub ended: u64,
}

impl SavingEstimate {
    /// What is believed of a state whose coverer's subtree cost `whole`.
    pub fn of(&self, whole: u64) -> u64 {
        self.usual.map_or(whole, |u| whole.min(u))
    }

    /// A state whose coverer's subtree cost `whole` is worth to be explored further, after `cost`, where `spent` was
    /// spent on pruning.
    ///
    /// `number`: of how many that were covered by the same. The more there were, the less another tells.
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
        self.probes += 1;
        self.ended += u64::from(ended);
        self.cost += PROBE + cost;
        let times = (self.probes / (self.ended + 1)).clamp(BEYOND, FAR_BEYOND);
        let found = if ended { cost } else { cost.saturating_mul(times).min(whole.max(cost)) };
        let weight = self.probes.min(WEIGHT);
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
        assert!(!b.wants_sample(spent, 3, 0, spent), "two were asked before");
        assert!(!b.wants_sample(spent / MATTERS, 1, 0, spent), "too little to matter");
        assert!(!b.wants_sample(u64::MAX, 1, spent, spent), "too much for one");
        let mut asked = 0;
        while b.wants_sample(spent, 1, 0, spent) {
            b.sampled(spent, 1000, true);
            asked += 1;
        }
        assert!(asked > 10 && b.cost < START + spent / SHARE);
    }
}
