//! Integer expressions, some of which fail for some inputs.

use super::num::{INTEGERS, Num, WIDEST};
use super::{Expr, FIELDS, Generator, Var};

fn of(text: String, ty: Num) -> Expr {
    Expr { text, ty }
}

impl Generator {
    /// An expression whose value is converted to `ty` where it is used.
    pub(super) fn value_for(&mut self, ty: Num, depth: u32) -> String {
        if ty.is_float() && !self.rng.one_in(5) {
            return self.float(depth).text;
        }
        self.int(depth).text
    }

    pub(super) fn constant(&mut self, ty: Num) -> String {
        if self.rng.one_in(2) && !ty.is_float() {
            return self.rng.below(if ty == Num::Bool { 2 } else { 20 }).to_string();
        }
        let bits = self.rng.pick(&ty.edges());
        ty.literal(bits)
    }

    /// An integer type, rarely one of the widest.
    fn integer(&mut self) -> Num {
        if self.widest && self.rng.one_in(5) { self.rng.pick(&WIDEST) } else { self.rng.pick(&INTEGERS) }
    }

    fn scalars(&self, float: bool) -> Vec<Var> {
        self.vars.iter().filter(|v| v.len.is_none() && v.ty.is_float() == float).cloned().collect()
    }

    /// A variable; the newest half of the time.
    pub(super) fn variable(&mut self, float: bool) -> Option<Expr> {
        let scalars = self.scalars(float);
        let last = scalars.len().checked_sub(1)?;
        let at = if self.rng.one_in(2) { last } else { self.rng.below(scalars.len() as u64) as usize };
        Some(of(scalars[at].name.clone(), scalars[at].ty))
    }

    fn leaf(&mut self) -> Expr {
        match self.rng.below(12) {
            0 | 1 => {
                let ty = self.integer();
                let text = self.constant(ty);
                return of(format!("({})({text})", ty.c()), ty);
            }
            2 => return of(self.rng.below(20).to_string(), Num::I32),
            3 => {
                let (field, ty) = self.rng.pick(&FIELDS);
                // Narrow ones are promoted to `int`, whatever they are declared as; the others to their type.
                let ty = if matches!(field, "d" | "f") { ty } else { Num::I32 };
                return of(format!("@fields.{field}"), ty);
            }
            4 => return of(self.rng.pick(&["@RED", "@GREEN", "@BLUE"]).into(), Num::I32),
            _ => {}
        }
        self.variable(false).unwrap_or_else(|| of("@reads".into(), Num::U32))
    }

    pub(super) fn int(&mut self, depth: u32) -> Expr {
        if depth == 0 {
            return self.leaf();
        }
        match self.rng.below(30) {
            0..=6 => self.binary(depth),
            7 | 8 => self.division(depth),
            9..=11 => self.shift(depth),
            12 => self.unary(depth),
            13..=15 => {
                let (ty, value) = (self.integer(), self.int(depth - 1));
                of(format!("({})({})", ty.c(), value.text), ty)
            }
            16..=17 if self.floats => self.float_as_integer(depth),
            18 => of(format!("({})", self.condition(depth - 1)), Num::I32),
            19 => {
                let (c, a, b) = (self.condition(depth - 1), self.int(depth - 1), self.int(depth - 1));
                of(format!("({c} ? {} : {})", a.text, b.text), a.ty.common(b.ty))
            }
            20..=22 => self.builtin(depth),
            23 | 24 => self.call(depth, false),
            25 => self.element(depth, false).unwrap_or_else(|| self.leaf()),
            26 => self.read(false).unwrap_or_else(|| self.leaf()),
            27 if self.floats => self.look_at_float(depth),
            _ => self.leaf(),
        }
    }

    fn binary(&mut self, depth: u32) -> Expr {
        let op = self.rng.pick(&["+", "-", "*", "&", "|", "^", "+", "-"]);
        let (a, b) = (self.int(depth - 1), self.int(depth - 1));
        of(format!("({} {op} {})", a.text, b.text), a.ty.common(b.ty))
    }

    fn unary(&mut self, depth: u32) -> Expr {
        let (op, a) = (self.rng.pick(&["-", "~", "!", "+"]), self.int(depth - 1));
        of(format!("({op}({}))", a.text), if op == "!" { Num::I32 } else { a.ty.promoted() })
    }

    pub(super) fn condition(&mut self, depth: u32) -> String {
        if depth > 0 && self.rng.one_in(6) {
            let op = self.rng.pick(&["&&", "||"]);
            return format!("({} {op} {})", self.condition(depth - 1), self.condition(depth - 1));
        }
        let op = self.rng.pick(&["==", "!=", "<", "<=", ">", ">="]);
        let depth = depth.saturating_sub(1);
        if self.floats && self.rng.one_in(4) {
            let (a, b) = (self.float(depth), self.value_for(Num::F64, depth));
            return format!("{} {op} {b}", a.text);
        }
        format!("{} {op} {}", self.int(depth).text, self.int(depth).text)
    }

    /// Mostly by what is not zero; sometimes by zero or -1, also of the smallest number.
    fn division(&mut self, depth: u32) -> Expr {
        let op = self.rng.pick(&["/", "%"]);
        let (a, b) = (self.int(depth - 1), self.int(depth - 1));
        let ty = a.ty.common(b.ty);
        if ty.bits() > 64 {
            // The machine's function for it does not trap.
            let ty = self.rng.pick(&[Num::I64, Num::U64]);
            return of(format!("(({0})({1}) {op} (({0})({2}) | 3))", ty.c(), a.text, b.text), ty);
        }
        let text = match self.rng.below(8) {
            // The variable keeps clang from folding what is undefined.
            0 => format!("({} {op} ({} | @zero))", a.text, b.text),
            1 if ty.is_signed() => {
                let smallest = ty.literal(1 << (ty.bits() - 1));
                let off = self.int(0).text;
                format!("(({smallest} + ({}){off} % 2) {op} ({} | -2 | @zero))", ty.c(), b.text)
            }
            _ => format!("({} {op} ({} | @zero | {}))", a.text, b.text, 1 + self.rng.below(3)),
        };
        of(text, ty)
    }

    /// Around the width, by negative counts, and by counts of a wider type.
    fn shift(&mut self, depth: u32) -> Expr {
        let (op, a, b) = (self.rng.pick(&["<<", ">>"]), self.int(depth - 1), self.int(depth - 1));
        let ty = a.ty.promoted();
        let width = ty.bits();
        let count = match self.rng.below(20) {
            0 => format!("(int)(({}) & {})", b.text, width),
            1 => format!("({} + (int)(({}) & 1))", width - 1, b.text),
            2 => format!("((int)(({}) & 7) - 1)", b.text),
            3 => format!("(signed char)({})", b.text),
            4 => b.text,
            5 => format!("(({}UL << 32) + (({}) & 3))", self.rng.below(2), b.text),
            6..=8 => format!("({} - (int)(({}) & 3))", width - 1, b.text),
            _ => format!("(int)(({}) & {})", b.text, width - 1),
        };
        of(format!("({} {op} {count})", a.text), ty)
    }

    fn builtin(&mut self, depth: u32) -> Expr {
        let a = self.int(depth - 1).text;
        let one = |name: &str, ty: Num, result: Num| of(format!("__builtin_{name}(({})({a}))", ty.c()), result);
        match self.rng.below(14) {
            // Mostly of what is not zero.
            n @ 0..=3 => {
                let (name, ty) =
                    [("clz", Num::U32), ("ctz", Num::U32), ("clzl", Num::U64), ("ctzll", Num::U64)][n as usize];
                let or = if self.rng.one_in(6) { String::new() } else { format!(" | {}", 1u64 << self.rng.below(31)) };
                of(format!("__builtin_{name}(({})({a}){or})", ty.c()), Num::I32)
            }
            4 => one("popcount", Num::U32, Num::I32),
            5 => one("popcountl", Num::U64, Num::I32),
            6 => one("parity", Num::U32, Num::I32),
            7 => one("parityl", Num::U64, Num::I32),
            8 => one("ffs", Num::I32, Num::I32),
            9 => one("ffsll", Num::I64, Num::I32),
            10 => one("bswap16", Num::U16, Num::U16),
            11 => one("bswap32", Num::U32, Num::U32),
            12 => one("bswap64", Num::U64, Num::U64),
            _ => one("clrsb", Num::I32, Num::I32),
        }
    }

    pub(super) fn call(&mut self, depth: u32, float: bool) -> Expr {
        let fitting: Vec<usize> =
            (0..self.functions.len()).filter(|f| self.functions[*f].returns.is_float() == float).collect();
        if fitting.is_empty() {
            return if float { self.float(depth - 1) } else { self.int(depth - 1) };
        }
        let at = self.rng.pick(&fitting);
        let (name, returns) = (self.functions[at].name.clone(), self.functions[at].returns);
        let parameters = self.functions[at].parameters.clone();
        let args: Vec<String> = parameters.iter().map(|p| self.value_for(*p, depth.saturating_sub(2))).collect();
        of(format!("{name}({})", args.join(", ")), returns)
    }

    /// An input, at a place in the middle of an expression.
    pub(super) fn read(&mut self, float: bool) -> Option<Expr> {
        let fitting: Vec<(String, Num)> = self.readers.iter().filter(|r| r.1.is_float() == float).cloned().collect();
        let at = self.rng.below(fitting.len().max(1) as u64) as usize;
        fitting.get(at).map(|(name, ty)| of(format!("{name}()"), *ty))
    }

    /// An element, mostly within bounds; at most two elements beyond.
    pub(super) fn element(&mut self, depth: u32, float: bool) -> Option<Expr> {
        let arrays: Vec<Var> =
            self.vars.iter().filter(|v| v.len.is_some() && v.ty.is_float() == float).cloned().collect();
        let at = self.rng.below(arrays.len().max(1) as u64) as usize;
        let array = arrays.get(at)?;
        let beyond = if self.rng.one_in(6) { 1 + self.rng.below(2) } else { 0 };
        let size = array.len.unwrap_or(1) + beyond;
        let index = self.int(depth.saturating_sub(1)).text;
        Some(of(format!("{}[(unsigned)({index}) % {size}u]", array.name), array.ty))
    }
}
