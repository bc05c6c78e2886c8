//! Where two contents differ.

use crate::object::{Contents, PAGE};

impl Contents {
    /// The bytes that do not hold the same in both; `None` if that cannot be said byte by byte.
    pub fn differences(&self, other: &Contents) -> Option<Vec<u64>> {
        if self.has_parts()
            || other.has_parts()
            || self.size() != other.size()
            || self.background() != other.background()
        {
            return None;
        }
        let mut out = Vec::new();
        let mut start = 0;
        while start < self.size() {
            let end = (start + PAGE as u64).min(self.size());
            if !self.shares_page(other, start) {
                out.extend((start..end).filter(|at| self.view(*at) != other.view(*at)));
            }
            start = end;
        }
        Some(out)
    }
}
