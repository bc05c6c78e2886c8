//! Terms as text: prefix form, shared operators named once.
//!
//! ```text
//! x:32                      variable of 32 bits          5:8  -1:8  0x1f:8      constant
//! @3                        base address                 a[16]:8  {1 2 3}:8     array variable, table
//! (add x:32 1:32)           operator                     (extract LO WIDTH t)   (zext WIDTH t)   (fround MODE t)
//! (let ($1 t) ($2 u) body)  names for shared operators
//! ```
//!
//! A term of `n` distinct operators prints in `O(n)`; [`crate::parse`] reads the form back.

use crate::bits;
use crate::symbol::{SymbolId, SymbolKind};
use crate::term::{Op, TermId, Terms, arity};
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// The name of an operator in print.
pub fn name(op: Op) -> &'static str {
    match op {
        Op::Const | Op::Wide | Op::Var | Op::Base | Op::ArrayVar | Op::ArrayConst => "",
        Op::Store => "store",
        Op::Read => "read",
        Op::Not => "not",
        Op::And => "and",
        Op::Or => "or",
        Op::Xor => "xor",
        Op::Neg => "neg",
        Op::Add => "add",
        Op::Sub => "sub",
        Op::Mul => "mul",
        Op::UDiv => "udiv",
        Op::SDiv => "sdiv",
        Op::URem => "urem",
        Op::SRem => "srem",
        Op::Shl => "shl",
        Op::LShr => "lshr",
        Op::AShr => "ashr",
        Op::Eq => "eq",
        Op::Ult => "ult",
        Op::Ule => "ule",
        Op::Slt => "slt",
        Op::Sle => "sle",
        Op::Concat => "concat",
        Op::Extract => "extract",
        Op::ZExt => "zext",
        Op::SExt => "sext",
        Op::Ite => "ite",
        Op::ArrayEq => "array_eq",
        Op::Forall => "forall",
        Op::FAdd => "fadd",
        Op::FSub => "fsub",
        Op::FMul => "fmul",
        Op::FDiv => "fdiv",
        Op::FRem => "frem",
        Op::FSqrt => "fsqrt",
        Op::FRound => "fround",
        Op::FFma => "ffma",
        Op::FEq => "feq",
        Op::FLt => "flt",
        Op::FLe => "fle",
        Op::FIsNan => "fisnan",
        Op::FResize => "fresize",
        Op::FToSigned => "fto_signed",
        Op::FToUnsigned => "fto_unsigned",
        Op::FFromSigned => "ffrom_signed",
        Op::FFromUnsigned => "ffrom_unsigned",
    }
}

/// What is still to be written.
enum Piece {
    Term(TermId),
    Definition(TermId),
    Text(&'static str),
}

impl Terms {
    /// `t` in prefix form.
    pub fn show(&self, t: TermId) -> String {
        let all = self.reachable(&[t]);
        let shared = self.shared(&all, &[]);
        let names: FxHashMap<TermId, usize> = shared.iter().enumerate().map(|(i, t)| (*t, i + 1)).collect();
        let mut out = String::new();
        let mut todo = Vec::new();
        if !shared.is_empty() {
            out.push_str("(let");
            todo.extend([Piece::Text(")"), Piece::Term(t), Piece::Text(" ")]);
            for &s in shared.iter().rev() {
                todo.extend([Piece::Text(")"), Piece::Definition(s)]);
            }
        } else {
            todo.push(Piece::Term(t));
        }
        while let Some(piece) = todo.pop() {
            match piece {
                Piece::Text(s) => out.push_str(s),
                Piece::Definition(t) => {
                    let _ = write!(out, " (${} ", names[&t]);
                    self.open(t, &mut out, &mut todo);
                }
                Piece::Term(t) => match names.get(&t) {
                    Some(i) => {
                        let _ = write!(out, "${i}");
                    }
                    None => self.open(t, &mut out, &mut todo),
                },
            }
        }
        out
    }

    fn open(&self, t: TermId, out: &mut String, todo: &mut Vec<Piece>) {
        let n = self.node(t);
        if arity(n.op) == 0 {
            self.atom(t, out);
            return;
        }
        let _ = write!(out, "({}", name(n.op));
        // Writing to a string cannot fail.
        let _ = match n.op {
            Op::Extract => write!(out, " {} {}", n.b, n.width),
            Op::FRound => write!(out, " {}", n.b),
            op if has_width(op) => write!(out, " {}", n.width),
            _ => Ok(()),
        };
        todo.push(Piece::Text(")"));
        for a in self.args(t).into_iter().rev() {
            todo.extend([Piece::Term(a), Piece::Text(" ")]);
        }
    }

    fn atom(&self, t: TermId, out: &mut String) {
        let n = self.node(t);
        let _ = match n.op {
            Op::Const if n.value() < 10 => write!(out, "{}:{}", n.value(), n.width),
            Op::Const => write!(out, "{:#x}:{}", n.value(), n.width),
            Op::Wide => write!(out, "{}:{}", hexadecimal(self.limbs(t)), n.width),
            Op::Base => write!(out, "@{}", n.a),
            Op::ArrayConst => {
                let values: Vec<String> = self.table(t).iter().map(u64::to_string).collect();
                write!(out, "{{{}}}:{}", values.join(" "), n.width)
            }
            _ => {
                let info = self.symbols.info(SymbolId(n.a));
                let name = quoted(&info.name);
                match info.kind {
                    SymbolKind::Bits(w) => write!(out, "{name}:{w}"),
                    SymbolKind::Array { element, len } => write!(out, "{name}[{len}]:{element}"),
                }
            }
        };
    }
}

/// Operators whose result width is not that of an argument and is written out.
pub(crate) fn has_width(op: Op) -> bool {
    matches!(
        op,
        Op::ZExt | Op::SExt | Op::FResize | Op::FToSigned | Op::FToUnsigned | Op::FFromSigned | Op::FFromUnsigned
    )
}

pub(crate) fn hexadecimal(limbs: &[u64]) -> String {
    let digits = bits::length(limbs).div_ceil(4).max(1) as usize;
    let all: String = limbs.iter().rev().map(|l| format!("{l:016x}")).collect();
    format!("0x{}", &all[all.len() - digits..])
}

/// The name as it is if it reads back as a name, else between bars. Bars in it become underscores.
pub(crate) fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let starts = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if starts && name.chars().all(plain) { name.to_string() } else { format!("|{}|", name.replace(['|', '\\'], "_")) }
}
