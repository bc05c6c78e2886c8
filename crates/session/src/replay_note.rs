//! Notes on results that were not replayed natively.

use pleach_replay::ReplayError;

/// The note on a result that was not replayed because of a flag.
pub const NOT_REPLAYED: &str = "not replayed natively (--replay=never)";

/// Why the replay was not possible, in one line, and what the user can do.
pub fn impossible(why: &ReplayError) -> String {
    let advice = if matches!(why, ReplayError::Isolation { .. }) { "; --replay=unsafe runs it anyway" } else { "" };
    format!("native replay is not possible: {}{advice}", why.in_one_line())
}
