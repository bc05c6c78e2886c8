//! Expressions with floats.

use super::num::Num;
use super::{Expr, Generator};

fn of(text: String, ty: Num) -> Expr {
    Expr { text, ty }
}

impl Generator {
    fn float_leaf(&mut self) -> Expr {
        if self.rng.one_in(4) {
            let ty = self.rng.pick(&[Num::F32, Num::F64]);
            let text = self.constant(ty);
            return of(format!("({text})"), ty);
        }
        match self.variable(true) {
            Some(variable) => variable,
            None => of(format!("(double){}", self.int(0).text), Num::F64),
        }
    }

    pub(super) fn float(&mut self, depth: u32) -> Expr {
        if depth == 0 || !self.floats {
            return self.float_leaf();
        }
        match self.rng.below(16) {
            0..=3 => {
                let op = self.rng.pick(&["+", "-", "*", "/", "+"]);
                let (a, b) = (self.float(depth - 1), self.float(depth - 1));
                of(format!("({} {op} {})", a.text, b.text), a.ty.common(b.ty))
            }
            4 => {
                let (op, a, b) = (self.rng.pick(&["+", "-", "*", "/"]), self.float(depth - 1), self.int(depth - 1));
                of(format!("({} {op} {})", b.text, a.text), a.ty)
            }
            5 => {
                let a = self.float(depth - 1);
                of(format!("(-({}))", a.text), a.ty)
            }
            6 => {
                let name = self.rng.pick(&["fabs", "floor", "ceil", "trunc", "rint", "round"]);
                let a = self.float(depth - 1);
                let suffix = if a.ty == Num::F32 { "f" } else { "" };
                of(format!("__builtin_{name}{suffix}({})", a.text), a.ty)
            }
            7 | 8 => {
                let (ty, a) = (self.rng.pick(&[Num::F32, Num::F64]), self.float(depth - 1));
                of(format!("({})({})", ty.c(), a.text), ty)
            }
            9..=11 => {
                let (ty, a) = (self.rng.pick(&[Num::F32, Num::F64]), self.int(depth - 1));
                of(format!("({})({})", ty.c(), a.text), ty)
            }
            12 => {
                let (c, a, b) = (self.condition(depth - 1), self.float(depth - 1), self.float(depth - 1));
                of(format!("({c} ? {} : {})", a.text, b.text), a.ty.common(b.ty))
            }
            13 => self.call(depth, true),
            14 => self.element(depth, true).unwrap_or_else(|| self.float_leaf()),
            _ => self.read(true).unwrap_or_else(|| self.float_leaf()),
        }
    }

    /// A float as an integer, mostly where the type has such a number.
    pub(super) fn float_as_integer(&mut self, depth: u32) -> Expr {
        let ty = self.num();
        let ty = if ty.is_float() { Num::I64 } else { ty };
        if self.rng.one_in(4) {
            return of(format!("({})({})", ty.c(), self.float(depth - 1).text), ty);
        }
        let value = self.variable(true).unwrap_or_else(|| of(self.constant(Num::F64), Num::F64)).text;
        let other = self.int(0).text;
        of(format!("({} ? ({1})({value}) : ({1})({other}))", ty.holds(&format!("({value})")), ty.c()), ty.promoted())
    }

    /// What is asked about a float: its kind, its bits, whether it is zero.
    pub(super) fn look_at_float(&mut self, depth: u32) -> Expr {
        let a = self.float(depth - 1);
        match self.rng.below(7) {
            0 => of(format!("__builtin_isnan({})", a.text), Num::I32),
            1 => of(format!("(__builtin_isinf({}) != 0)", a.text), Num::I32),
            2 => of(format!("(__builtin_isfinite({}) != 0)", a.text), Num::I32),
            3 => of(format!("(!({}))", a.text), Num::I32),
            4 => of(format!("(_Bool)({})", a.text), Num::Bool),
            5 => of(format!("@bits_f((float)({}))", a.text), Num::U32),
            _ => of(format!("@bits_d({})", a.text), Num::U64),
        }
    }
}
