//! Sets of reasons: constraints of the query by position, and decisions of the search by depth.

/// Constraints that a query may have here, and decisions on one branch.
pub(super) const CONSTRAINTS: usize = 192;
pub(super) const DEPTH: usize = 60;
/// Holds by itself.
pub(super) const ALWAYS: u8 = 255;

pub(super) fn decision(depth: usize) -> u8 {
    debug_assert!(depth < DEPTH, "decisions fit");
    (CONSTRAINTS + depth) as u8
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Reasons([u64; 4]);

impl Reasons {
    pub fn one(reason: u8) -> Reasons {
        let mut set = Reasons::default();
        set.insert(reason);
        set
    }
    pub fn insert(&mut self, reason: u8) {
        self.0[usize::from(reason / 64)] |= 1 << (reason % 64);
    }
    pub fn remove(&mut self, reason: u8) {
        self.0[usize::from(reason / 64)] &= !(1 << (reason % 64));
    }
    pub fn contains(&self, reason: u8) -> bool {
        self.0[usize::from(reason / 64)] >> (reason % 64) & 1 == 1
    }
    pub fn union(&mut self, other: &Reasons) {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a |= b;
        }
    }
    /// The positions of the constraints among them.
    pub fn constraints(&self) -> impl Iterator<Item = usize> + '_ {
        (0..CONSTRAINTS).filter(|&i| self.contains(i as u8))
    }
}
