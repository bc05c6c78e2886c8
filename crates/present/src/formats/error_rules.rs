//! Kinds of errors as rules: a sentence, and the weakness in the list that others use (CWE).

use pleach_report::ErrorKind;

/// What is wrong, in a sentence; the number of the weakness, 0 if there is none.
pub fn rule(kind: ErrorKind) -> (&'static str, u32) {
    match kind {
        ErrorKind::Assert => ("An assertion does not hold.", 617),
        ErrorKind::Abort => ("The program aborts.", 0),
        ErrorKind::OobRead => ("A read is outside its object.", 125),
        ErrorKind::OobWrite => ("A write is outside its object.", 787),
        ErrorKind::Null => ("An access is through a null pointer.", 476),
        ErrorKind::UseAfterFree => ("An access is to an object after its lifetime.", 416),
        ErrorKind::DoubleFree => ("A heap block is freed twice.", 415),
        ErrorKind::BadFree => ("Something is freed that is not the start of a heap block.", 590),
        ErrorKind::Readonly => ("A write is to a constant object.", 0),
        ErrorKind::DivZero => ("An integer is divided by zero.", 369),
        ErrorKind::Overshift => ("A shift is by at least the width of its operand.", 1335),
        ErrorKind::SignedOverflow => ("Signed arithmetic overflows.", 190),
        ErrorKind::Misaligned => ("An access is at an address that its type does not allow.", 0),
        ErrorKind::Overlap => ("A copy is between ranges that overlap.", 475),
        ErrorKind::InvalidValue => ("A boolean or an enumeration holds none of its values.", 0),
        ErrorKind::FloatCast => ("A floating-point value does not fit the integer type.", 681),
        ErrorKind::InvalidBuiltin => ("A builtin gets an argument that it has no result for.", 475),
        ErrorKind::VlaBound => ("The size of a variable-length array is not positive.", 131),
        ErrorKind::Poison => ("The compiler folded a constant from undefined behaviour.", 475),
        ErrorKind::Uninit => ("A branch, an address or output depends on memory that was never written.", 457),
        ErrorKind::Leak => ("A heap block is lost.", 401),
        ErrorKind::Unreachable => ("Code is reached that the compiler takes for unreachable.", 475),
        ErrorKind::StackOverflow => ("The stack overflows.", 674),
        ErrorKind::BadCall => ("A call is through something that is not a fitting function.", 0),
        ErrorKind::LoopLimit => ("A loop goes on beyond its bound.", 835),
        ErrorKind::User => ("The program reports an error.", 0),
    }
}
