//! Random small C programs about values and inputs: what numbers do at their limits, and inputs whose names collide.
//!
//! *Generated*: integers of 1 to 128 bits, `_Bool`, enumerations, bit-fields, `float` and `double`; arithmetic,
//! comparison and conversions among all of them, at their limits too; shifts by the width and around it and by negative
//! counts; division by zero and of the smallest number by -1; `__builtin_clz` and its like, `__builtin_*_overflow`;
//! arrays with indices that can be out of range. Inputs are read at several places, in loops and in functions that are
//! called several times, with names that are the same or look like those the engine makes up.
//!
//! *Kept out*, because C or the machine leaves it open: the bits and the sign of a NaN, `fmin` and `fmax`, `long
//! double`, division of 128 bits (the machine's function for it does not trap).
//!
//! Names with `@` in front are the file's own: natively many programs are one file.

mod expr;
mod float;
mod input;
mod num;
mod stmt;

use super::rng::Rng;
use num::{INTEGERS, Num, WIDEST};

/// A generated program.
#[derive(Clone, Debug)]
pub struct Program {
    pub seed: u64,
    /// With `@` in front of names that other programs have too.
    text: String,
    /// Whether signed overflow is an error in this one.
    pub signed_overflow: bool,
}

impl Program {
    /// As a file of its own.
    pub fn source(&self) -> String {
        self.text.replace('@', "")
    }

    /// As a part of a file with others; its entry is `pSEED_main`.
    pub fn part(&self) -> String {
        self.text.replace('@', &format!("p{}_", self.seed))
    }
}

/// Several programs as one file for the engine, whose first input says which one runs.
pub fn together(programs: &[Program]) -> String {
    let mut text = String::new();
    for p in programs {
        text += &format!("#line 1 \"{}.program\"\n{}", p.seed, p.part());
    }
    text += "#line 1 \"main.program\"\nint main(void) {\n";
    text += &format!("  switch (klee_range(0, {}, \"a\")) {{\n", programs.len());
    for (i, p) in programs.iter().enumerate() {
        text += &format!("  case {i}:\n    return p{}_main();\n", p.seed);
    }
    text + "  }\n  return 99;\n}\n"
}

/// Programs with consecutive seeds that agree about signed overflow.
const BLOCK: u64 = 50;

/// The program of a seed; the same on every machine.
pub fn program(seed: u64) -> Program {
    let signed_overflow = (seed / BLOCK).is_multiple_of(4);
    let mut g = Generator::new(seed);
    g.whole();
    Program { seed, text: g.out, signed_overflow }
}

/// An expression and its type.
#[derive(Clone, Debug)]
struct Expr {
    text: String,
    ty: Num,
}

#[derive(Clone, Debug)]
struct Var {
    name: String,
    ty: Num,
    /// Elements of an array.
    len: Option<u64>,
    /// Not to be written: counts a loop.
    fixed: bool,
}

struct Function {
    name: String,
    returns: Num,
    parameters: Vec<Num>,
}

struct Generator {
    rng: Rng,
    out: String,
    indent: usize,
    /// Whether there are integers of 128 bits.
    widest: bool,
    /// Whether there are floats.
    floats: bool,
    vars: Vec<Var>,
    functions: Vec<Function>,
    /// Functions that read an input.
    readers: Vec<(String, Num)>,
    names: usize,
    /// Statements that may still be written.
    budget: u32,
    /// Product of the bounds of the loops around.
    repeats: u64,
    /// Reads on one path, and values of one.
    reads: u64,
    choices: usize,
    returns: Num,
}

/// Names of inputs: equal ones, and what an engine could make of equal ones or call its own arrays.
const INPUT_NAMES: [&str; 14] = [
    "a",
    "a",
    "a",
    "a",
    "a_1",
    "a_1",
    "a_2",
    "a_1_1",
    "undef!0",
    "external!f",
    "uninit!1",
    "unnamed",
    "havoc!0",
    "a b",
];

const FIELDS: [(&str, Num); 7] = [
    ("a", Num::I32),
    ("b", Num::U32),
    ("c", Num::I8),
    ("d", Num::I64),
    ("e", Num::Bool),
    ("f", Num::U64),
    ("g", Num::I16),
];

impl Generator {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed ^ 0x7661_6c75_6573);
        let (reads, choices) = rng.pick(&[(1, 12), (2, 6), (2, 5), (3, 4), (4, 3)]);
        Self {
            out: String::new(),
            indent: 0,
            widest: rng.one_in(6),
            floats: !rng.one_in(3),
            vars: Vec::new(),
            functions: Vec::new(),
            readers: Vec::new(),
            names: 0,
            budget: 0,
            repeats: 1,
            reads,
            choices,
            returns: Num::I32,
            rng,
        }
    }

    fn line(&mut self, text: &str) {
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    /// A type for a new variable.
    fn num(&mut self) -> Num {
        match self.rng.below(6) {
            0 if self.widest => self.rng.pick(&WIDEST),
            1 | 2 if self.floats => self.rng.pick(&[Num::F32, Num::F64]),
            _ => self.rng.pick(&INTEGERS),
        }
    }

    fn whole(&mut self) {
        for header in ["assert.h", "klee/klee.h", "stdlib.h", "string.h"] {
            self.line(&format!("#include <{header}>"));
        }
        self.line("#ifndef DOMAIN");
        self.line("#define DOMAIN(...)");
        self.line("#endif");
        self.line("enum @colour { @RED, @GREEN = 5, @BLUE = -3 };");
        self.line("struct @bits {");
        self.line("  int a : 5;");
        self.line("  unsigned b : 3;");
        self.line("  signed char c : 7;");
        self.line("  long d : 33;");
        self.line("  _Bool e : 1;");
        self.line("  unsigned long f : 40;");
        self.line("  short g : 16;");
        self.line("};");
        self.line("static struct @bits @fields;");
        self.line("static unsigned @reads;");
        self.line("static int @zero;");
        self.line("static unsigned @check;");
        if self.floats {
            self.line("static unsigned @bits_f(float f) { unsigned r; memcpy(&r, &f, 4); return f == f ? r : 9; }");
            self.line(
                "static unsigned long @bits_d(double f) { unsigned long r; memcpy(&r, &f, 8); return f == f ? r : 9; }",
            );
        }
        let mut first = vec!["@reads = @check = 0;".to_owned(), "memset(&@fields, 0, sizeof @fields);".to_owned()];
        for _ in 0..1 + self.rng.below(3) {
            let (ty, name) = (self.num(), self.name("@g"));
            let value = self.constant(ty);
            self.line(&format!("static {} {name};", ty.c()));
            first.push(format!("{name} = {value};"));
            self.vars.push(Var { name, ty, len: None, fixed: false });
        }
        if self.rng.one_in(2) {
            let (ty, len, name) = (self.num(), 2 + self.rng.below(4), self.name("@g"));
            self.line(&format!("static {} {name}[{len}];", ty.c()));
            for i in 0..len {
                let value = self.constant(ty);
                first.push(format!("{name}[{i}] = {value};"));
            }
            self.vars.push(Var { name, ty, len: Some(len), fixed: false });
        }
        for _ in 0..1 + self.rng.below(2) {
            self.reader();
        }
        if self.rng.one_in(3) {
            self.recursive();
        }
        for _ in 0..self.rng.below(3) {
            self.function();
        }
        self.main(&first);
    }

    fn function(&mut self) {
        let (returns, name) = (self.num(), format!("@f{}", self.functions.len()));
        let parameters: Vec<Num> = (0..1 + self.rng.below(2)).map(|_| self.num()).collect();
        let mark = self.vars.len();
        let mut list = Vec::new();
        for ty in &parameters {
            let p = self.name("p");
            list.push(format!("{} {p}", ty.c()));
            self.vars.push(Var { name: p, ty: *ty, len: None, fixed: false });
        }
        self.line(&format!("static {} {name}({}) {{", returns.c(), list.join(", ")));
        self.indent = 1;
        (self.budget, self.returns) = (1 + self.rng.below(4) as u32, returns);
        self.statements();
        self.mix_newest(mark);
        let value = self.value_for(returns, 2);
        self.line(&format!("return {value};"));
        self.indent = 0;
        self.line("}");
        self.vars.truncate(mark);
        self.functions.push(Function { name, returns, parameters });
    }

    fn main(&mut self, first: &[String]) {
        self.line("int @main(void) {");
        self.indent = 1;
        first.iter().for_each(|text| self.line(text));
        let ty = self.num();
        let name = self.name("x");
        self.line(&format!("{} {name} = 0;", ty.c()));
        self.vars.push(Var { name: name.clone(), ty, len: None, fixed: false });
        self.read_into(&name, ty);
        (self.budget, self.returns) = (5 + self.rng.below(8) as u32, Num::I32);
        while self.budget > 0 {
            self.statements();
        }
        self.checksum();
        self.indent = 0;
        self.line("}");
    }

    /// Bits are moved and joined, nothing is added up: what decides the exit code stays easy for a solver.
    fn mix(&mut self, value: &str) {
        self.line(&format!("@check = (@check << 5 | @check >> 27) ^ {value};"));
    }

    fn mix_in(&mut self, var: &Var) {
        let bits = |text: &str| match var.ty {
            Num::F32 => format!("@bits_f({text})"),
            Num::F64 => format!("(unsigned)(@bits_d({text}) >> 7)"),
            _ => format!("(unsigned){text}"),
        };
        match var.len {
            None => self.mix(&bits(&var.name)),
            Some(len) => [0, len - 1].iter().for_each(|i| self.mix(&bits(&format!("{}[{i}]", var.name)))),
        }
    }

    /// The exit code depends on all variables and is a constant on every path.
    fn checksum(&mut self) {
        for (field, _) in FIELDS {
            self.mix(&format!("(unsigned)@fields.{field}"));
        }
        for var in self.vars.clone() {
            self.mix_in(&var);
        }
        self.line("unsigned check = @check;");
        self.line("for (unsigned i = 0; i < 8; i++)");
        self.line("  if (((check ^ check >> 7 ^ check >> 17 ^ check >> 25) & 7) == i)");
        self.line("    return i;");
        self.line("return 8;");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_program() {
        assert_eq!(program(7).source(), program(7).source());
        assert_ne!(program(7).source(), program(8).source());
        let all: String = (0..200).map(|s| program(s).source()).collect();
        for part in ["__builtin_clz", "_overflow(", "(__int128)", "\"undef!0\"", "__builtin_floor", "@", "klee_range"] {
            assert_eq!(all.contains(part), part != "@", "{part}");
        }
    }
}
