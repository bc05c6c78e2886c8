//! The seeded source of random choices. The same seed and stream give the same choices on every machine.

use rand_core::RngCore;
use rand_pcg::Pcg64Mcg;

pub struct Rng(Pcg64Mcg);

impl Rng {
    /// Independent streams of one seed, so that one user's draws do not shift another's.
    pub fn new(seed: u64, stream: u64) -> Rng {
        // An odd multiplier spreads small seeds and streams over the whole state.
        let spread = |x: u64| (u128::from(x) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
        Rng(Pcg64Mcg::new(spread(seed) ^ spread(stream).rotate_left(64)))
    }

    /// Uniform in `0..n`; `n` is at least 1.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }

    /// Uniform in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_and_repeat() {
        let draw = |seed, stream| {
            let mut r = Rng::new(seed, stream);
            (0..8).map(|_| r.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1, 0), draw(1, 0));
        assert_ne!(draw(1, 0), draw(1, 1));
        assert_ne!(draw(1, 0), draw(2, 0));
        let mut r = Rng::new(0, 0);
        assert!((0..1000).all(|_| (0.0..1.0).contains(&r.unit())));
        assert_eq!(r.below(1), 0);
    }
}
