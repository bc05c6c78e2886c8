//! Inline assembly: texts that only order memory or pass values through, and short sequences of x86 instructions on
//! registers. Anything else ends the path under its text.
//!
//! *Understood*: AT&T syntax; `mov add sub and or xor neg not inc dec bswap rol ror shl sal shr sar imul` with an
//! optional suffix, on operands `$0`, `${0:w}` and numbers `$$5`; `nop pause mfence lfence sfence` and `rep; nop`.
//! Flags are no results.

use super::Unsupported;
use super::emit::{Leaves, Lowered, Lowering};
use crate::llvm::{Inst, Value};
use pleach_ir::{BinOp, CastOp, Opnd, ScalarFn, Ty, flags};

/// What an operand of the text stands for.
#[derive(Clone, PartialEq, Debug)]
enum Operand {
    /// output number, and its width if the text gives one
    Output(usize, Option<u16>),
    /// argument of the call
    Input(usize, Option<u16>),
    Number(i64),
}

/// The operands of a text: outputs come first, an input may be tied to one.
#[derive(Default, Debug)]
struct Operands {
    outputs: usize,
    /// by argument: the output that it is tied to
    inputs: Vec<Option<usize>>,
    by_address: bool,
    /// an operand in a register that the text may name by itself
    fixed: bool,
}

impl<'m> Lowering<'_, 'm> {
    pub fn inline_asm(&mut self, inst: Inst<'m>, asm: Value<'m>) -> Lowered<Leaves> {
        let (text, constraints) = asm.asm_text().unwrap_or_default();
        let refuse = || Unsupported::new(format!("inline assembly \"{}\"", text.trim()));
        let operands = operands(&constraints);
        let lines: Vec<&str> = text.split(['\n', ';']).map(str::trim).filter(|l| !l.is_empty()).collect();
        let lines: Vec<&str> = lines.into_iter().filter(|l| !NOTHING.contains(l)).collect();
        if !lines.is_empty() && (operands.by_address || operands.fixed) {
            return Err(refuse());
        }
        let args = inst.call_args();
        let types = self.leaf_types(inst.value())?;
        if types.len() != operands.outputs {
            return Err(refuse());
        }
        let mut outputs: Vec<Option<Opnd>> = vec![None; operands.outputs];
        for (i, tied) in operands.inputs.iter().enumerate() {
            let (Some(output), Some(arg)) = (tied, args.get(i)) else { continue };
            let value = self.operands(*arg)?;
            let ([value], true) = (&*value, *output < outputs.len()) else { return Err(refuse()) };
            outputs[*output] = Some(*value);
        }
        for line in lines {
            let (word, list) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let list: Option<Vec<Operand>> =
                list.split(',').filter(|o| !o.trim().is_empty()).map(|o| operand(o.trim(), &operands)).collect();
            let list = list.ok_or_else(refuse)?;
            self.assembly(word, &list, &args, &types, &mut outputs)?.ok_or_else(refuse)?;
        }
        outputs.into_iter().collect::<Option<Leaves>>().ok_or_else(refuse)
    }

    /// One instruction; `None` if it is not known.
    fn assembly(
        &mut self,
        word: &str,
        list: &[Operand],
        args: &[Value<'m>],
        types: &[Ty],
        outputs: &mut [Option<Opnd>],
    ) -> Lowered<Option<()>> {
        let Some(Operand::Output(to, given)) = list.last().cloned() else { return Ok(None) };
        let Some(&ty) = types.get(to) else { return Ok(None) };
        let full = self.bits(ty);
        let (name, suffix) = instruction(word);
        let width = suffix.or(given).unwrap_or(full);
        if matches!(ty, Ty::Float(_)) || width > full {
            return Ok(None);
        }
        let old = outputs[to].map(|old| self.resized(old, full, width));
        let source = match list {
            [Operand::Number(n), _] => Some(self.int(width, *n as u64)),
            [Operand::Output(o, _), _] => match outputs[*o] {
                Some(v) => {
                    let from = self.bits(types[*o]);
                    Some(self.resized(v, from, width))
                }
                None => return Ok(None),
            },
            [Operand::Input(i, _), _] => {
                let Some(arg) = args.get(*i) else { return Ok(None) };
                let from = self.leaf_types(*arg)?;
                let ([from], [value]) = (&*from, &*self.operands(*arg)?) else { return Ok(None) };
                let from = self.bits(*from);
                Some(self.resized(*value, from, width))
            }
            [_] => None,
            _ => return Ok(None),
        };
        let int = Ty::Int(width);
        let zero = self.int(width, 0);
        let new = match (name, source, old) {
            ("mov", Some(s), _) => s,
            ("neg", None, Some(v)) => self.bin(BinOp::Sub, width, zero, v),
            ("not", None, Some(v)) => {
                let ones = self.ones(width);
                self.bin(BinOp::Xor, width, v, ones)
            }
            ("inc" | "dec", None, Some(v)) => {
                let k = self.int(width, 1);
                self.bin(if name == "inc" { BinOp::Add } else { BinOp::Sub }, width, v, k)
            }
            ("bswap", None, Some(v)) if width >= 32 => self.scalar_fn(ScalarFn::Bswap, int, &[v]),
            ("rol", Some(s), Some(v)) => self.scalar_fn(ScalarFn::Fshl, int, &[v, v, s]),
            ("ror", Some(s), Some(v)) => self.scalar_fn(ScalarFn::Fshr, int, &[v, v, s]),
            (_, Some(s), Some(v)) => match (binary(name), &list[0]) {
                (Some(op @ (BinOp::Shl | BinOp::LShr | BinOp::AShr)), Operand::Number(n)) => {
                    // The machine looks at the low bits of the amount only.
                    let n = self.int(width, *n as u64 & if width == 64 { 63 } else { 31 });
                    self.bin_into(op, flags::MOVED, int, v, n)
                }
                (Some(BinOp::Shl | BinOp::LShr | BinOp::AShr), _) | (None, _) => return Ok(None),
                (Some(op), _) => self.bin(op, width, v, s),
            },
            _ => return Ok(None),
        };
        outputs[to] = Some(self.placed(new, width, full, outputs[to])?);
        Ok(Some(()))
    }

    fn resized(&mut self, v: Opnd, from: u16, to: u16) -> Opnd {
        match from.cmp(&to) {
            std::cmp::Ordering::Equal => v,
            std::cmp::Ordering::Greater => self.cast(CastOp::Trunc, Ty::Int(from), Ty::Int(to), v),
            std::cmp::Ordering::Less => self.cast(CastOp::ZExt, Ty::Int(from), Ty::Int(to), v),
        }
    }

    /// A register of which the low `width` bits were written: 32 bits clear what is above, fewer keep it.
    fn placed(&mut self, v: Opnd, width: u16, full: u16, old: Option<Opnd>) -> Lowered<Opnd> {
        let wide = self.resized(v, width, full);
        if width == full || width >= 32 {
            return Ok(wide);
        }
        let Some(old) = old else { return Ok(wide) };
        let keep = self.int(full, u64::MAX << width);
        let kept = self.bin(BinOp::And, full, old, keep);
        Ok(self.bin(BinOp::Or, full, kept, wide))
    }
}

const NOTHING: &[&str] = &["nop", "pause", "rep", "rep nop", "mfence", "lfence", "sfence", "lock"];

fn binary(name: &str) -> Option<BinOp> {
    Some(match name {
        "add" => BinOp::Add,
        "sub" => BinOp::Sub,
        "and" => BinOp::And,
        "or" => BinOp::Or,
        "xor" => BinOp::Xor,
        "imul" => BinOp::Mul,
        "shl" | "sal" => BinOp::Shl,
        "shr" => BinOp::LShr,
        "sar" => BinOp::AShr,
        _ => return None,
    })
}

/// `roll` → `rol` on 32 bits
fn instruction(word: &str) -> (&str, Option<u16>) {
    let known =
        |w: &str| binary(w).is_some() || matches!(w, "mov" | "neg" | "not" | "inc" | "dec" | "bswap" | "rol" | "ror");
    if known(word) {
        return (word, None);
    }
    let width = match word.as_bytes().last() {
        Some(b'b') => 8,
        Some(b'w') => 16,
        Some(b'l') => 32,
        Some(b'q') => 64,
        _ => return (word, None),
    };
    (&word[..word.len() - 1], Some(width))
}

/// `$0`, `${0:w}`, `$$5`
fn operand(text: &str, all: &Operands) -> Option<Operand> {
    if let Some(number) = text.strip_prefix("$$") {
        let (digits, radix) = number.strip_prefix("0x").map_or((number, 10), |hex| (hex, 16));
        return i64::from_str_radix(digits, radix).ok().map(Operand::Number);
    }
    let text = text.strip_prefix('$')?;
    let (number, width) = match text.strip_prefix('{').and_then(|t| t.strip_suffix('}')) {
        None => (text, None),
        Some(inner) => {
            let (number, modifier) = inner.split_once(':')?;
            let width = match modifier {
                "b" => 8,
                "w" => 16,
                "k" => 32,
                "q" => 64,
                _ => return None,
            };
            (number, Some(width))
        }
    };
    let n: usize = number.parse().ok()?;
    match n.checked_sub(all.outputs) {
        None => Some(Operand::Output(n, width)),
        Some(i) => match all.inputs.get(i)? {
            Some(output) => Some(Operand::Output(*output, width)),
            None => Some(Operand::Input(i, width)),
        },
    }
}

fn operands(constraints: &str) -> Operands {
    let mut all = Operands::default();
    for c in constraints.split(',').filter(|c| !c.is_empty()) {
        if c.starts_with('~') {
            continue;
        }
        all.fixed |= c.contains('{');
        // An output by address takes an argument and leaves what is there, as long as the text is empty.
        all.by_address |= c.contains('*');
        match c.strip_prefix('=') {
            Some(output) if !output.contains('*') => all.outputs += 1,
            Some(_) => all.inputs.push(None),
            None => all.inputs.push(c.trim_start_matches('%').parse().ok()),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tied_operands_pass_through() {
        assert_eq!(operands("~{memory},~{flags}").outputs, 0);
        assert_eq!(operands("=r,0,~{flags}").inputs, [Some(0)]);
        assert_eq!(operands("=r,=r,r,1,0").inputs, [None, Some(1), Some(0)]);
        assert!(operands("=*m,r").by_address);
    }

    #[test]
    fn operands_of_the_text() {
        let all = operands("=r,r,0,~{flags}");
        assert_eq!(operand("$0", &all), Some(Operand::Output(0, None)));
        assert_eq!(operand("${1:w}", &all), Some(Operand::Input(0, Some(16))));
        assert_eq!(operand("$2", &all), Some(Operand::Output(0, None)));
        assert_eq!(operand("$$0x10", &all), Some(Operand::Number(16)));
        assert_eq!(operand("%eax", &all), None);
        assert_eq!(instruction("roll"), ("rol", Some(32)));
        assert_eq!(instruction("sub"), ("sub", None));
    }
}
