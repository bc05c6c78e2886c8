//! Types of numbers, their limits, and what C converts them to.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Num {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    I128,
    U128,
    F32,
    F64,
}

use Num::*;

/// Integers up to 64 bits.
pub const INTEGERS: [Num; 9] = [Bool, I8, U8, I16, U16, I32, U32, I64, U64];
/// The two widest.
pub const WIDEST: [Num; 2] = [I128, U128];

impl Num {
    pub fn c(self) -> &'static str {
        match self {
            Bool => "_Bool",
            I8 => "signed char",
            U8 => "unsigned char",
            I16 => "short",
            U16 => "unsigned short",
            I32 => "int",
            U32 => "unsigned",
            I64 => "long",
            U64 => "unsigned long",
            I128 => "__int128",
            U128 => "unsigned __int128",
            F32 => "float",
            F64 => "double",
        }
    }

    pub fn bits(self) -> u32 {
        match self {
            Bool => 1,
            I8 | U8 => 8,
            I16 | U16 => 16,
            I32 | U32 | F32 => 32,
            I64 | U64 | F64 => 64,
            I128 | U128 => 128,
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, F32 | F64)
    }

    pub fn is_signed(self) -> bool {
        matches!(self, I8 | I16 | I32 | I64 | I128)
    }

    /// After the integer promotions.
    pub fn promoted(self) -> Num {
        if self.bits() < 32 { I32 } else { self }
    }

    /// After the usual arithmetic conversions.
    pub fn common(self, other: Num) -> Num {
        if self == F64 || other == F64 {
            return F64;
        }
        if self == F32 || other == F32 {
            return F32;
        }
        let (a, b) = (self.promoted(), other.promoted());
        match a.bits().cmp(&b.bits()) {
            std::cmp::Ordering::Greater => a,
            std::cmp::Ordering::Less => b,
            std::cmp::Ordering::Equal if a.is_signed() => b,
            std::cmp::Ordering::Equal => a,
        }
    }

    /// Bit patterns at the limits of the type and around them.
    pub fn edges(self) -> Vec<u64> {
        let ones = if self.bits() >= 64 { u64::MAX } else { (1 << self.bits()) - 1 };
        let top = if self.bits() >= 64 { 1 << 63 } else { 1 << (self.bits() - 1) };
        match self {
            Bool => vec![0, 1],
            F32 => FLOATS.to_vec(),
            F64 => DOUBLES.to_vec(),
            _ => vec![0, 1, 2, 3, 7, 31, 100, ones, ones - 1, top, top - 1, top + 1, ones - 6, 1 << (self.bits() / 2)],
        }
    }

    /// A number of this type with these bits, in C.
    pub fn literal(self, bits: u64) -> String {
        match self {
            Bool => format!("{}", bits & 1),
            I8 => format!("{}", bits as u8 as i8),
            U8 => format!("{}", bits as u8),
            I16 => format!("{}", bits as u16 as i16),
            U16 => format!("{}", bits as u16),
            I32 if bits as u32 == 1 << 31 => "(-2147483647 - 1)".into(),
            I32 => format!("{}", bits as u32 as i32),
            U32 => format!("{}u", bits as u32),
            I64 if bits == 1 << 63 => "(-9223372036854775807L - 1)".into(),
            I64 => format!("{}L", bits as i64),
            U64 => format!("{bits}UL"),
            I128 => format!("(__int128)(((unsigned __int128){bits}UL << 64) + {}UL)", bits.rotate_left(1)),
            U128 => format!("(((unsigned __int128){bits}UL << 64) + {}UL)", bits.rotate_left(1)),
            F32 => float(f64::from(f32::from_bits(bits as u32)), "f"),
            F64 => float(f64::from_bits(bits), ""),
        }
    }

    /// A condition on the double or float `f` under which it can be converted to this integer type.
    pub fn holds(self, f: &str) -> String {
        let (low, high) = match self {
            Bool => return format!("{f} == {f}"),
            _ if self.is_signed() => (format!("-0x1p{}", self.bits() - 1), format!("0x1p{}", self.bits() - 1)),
            _ => ("0".into(), format!("0x1p{}", self.bits())),
        };
        format!("{f} >= {low} && {f} < {high}")
    }
}

fn float(value: f64, suffix: &str) -> String {
    match value {
        v if v.is_nan() => format!("__builtin_nan{suffix}(\"\")"),
        v if v.is_infinite() => format!("({}__builtin_inf{suffix}())", if v < 0.0 { "-" } else { "" }),
        // Debug formatting always has a point or an exponent, and is exact enough to be read back.
        v => format!("{}{v:?}{suffix}", if v.is_sign_negative() { "" } else { "+" }),
    }
}

const FLOATS: [u64; 22] = [
    0x0000_0000, // 0
    0x8000_0000, // -0
    0x3f80_0000, // 1
    0xbf80_0000, // -1
    0x3fc0_0000, // 1.5
    0x3dcc_cccd, // 0.1
    0xc300_e666, // -128.9
    0x437f_fd71, // 255.99
    0x4380_0000, // 256
    0x4b80_0000, // 2^24
    0x4b80_0001, // 2^24 + 2
    0x4f00_0000, // 2^31
    0xcf00_0000, // -2^31
    0x5f00_0000, // 2^63
    0x5f7f_ffff, // below 2^64
    0x7f7f_ffff, // the largest
    0x0000_0001, // the smallest
    0x0080_0000, // the smallest normal one
    0x7f80_0000, // infinity
    0xff80_0000, // -infinity
    0x7fc0_0000, // NaN
    0xffc0_0001, // another NaN
];

const DOUBLES: [u64; 24] = [
    0x0000_0000_0000_0000, // 0
    0x8000_0000_0000_0000, // -0
    0x3ff0_0000_0000_0000, // 1
    0xbff0_0000_0000_0000, // -1
    0x3ff8_0000_0000_0000, // 1.5
    0x3fb9_9999_9999_999a, // 0.1
    0xc060_1ccc_cccc_cccd, // -128.9
    0x406f_ffae_147a_e148, // 255.99
    0x41df_ffff_ffc0_0000, // 2^31 - 1
    0x41e0_0000_0000_0000, // 2^31
    0xc1e0_0000_0000_0000, // -2^31
    0xc1e0_0000_0020_0000, // -2^31 - 1
    0x41ef_ffff_ffff_ffff, // below 2^32
    0x4340_0000_0000_0001, // 2^53 + 2
    0x43e0_0000_0000_0000, // 2^63
    0xc3e0_0000_0000_0000, // -2^63
    0x43ef_ffff_ffff_ffff, // below 2^64
    0x47ef_ffff_f000_0000, // rounds to no float
    0x7fef_ffff_ffff_ffff, // the largest
    0x0000_0000_0000_0001, // the smallest
    0x36a0_0000_0000_0000, // the smallest float
    0x7ff0_0000_0000_0000, // infinity
    0xfff0_0000_0000_0000, // -infinity
    0x7ff8_0000_0000_0000, // NaN
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_conversions() {
        assert_eq!(I8.literal(0xff), "-1");
        assert_eq!(I32.literal(0x8000_0000), "(-2147483647 - 1)");
        assert_eq!(F32.literal(0x8000_0000), "-0.0f");
        assert_eq!(F64.literal(0x3fb9_9999_9999_999a), "+0.1");
        assert_eq!(F64.literal(0xfff0_0000_0000_0000), "(-__builtin_inf())");
        assert_eq!(I8.common(U16), I32);
        assert_eq!(I32.common(U32), U32);
        assert_eq!(U32.common(I64), I64);
        assert_eq!(U64.common(F32), F32);
    }
}
