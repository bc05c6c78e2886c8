//! Fixtures with expectations in comments, the random program generator, brute-force oracles.
