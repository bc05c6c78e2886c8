//! Random small C programs over a few symbolic bytes, with the errors that a sanitizer can see reliably.
//!
//! *Kept out*: reads of uninitialised memory, undefined behaviour of constants (clang folds it away), comparisons of
//! pointers into different objects, shift counts wider than the shifted value, and accesses that could jump over a red
//! zone. Both compilers are clang without optimisation, so the order of evaluation is the same. Every statement has a
//! line of its own, so that an error has one place.

mod expr;
mod rng;
mod scope;
mod stmt;
pub mod values;

pub use rng::Rng;

use crate::oracle::Domain;
use scope::{Scope, Ty, Var};

/// A generated program.
#[derive(Clone, Debug)]
pub struct Program {
    pub seed: u64,
    pub source: String,
    pub domain: Domain,
    /// Whether signed overflow is an error in this one.
    pub signed_overflow: bool,
}

/// The program of a seed; the same on every machine.
pub fn program(seed: u64) -> Program {
    let mut g = Generator::new(seed);
    let signed_overflow = g.rng.one_in(4);
    g.globals();
    let functions = g.rng.below(3);
    for n in 0..functions {
        g.function(n);
    }
    let domain = g.main();
    Program { seed, source: g.out, domain, signed_overflow }
}

pub(crate) struct Function {
    name: String,
    returns: Ty,
    parameters: Vec<Ty>,
}

pub(crate) struct Generator {
    pub rng: Rng,
    pub out: String,
    pub indent: usize,
    pub scope: Scope,
    pub functions: Vec<Function>,
    /// Names given so far.
    pub names: usize,
    /// Statements that may still be written.
    pub budget: u32,
    /// Product of the bounds of the loops around.
    pub repeats: u64,
    pub returns: Ty,
}

impl Generator {
    fn new(seed: u64) -> Self {
        Self {
            rng: Rng::new(seed),
            out: String::new(),
            indent: 0,
            scope: Scope::default(),
            functions: Vec::new(),
            names: 0,
            budget: 0,
            repeats: 1,
            returns: Ty::I32,
        }
    }

    pub fn line(&mut self, text: &str) {
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    pub fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn globals(&mut self) {
        self.line("#include <assert.h>");
        self.line("#include <klee/klee.h>");
        self.line("#include <stdlib.h>");
        self.line("struct pair { int a; unsigned char b; short c; int *p; };");
        for _ in 0..1 + self.rng.below(3) {
            let (ty, len) = (self.rng.pick(&Ty::ALL), 2 + self.rng.below(5) as u32);
            let name = self.name("g");
            let values: Vec<_> = (0..len).map(|_| self.rng.below(100).to_string()).collect();
            self.line(&format!("{} {name}[{len}] = {{{}}};", ty.c(), values.join(", ")));
            self.scope.add(Var::array(name, ty, len));
        }
        let (name, value) = (self.name("g"), self.rng.below(10));
        self.line(&format!("int {name} = {value};"));
        self.scope.add(Var::scalar(name, Ty::I32));
        self.line("static int sum(int n) { return n <= 0 ? 1 : sum(n - 1) + n; }");
        self.line("static struct pair make(int a, unsigned char b) {");
        self.line("  struct pair r = {a, b, (short)(a + b), 0};");
        self.line("  return r;");
        self.line("}");
    }

    fn function(&mut self, n: u64) {
        let returns = self.rng.pick(&Ty::ALL);
        let parameters: Vec<Ty> = (0..1 + self.rng.below(2)).map(|_| self.rng.pick(&Ty::ALL)).collect();
        let name = format!("f{n}");
        let mark = self.scope.mark();
        let mut list = Vec::new();
        for ty in &parameters {
            let p = self.name("p");
            list.push(format!("{} {p}", ty.c()));
            self.scope.add(Var::scalar(p, *ty));
        }
        self.line(&format!("static {} {name}({}) {{", returns.c(), list.join(", ")));
        self.indent = 1;
        (self.budget, self.returns) = (3 + self.rng.below(4) as u32, returns);
        self.statements();
        let value = self.expr(2);
        self.line(&format!("return {value};"));
        self.indent = 0;
        self.line("}");
        self.scope.release(mark);
        self.functions.push(Function { name, returns, parameters });
    }

    fn main(&mut self) -> Domain {
        self.line("int main(void) {");
        self.indent = 1;
        let mut domain = Domain::new();
        let bounds: &[u16] = if self.rng.one_in(2) { &[64] } else { &[8, 12] };
        for (i, bound) in bounds.iter().enumerate() {
            let name = ["x", "y"][i];
            self.line(&format!("unsigned char {name};"));
            self.line(&format!("klee_make_symbolic(&{name}, 1, \"{name}\");"));
            self.line(&format!("klee_assume({name} < {bound});"));
            self.scope.add(Var::input(name));
            domain.push(*bound);
        }
        (self.budget, self.returns) = (8 + self.rng.below(10) as u32, Ty::I32);
        while self.budget > 0 {
            self.statements();
        }
        self.checksum();
        self.indent = 0;
        self.line("}");
        domain
    }

    /// The exit code depends on all variables and is a constant on every path.
    fn checksum(&mut self) {
        self.line("unsigned check = 0;");
        let vars: Vec<Var> = self.scope.vars().cloned().collect();
        for v in vars {
            match v.len {
                None => self.line(&format!("check = check * 5 + (unsigned){};", v.name)),
                Some(len) => {
                    let last = len - 1;
                    self.line(&format!("check = check * 3 + (unsigned){0}[0] + (unsigned){0}[{last}];", v.name));
                }
            }
        }
        self.line("for (unsigned i = 0; i < 16; i++)");
        self.line("  if (((check ^ check >> 8 ^ check >> 16) & 15) == i)");
        self.line("    return i;");
        self.line("return 16;");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_program() {
        assert_eq!(program(7).source, program(7).source);
        assert_ne!(program(7).source, program(8).source);
        let lines: usize = (0..50).map(|s| program(s).source.lines().count()).sum();
        assert!(lines > 50 * 25, "{lines} lines in 50 programs");
    }
}
