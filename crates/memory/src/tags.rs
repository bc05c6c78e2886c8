//! One tag per byte of a page: what the byte is part of. Look-ups of short runs are answered a word at a time.

pub const CONCRETE: u8 = 0;
pub const BACKGROUND: u8 = 1;
/// the first byte of a cell
pub const CELL: u8 = 2;
/// a further byte of a cell
pub const REST: u8 = 3;

#[inline]
pub fn all_concrete(tags: &[u8]) -> bool {
    match *tags {
        [a] => a == CONCRETE,
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]) == 0,
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]) == 0,
        _ => tags.iter().all(|&t| t == CONCRETE),
    }
}

/// How many are not concrete.
#[inline]
pub fn special(tags: &[u8]) -> u32 {
    tags.iter().map(|&t| u32::from(t != CONCRETE)).sum()
}

/// Where cells begin.
pub fn cells(tags: &[u8]) -> impl Iterator<Item = usize> + '_ {
    tags.iter().enumerate().filter(|(_, t)| **t == CELL).map(|(i, _)| i)
}
