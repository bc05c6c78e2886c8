//! The kinds of errors a program can have.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

macro_rules! error_kinds {
    ($($(#[$doc:meta])* $variant:ident => $name:literal,)*) => {
        /// The kinds of program error, with one spelling everywhere.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum ErrorKind {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        impl ErrorKind {
            /// Every kind, in the order of the documentation.
            pub const ALL: &'static [ErrorKind] = &[$(ErrorKind::$variant,)*];

            /// The kind's name in files, flags and messages.
            pub fn as_str(self) -> &'static str {
                match self { $(ErrorKind::$variant => $name,)* }
            }
        }
    };
}

error_kinds! {
    /// A failed `assert`, `klee_assert` or `__VERIFIER_assert`, or a call of `reach_error`.
    Assert => "assert",
    /// A call of `abort` or `klee_abort`.
    Abort => "abort",
    /// A read outside its object.
    OobRead => "oob-read",
    /// A write outside its object.
    OobWrite => "oob-write",
    /// An access through a null pointer.
    Null => "null",
    /// An access to an object after its lifetime.
    UseAfterFree => "use-after-free",
    /// A second `free` of the same allocation.
    DoubleFree => "double-free",
    /// `free` of something that is not the start of a heap allocation.
    BadFree => "bad-free",
    /// A write to a constant object.
    Readonly => "readonly",
    /// Integer division or remainder by zero (or the overflowing quotient).
    DivZero => "div-zero",
    /// A shift by at least the width.
    Overshift => "overshift",
    /// Signed arithmetic overflow.
    SignedOverflow => "signed-overflow",
    /// An access at an address that the type does not allow.
    Misaligned => "misaligned",
    /// A copy between ranges that overlap.
    Overlap => "overlap",
    /// A `_Bool` or an enumeration that holds none of its values.
    InvalidValue => "invalid-value",
    /// A floating-point value that the integer type does not have.
    FloatCast => "float-cast",
    /// A builtin called with an argument it has no result for.
    InvalidBuiltin => "invalid-builtin",
    /// A variable-length array whose size is not positive.
    VlaBound => "vla-bound",
    /// A constant that the compiler folded from undefined behaviour.
    Poison => "poison",
    /// A branch, address or output that depends on memory never written.
    Uninit => "uninit",
    /// Heap memory lost at exit.
    Leak => "leak",
    /// An `unreachable` instruction was reached.
    Unreachable => "unreachable",
    /// Call depth or stack size exceeded.
    StackOverflow => "stack-overflow",
    /// A call through something that is not a fitting function.
    BadCall => "bad-call",
    /// A loop ran beyond its bound.
    LoopLimit => "loop-limit",
    /// `klee_report_error`.
    User => "user",
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// No kind of error has this name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownErrorKind(pub String);

impl fmt::Display for UnknownErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = ErrorKind::ALL.iter().map(|k| k.as_str()).collect();
        write!(f, "unknown error kind `{}`; valid are {}", self.0, names.join(", "))
    }
}

impl std::error::Error for UnknownErrorKind {}

impl FromStr for ErrorKind {
    type Err = UnknownErrorKind;

    fn from_str(name: &str) -> Result<Self, UnknownErrorKind> {
        let found = ErrorKind::ALL.iter().copied().find(|kind| kind.as_str() == name);
        found.ok_or_else(|| UnknownErrorKind(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        assert!(ErrorKind::ALL.iter().all(|k| k.as_str().parse() == Ok(*k)));
        assert!("no-such-kind".parse::<ErrorKind>().is_err());
    }
}
