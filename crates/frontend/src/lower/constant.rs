//! Evaluating constants to [`Const`].

use super::layout::scalar;
use super::unit::Unit;
use crate::llvm::{Opcode, Shape, Type, Value, ValueKind};
use pleach_ir::{Const, Symbol};

impl<'m> Unit<'m> {
    /// Evaluates a scalar constant; `None` when only running it gives its value.
    pub fn evaluate(&mut self, v: Value<'m>) -> Option<Const> {
        let ty = scalar(v.ty())?;
        let width = self.program.target.bits(ty);
        match v.kind() {
            ValueKind::Int => Some(integer(v, width)),
            ValueKind::Float => Some(integer(v.float_bits(width.into())?, width)),
            ValueKind::Null => Some(int(width, 0)),
            ValueKind::Undef => Some(Const::Undef { width }),
            ValueKind::Function | ValueKind::Global | ValueKind::IFunc => {
                // An undefined weak symbol has the address null.
                if v.is_extern_weak() {
                    return Some(int(width, 0));
                }
                self.symbol(v).map(|symbol| Const::Addr { symbol, addend: 0 })
            }
            ValueKind::Alias => self.evaluate(v.aliasee()?),
            ValueKind::BlockAddress => {
                let (f, block) = v.block_address()?;
                let id = self.function_id(f.value())?;
                let block = *self.block_ids(f).get(&block)?;
                Some(Const::Addr { symbol: Symbol::Block(id, block), addend: 0 })
            }
            ValueKind::Expr => self.expression(v, width),
            _ => None,
        }
    }

    fn expression(&mut self, v: Value<'m>, width: u16) -> Option<Const> {
        use Opcode::*;
        let opcode = v.opcode()?;
        if opcode == LLVMGetElementPtr {
            let offset = self.constant_offset(v)?;
            let base = self.evaluate(v.operand(0)?)?;
            return add(base, offset, width);
        }
        let a = self.evaluate(v.operand(0)?)?;
        match opcode {
            LLVMBitCast | LLVMAddrSpaceCast | LLVMPtrToInt | LLVMIntToPtr | LLVMTrunc => {
                let from = self.program.target.bits(scalar(v.operand(0)?.ty())?);
                if from == width {
                    return Some(a);
                }
                match a {
                    Const::Int { value, .. } if width <= 64 => Some(int(width, value)),
                    _ => None,
                }
            }
            LLVMAdd | LLVMSub | LLVMMul | LLVMXor => {
                let b = self.evaluate(v.operand(1)?)?;
                binary(opcode, a, b, width)
            }
            _ => None,
        }
    }

    /// The offset of a `getelementptr` whose indices are all constant.
    pub fn constant_offset(&mut self, v: Value<'m>) -> Option<i64> {
        let mut offset = 0i64;
        for step in self.gep_steps(v)? {
            match step {
                GepStep::Fixed(n) => offset = offset.wrapping_add(n),
                GepStep::Index(index, scale) => {
                    offset = offset.wrapping_add(index.as_i64()?.wrapping_mul(scale));
                }
            }
        }
        Some(offset)
    }

    /// The parts of a `getelementptr`; `None` for types without a size.
    pub fn gep_steps(&self, v: Value<'m>) -> Option<Vec<GepStep<'m>>> {
        let mut at: Type<'m> = v.gep_source_type()?;
        let mut steps = Vec::new();
        for i in 1..v.operand_count() {
            let index = v.operand(i)?;
            if i > 1 {
                match at.shape() {
                    Shape::Struct => {
                        let field = u32::try_from(index.as_u64()?).ok()?;
                        let offset = self.module.field_offset(at, field);
                        at = *at.fields().get(field as usize)?;
                        steps.push(GepStep::Fixed(offset as i64));
                        continue;
                    }
                    Shape::Array(of, _) | Shape::Vector(of, _) => at = of,
                    _ => return None,
                }
            }
            let scale = self.module.alloc_size(at)? as i64;
            match index.as_i64() {
                Some(n) => steps.push(GepStep::Fixed(n.wrapping_mul(scale))),
                None if index.is_zero() => {}
                None => steps.push(GepStep::Index(index, scale)),
            }
        }
        Some(steps)
    }
}

/// One part of an address computation.
pub(crate) enum GepStep<'m> {
    Fixed(i64),
    Index(Value<'m>, i64),
}

/// An integer constant of at most 64 bits, or a wide one with the value in its lowest limb.
pub(crate) fn int(width: u16, value: u64) -> Const {
    if width <= 64 {
        return Const::Int { width, value: mask(width, value) };
    }
    let mut limbs = vec![0; usize::from(width).div_ceil(64)];
    limbs[0] = value;
    Const::Wide { width, limbs }
}

pub(crate) fn mask(width: u16, value: u64) -> u64 {
    if width >= 64 { value } else { value & ((1 << width) - 1) }
}

fn integer(v: Value<'_>, width: u16) -> Const {
    match v.as_u64() {
        Some(value) => int(width, value),
        None => Const::Wide { width, limbs: limbs_of(&v.print(), width) },
    }
}

/// Reads `i128 -5` into two's complement limbs.
fn limbs_of(text: &str, width: u16) -> Vec<u64> {
    let digits = text.rsplit(' ').next().unwrap_or("0");
    let (negative, digits) = match digits.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, digits),
    };
    let mut limbs = vec![0u64; usize::from(width).div_ceil(64)];
    for d in digits.bytes().filter(u8::is_ascii_digit) {
        let mut carry = u128::from(d - b'0');
        for limb in &mut limbs {
            let x = u128::from(*limb) * 10 + carry;
            *limb = x as u64;
            carry = x >> 64;
        }
    }
    if negative {
        let mut carry = true;
        for limb in &mut limbs {
            let (x, over) = (!*limb).overflowing_add(u64::from(carry));
            *limb = x;
            carry = over;
        }
    }
    if let (Some(last), rest @ 1..) = (limbs.last_mut(), width % 64) {
        *last = mask(rest, *last);
    }
    limbs
}

fn add(base: Const, offset: i64, width: u16) -> Option<Const> {
    match base {
        Const::Addr { symbol, addend } => Some(Const::Addr { symbol, addend: addend.wrapping_add(offset) }),
        Const::Int { value, .. } => Some(int(width, value.wrapping_add(offset as u64))),
        Const::Undef { .. } => Some(base),
        Const::Wide { .. } => None,
    }
}

fn binary(opcode: Opcode, a: Const, b: Const, width: u16) -> Option<Const> {
    use Opcode::*;
    let signed = |v: u64| if width == 64 { v as i64 } else { ((v << (64 - width)) as i64) >> (64 - width) };
    match (opcode, a, b) {
        (_, Const::Int { value: a, .. }, Const::Int { value: b, .. }) => {
            let value = match opcode {
                LLVMAdd => a.wrapping_add(b),
                LLVMSub => a.wrapping_sub(b),
                LLVMMul => a.wrapping_mul(b),
                LLVMXor => a ^ b,
                _ => return None,
            };
            Some(int(width, value))
        }
        (LLVMAdd, a @ Const::Addr { .. }, Const::Int { value, .. })
        | (LLVMAdd, Const::Int { value, .. }, a @ Const::Addr { .. }) => add(a, signed(value), width),
        (LLVMSub, a @ Const::Addr { .. }, Const::Int { value, .. }) => add(a, signed(value).wrapping_neg(), width),
        (LLVMSub, Const::Addr { symbol: s, addend: a }, Const::Addr { symbol: t, addend: b }) if s == t => {
            Some(int(width, a.wrapping_sub(b) as u64))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_numbers_are_read_in_twos_complement() {
        assert_eq!(limbs_of("i128 18446744073709551616", 128), vec![0, 1]);
        assert_eq!(limbs_of("i128 -1", 128), vec![u64::MAX, u64::MAX]);
        assert_eq!(limbs_of("i80 -1", 80), vec![u64::MAX, 0xFFFF]);
        assert_eq!(limbs_of("i72 5", 72), vec![5, 0]);
    }

    #[test]
    fn differences_within_one_symbol_are_numbers() {
        let at = |addend| Const::Addr { symbol: Symbol::Global(pleach_ir::GlobalId(0)), addend };
        assert_eq!(binary(Opcode::LLVMSub, at(12), at(4), 64), Some(int(64, 8)));
        assert_eq!(binary(Opcode::LLVMSub, at(4), int(32, 0xFFFF_FFFF), 32), Some(at(5)));
    }
}
