//! Statistics about the resolution of pointers.

/// What resolving pointers took, over all paths.
#[derive(Clone, Copy, Default, Debug)]
pub struct ResolutionStatistics {
    /// queries for the objects a pointer may refer to, or whether it may refer to none
    pub queries: u64,
    /// accesses through a pointer with multiple targets
    pub multiple: u64,
    /// segments made
    pub segments: u64,
    /// bytes of the largest
    pub largest: u64,
    /// accesses whose unlikely targets one query excluded, and those where it did not
    pub context_hits: u64,
    pub context_misses: u64,
    /// objects split, and the pieces of all of them
    pub split: u64,
    pub pieces: u64,
    /// bytes of the largest object split
    pub largest_split: u64,
    /// accesses decided once more
    pub checked: u64,
}

impl ResolutionStatistics {
    pub(crate) fn joined(&mut self, bytes: u64) {
        self.segments += 1;
        self.largest = self.largest.max(bytes);
    }

    /// By name; what did not happen is left out.
    pub fn statistics(&self) -> Vec<(String, u64)> {
        let all = [
            ("resolution-queries", self.queries),
            ("multiple-resolutions", self.multiple),
            ("context-hits", self.context_hits),
            ("context-misses", self.context_misses),
            ("segments", self.segments),
            ("largest-segment", self.largest),
            ("objects-split", self.split),
            ("pieces", self.pieces),
            ("largest-split", self.largest_split),
            ("check: accesses", self.checked),
        ];
        all.into_iter().filter(|f| f.1 > 0).map(|(name, n)| (name.to_owned(), n)).collect()
    }
}
