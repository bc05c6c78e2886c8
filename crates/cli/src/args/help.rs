//! Texts below the lists of flags: examples for `-h`, and with `--help` what does not belong to one flag.

pub const MAIN: &str = include_str!("text/main.txt").trim_ascii_end();
pub const MAIN_EXIT: &str = include_str!("text/main-exit.txt").trim_ascii_end();
pub const TEST: &str = include_str!("text/test.txt").trim_ascii_end();
pub const TEST_LONG: &str = include_str!("text/test-long.txt").trim_ascii_end();
pub const VERIFY: &str = include_str!("text/verify.txt").trim_ascii_end();
pub const VERIFY_LONG: &str = include_str!("text/verify-long.txt").trim_ascii_end();
pub const REACH: &str = include_str!("text/reach.txt").trim_ascii_end();
pub const REACH_LONG: &str = include_str!("text/reach-long.txt").trim_ascii_end();
