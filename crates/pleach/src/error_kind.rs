//! The kinds of errors by name. The executor and the reports have each their own type of the same names.

use pleach_state::ErrorKind;

/// Every kind, in the order of the documentation.
pub const ALL: [ErrorKind; 26] = [
    ErrorKind::Assert,
    ErrorKind::Abort,
    ErrorKind::OobRead,
    ErrorKind::OobWrite,
    ErrorKind::Null,
    ErrorKind::UseAfterFree,
    ErrorKind::DoubleFree,
    ErrorKind::BadFree,
    ErrorKind::Readonly,
    ErrorKind::DivZero,
    ErrorKind::Overshift,
    ErrorKind::SignedOverflow,
    ErrorKind::Misaligned,
    ErrorKind::Overlap,
    ErrorKind::InvalidValue,
    ErrorKind::FloatCast,
    ErrorKind::InvalidBuiltin,
    ErrorKind::VlaBound,
    ErrorKind::Poison,
    ErrorKind::Uninit,
    ErrorKind::Leak,
    ErrorKind::Unreachable,
    ErrorKind::StackOverflow,
    ErrorKind::BadCall,
    ErrorKind::LoopLimit,
    ErrorKind::User,
];

/// The kind of this name.
pub fn named(name: &str) -> Option<ErrorKind> {
    ALL.into_iter().find(|k| k.as_str() == name)
}

/// The same kind in reports.
pub fn reported(kind: ErrorKind) -> pleach_report::ErrorKind {
    kind.as_str().parse().unwrap_or(pleach_report::ErrorKind::User)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_types_have_the_same_kinds() {
        let ours: Vec<&str> = ALL.iter().map(|k| k.as_str()).collect();
        let reports: Vec<&str> = pleach_report::ErrorKind::ALL.iter().map(|k| k.as_str()).collect();
        assert_eq!(ours, reports);
        assert!(ALL.iter().all(|k| reported(*k).as_str() == k.as_str() && named(k.as_str()) == Some(*k)));
        assert_eq!(named("no-such-kind"), None);
    }
}
