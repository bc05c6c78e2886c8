//! The words of operations and types: one table for both directions.

use crate::inst::{BinOp, CastOp, CheckKind, CmpOp, FBinOp, FCastOp, FCmpOp, FloatTy, ScalarFn, Ty};
use crate::types::Encoding;

pub(super) trait Word: Sized {
    fn word(self) -> &'static str;
    fn from_word(word: &str) -> Option<Self>;
}

macro_rules! words {
    ($ty:ident { $($variant:ident = $word:literal),* $(,)? }) => {
        impl Word for $ty {
            fn word(self) -> &'static str {
                match self { $($ty::$variant => $word),* }
            }
            fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some($ty::$variant),)* _ => None }
            }
        }
        #[cfg(test)]
        impl All for $ty {
            const ALL: &'static [$ty] = &[$($ty::$variant),*];
        }
    };
}

/// Every variant, for tests that must not miss one.
#[cfg(test)]
pub(super) trait All: Sized + 'static {
    const ALL: &'static [Self];
}

words!(BinOp {
    Add = "add", Sub = "sub", Mul = "mul", UDiv = "udiv", SDiv = "sdiv", URem = "urem", SRem = "srem",
    Shl = "shl", LShr = "lshr", AShr = "ashr", And = "and", Or = "or", Xor = "xor",
});
words!(CmpOp {
    Eq = "eq", Ne = "ne", Ult = "ult", Ule = "ule", Ugt = "ugt", Uge = "uge",
    Slt = "slt", Sle = "sle", Sgt = "sgt", Sge = "sge",
});
words!(CastOp { Trunc = "trunc", ZExt = "zext", SExt = "sext", PtrToInt = "ptrtoint", IntToPtr = "inttoptr" });
words!(FBinOp { Add = "fadd", Sub = "fsub", Mul = "fmul", Div = "fdiv", Rem = "frem" });
words!(FCmpOp {
    False = "false", Oeq = "oeq", Ogt = "ogt", Oge = "oge", Olt = "olt", Ole = "ole", One = "one", Ord = "ord",
    Ueq = "ueq", Ugt = "ugt", Uge = "uge", Ult = "ult", Ule = "ule", Une = "une", Uno = "uno", True = "true",
});
words!(FCastOp {
    Resize = "resize", ToSigned = "to_signed", ToUnsigned = "to_unsigned",
    FromSigned = "from_signed", FromUnsigned = "from_unsigned",
});
words!(CheckKind {
    DivZero = "div_zero", Overshift = "overshift", SignedOverflow = "signed_overflow", ShiftBase = "shift_base",
    InvalidValue = "invalid_value", VlaBound = "vla_bound", FloatCast = "float_cast", Builtin = "builtin",
    Poison = "poison",
});
words!(FloatTy { Half = "half", Single = "float", Double = "double", X87 = "x87", Quad = "quad" });
words!(Encoding {
    Signed = "signed", Unsigned = "unsigned", SignedChar = "signed_char", UnsignedChar = "unsigned_char",
    Bool = "bool", Float = "float",
});
words!(ScalarFn {
    SAddOverflow = "sadd_overflow", UAddOverflow = "uadd_overflow", SSubOverflow = "ssub_overflow",
    USubOverflow = "usub_overflow", SMulOverflow = "smul_overflow", UMulOverflow = "umul_overflow",
    SAddSat = "sadd_sat", UAddSat = "uadd_sat", SSubSat = "ssub_sat", USubSat = "usub_sat",
    SMin = "smin", SMax = "smax", UMin = "umin", UMax = "umax", Abs = "abs", Ctpop = "ctpop", Ctlz = "ctlz",
    Cttz = "cttz", Bswap = "bswap", Bitreverse = "bitreverse", Fshl = "fshl", Fshr = "fshr", PtrMask = "ptrmask",
    FAbs = "fabs", FSqrt = "fsqrt", FFloor = "ffloor", FCeil = "fceil", FTrunc = "ftrunc", FRint = "frint",
    FRound = "fround", FMinNum = "fminnum", FMaxNum = "fmaxnum", FCopySign = "fcopysign", Fma = "fma",
    IsFpClass = "is_fpclass",
});

pub(super) fn ty_word(ty: Ty) -> String {
    match ty {
        Ty::Int(w) => format!("i{w}"),
        Ty::Ptr => "ptr".to_owned(),
        Ty::Float(f) => f.word().to_owned(),
    }
}

pub(super) fn ty_from_word(word: &str) -> Option<Ty> {
    match word {
        "ptr" => Some(Ty::Ptr),
        _ => width_from_word(word).map(Ty::Int).or_else(|| FloatTy::from_word(word).map(Ty::Float)),
    }
}

/// `i32` gives 32.
pub(super) fn width_from_word(word: &str) -> Option<u16> {
    numbered(word, 'i').and_then(|n| u16::try_from(n).ok())
}

/// A letter and a decimal number without leading zeros: `b12`.
pub(super) fn numbered(word: &str, letter: char) -> Option<u32> {
    let digits = word.strip_prefix(letter)?;
    let canonical = digits == "0" || !digits.starts_with('0');
    (canonical && digits.bytes().all(|b| b.is_ascii_digit())).then(|| digits.parse().ok()).flatten()
}
