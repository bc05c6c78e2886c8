//! Expressions, some of which fail for some inputs.

use super::Generator;
use super::scope::{Ty, Var};

impl Generator {
    pub fn expr(&mut self, depth: u32) -> String {
        if depth == 0 {
            return self.leaf();
        }
        match self.rng.below(20) {
            0..=6 => self.binary(depth),
            7 => self.division(depth),
            8 => self.shift(depth),
            9 => format!("{}({})", self.rng.pick(&["-", "~", "!"]), self.expr(depth - 1)),
            10 => format!("({})({})", self.rng.pick(&Ty::ALL).c(), self.expr(depth - 1)),
            11..=13 => self.element(depth).unwrap_or_else(|| self.leaf()),
            14 => {
                let (c, a, b) = (self.condition(depth - 1), self.expr(depth - 1), self.expr(depth - 1));
                format!("({c} ? {a} : {b})")
            }
            15 => self.call(depth),
            16 => format!("({})", self.condition(depth - 1)),
            _ => self.leaf(),
        }
    }

    fn leaf(&mut self) -> String {
        let scalars: Vec<Var> = self.scope.vars().filter(|v| v.len.is_none()).cloned().collect();
        if scalars.is_empty() || self.rng.one_in(3) {
            return match self.rng.below(6) {
                0 => format!("{}u", self.rng.below(300)),
                1 => format!("-{}", 1 + self.rng.below(9)),
                2 => format!("{}L", self.rng.below(1 << 33)),
                _ => self.rng.below(20).to_string(),
            };
        }
        // The newest and the inputs are the most interesting.
        let at = if self.rng.one_in(2) { scalars.len() - 1 } else { self.rng.below(scalars.len() as u64) as usize };
        scalars[at].name.clone()
    }

    fn binary(&mut self, depth: u32) -> String {
        let op = self.rng.pick(&["+", "-", "*", "&", "|", "^", "+", "-"]);
        format!("({} {op} {})", self.expr(depth - 1), self.expr(depth - 1))
    }

    pub fn condition(&mut self, depth: u32) -> String {
        if depth > 0 && self.rng.one_in(5) {
            let op = self.rng.pick(&["&&", "||"]);
            return format!("({} {op} {})", self.condition(depth - 1), self.condition(depth - 1));
        }
        let op = self.rng.pick(&["==", "!=", "<", "<=", ">", ">="]);
        let depth = depth.saturating_sub(1);
        format!("{} {op} {}", self.expr(depth), self.expr(depth))
    }

    /// The value of a variable: clang folds what is constant, and undefined behaviour with it.
    fn variable(&mut self) -> String {
        let scalars: Vec<String> = self.scope.vars().filter(|v| v.len.is_none()).map(|v| v.name.clone()).collect();
        let at = self.rng.below(scalars.len() as u64) as usize;
        scalars[at].clone()
    }

    fn division(&mut self, depth: u32) -> String {
        let op = self.rng.pick(&["/", "%"]);
        let (a, b) = (self.expr(depth - 1), self.expr(depth - 1));
        if self.rng.one_in(4) {
            return format!("({a} {op} ({} - ({b})))", self.variable());
        }
        format!("({a} {op} (({b}) | 1))")
    }

    /// Counts are bytes, never wider than the shifted value: clang cuts a wider count down before shifting.
    fn shift(&mut self, depth: u32) -> String {
        let op = self.rng.pick(&["<<", ">>"]);
        let (value, count) = (self.expr(depth - 1), self.expr(depth - 1));
        if self.rng.one_in(4) {
            return format!("({value} {op} (unsigned char)(({count} + {}) & 63))", self.variable());
        }
        format!("({value} {op} (unsigned char)(({count}) & 7))")
    }

    /// An element, mostly within bounds; at most two elements beyond.
    pub fn element(&mut self, depth: u32) -> Option<String> {
        let arrays: Vec<Var> = self.scope.vars().filter(|v| v.len.is_some()).cloned().collect();
        if arrays.is_empty() {
            return None;
        }
        let array = &arrays[self.rng.below(arrays.len() as u64) as usize];
        let beyond = if self.rng.one_in(6) { 1 + self.rng.below(2) as u32 } else { 0 };
        let size = array.len.unwrap_or(1) + beyond;
        let index = self.expr(depth.saturating_sub(1));
        Some(match self.rng.below(3) {
            0 => format!("{}[{}]", array.name, self.rng.below(u64::from(size))),
            1 => format!("{}[(unsigned)({index}) % {size}u]", array.name),
            _ => format!("*({} + (unsigned)({index}) % {size}u)", array.name),
        })
    }

    fn call(&mut self, depth: u32) -> String {
        if self.functions.is_empty() || self.rng.one_in(4) {
            return format!("sum(({}) & 7)", self.expr(depth - 1));
        }
        let at = self.rng.below(self.functions.len() as u64) as usize;
        let (name, count) = (self.functions[at].name.clone(), self.functions[at].parameters.len());
        let args: Vec<_> = (0..count).map(|_| self.expr(depth.saturating_sub(2))).collect();
        let (ty, list) = (self.functions[at].returns.c(), args.join(", "));
        if self.rng.one_in(2) { format!("({ty}){name}({list})") } else { format!("{name}({list})") }
    }
}
