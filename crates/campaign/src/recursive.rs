//! Random recursive functions, and which of their errors can happen.
//!
//! *Law*: a program that is proved by contracts has no error that an evaluation from all inputs meets. Values have four
//! bits and functions no inputs of their own, so that the evaluation ends although the recursion need not: a call that
//! is active already, with the same arguments and the same global variable, never returns.

use crate::engine::Bounds;
use pleach::{Engine, PruneConfig, prove_by_contracts};
use pleach_exec::{ExecConfig, ProgramEntry};
use pleach_explore::{Limits, RunConfig};
use pleach_ir::Program;
use pleach_smt::SolverConfig;
use pleach_testkit::random::Rng;
use std::collections::HashMap;
use std::fmt::Write;
use std::rc::Rc;
use std::time::Duration;

const MASK: u8 = 15;
/// Two arguments, the global variable, the result of the last call.
const VARIABLES: usize = 4;
const GLOBAL: usize = 2;
const RESULT: usize = 3;
type Values = [u8; VARIABLES];

#[derive(Clone, Debug)]
enum Expr {
    Const(u8),
    Var(usize),
    Add(Box<Expr>, Box<Expr>),
    Sub(Box<Expr>, Box<Expr>),
}

#[derive(Clone, Debug)]
enum Cond {
    Eq(Expr, Expr),
    Less(Expr, Expr),
    Not(Box<Cond>),
}

#[derive(Clone, Debug)]
enum Stmt {
    /// to the global variable
    Global(Expr),
    /// of the function with this number
    Call(usize, Expr, Expr),
    If(Cond, Vec<Stmt>),
    Return(Expr),
    Error,
}

pub struct RecursiveProgram {
    pub seed: u64,
    functions: Vec<Vec<Stmt>>,
    /// inputs that the entry allows
    allowed: Cond,
    first: u8,
    /// behind the first call
    claim: Cond,
    pub text: String,
}

struct Generator {
    rng: Rng,
    functions: usize,
}

/// The program of a seed; the same on every machine.
pub fn generate(seed: u64) -> RecursiveProgram {
    let mut g = Generator { rng: Rng::new(seed ^ 0x5eed), functions: 1 };
    g.functions += usize::from(g.chance(3));
    let functions: Vec<Vec<Stmt>> = (0..g.functions).map(|_| g.function()).collect();
    let (allowed, first) = (g.cond(GLOBAL), g.below(3) as u8);
    let claim = g.cond(VARIABLES);
    let wide = g.chance(2);
    let mut program = RecursiveProgram { seed, functions, allowed, first, claim, text: String::new() };
    program.text = program.print(if wide { "int" } else { "u8" });
    program
}

impl Generator {
    fn below(&mut self, n: usize) -> usize {
        self.rng.below(n as u64) as usize
    }

    fn chance(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    /// Over the first variables.
    fn expr(&mut self, known: usize) -> Expr {
        match self.below(5) {
            0 => Expr::Const(self.below(4) as u8),
            1 | 2 => Expr::Var(self.below(known)),
            3 => Expr::Add(Box::new(Expr::Var(self.below(known))), Box::new(self.expr(known))),
            _ => Expr::Sub(Box::new(Expr::Var(self.below(known))), Box::new(self.expr(known))),
        }
    }

    fn cond(&mut self, known: usize) -> Cond {
        match self.below(4) {
            0 => Cond::Eq(Expr::Var(self.below(known)), self.expr(known)),
            1 => Cond::Less(Expr::Var(self.below(known)), self.expr(known)),
            2 => Cond::Less(Expr::Var(self.below(known)), Expr::Const(8)),
            _ => Cond::Not(Box::new(self.cond(known))),
        }
    }

    /// The argument goes down most of the time.
    fn smaller(&mut self, v: usize) -> Expr {
        match self.below(4) {
            0 => self.expr(RESULT),
            1 => Expr::Var(v),
            _ => Expr::Sub(Box::new(Expr::Var(v)), Box::new(Expr::Const(1))),
        }
    }

    fn function(&mut self) -> Vec<Stmt> {
        let mut out = Vec::new();
        if self.chance(4) {
            out.push(Stmt::If(self.cond(RESULT), vec![Stmt::Error]));
        }
        let end = if self.chance(3) { self.cond(RESULT) } else { Cond::Eq(Expr::Var(0), Expr::Const(0)) };
        let value = self.expr(RESULT);
        out.push(Stmt::If(end, vec![Stmt::Return(value)]));
        if self.chance(3) {
            out.push(Stmt::Global(self.expr(RESULT)));
        }
        for _ in 0..1 + usize::from(self.chance(4)) {
            let call = Stmt::Call(self.below(self.functions), self.smaller(0), self.smaller(1));
            out.push(if self.chance(4) { Stmt::If(self.cond(RESULT), vec![call]) } else { call });
        }
        if self.chance(3) {
            out.push(Stmt::If(self.cond(VARIABLES), vec![Stmt::Error]));
        }
        if self.chance(4) {
            out.push(Stmt::Global(self.expr(VARIABLES)));
        }
        let value = if self.chance(2) { Expr::Var(RESULT) } else { self.expr(VARIABLES) };
        out.push(Stmt::Return(value));
        out
    }
}

impl RecursiveProgram {
    pub fn entry(&self) -> String {
        format!("s{}_main", self.seed)
    }

    fn print(&self, ty: &str) -> String {
        let (s, mut out) = (self.seed, String::new());
        let _ = writeln!(out, "static {ty} s{s}_g;");
        for n in 0..self.functions.len() {
            let _ = writeln!(out, "{ty} s{s}_f{n}({ty} a, {ty} b);");
        }
        for (n, body) in self.functions.iter().enumerate() {
            let _ = writeln!(out, "{ty} s{s}_f{n}({ty} a, {ty} b) {{\n  {ty} r = 0;");
            self.block(&mut out, body);
            out += "}\n";
        }
        let _ = writeln!(out, "int s{s}_main(void) {{");
        let _ = writeln!(out, "  {ty} a = __VERIFIER_nondet_uchar() & 15, b = __VERIFIER_nondet_uchar() & 15, r;");
        let _ = writeln!(out, "  if (!({})) return 0;\n  s{s}_g = {};", self.condition(&self.allowed), self.first);
        let _ = writeln!(out, "  r = s{s}_f0(a, b);");
        let _ = writeln!(
            out,
            "  if ({}) __assert_fail(\"\", \"\", 0, \"\");\n  return 0;\n}}",
            self.condition(&self.claim)
        );
        out
    }

    fn block(&self, out: &mut String, body: &[Stmt]) {
        let s = self.seed;
        for stmt in body {
            let _ = match stmt {
                Stmt::Global(e) => writeln!(out, "  s{s}_g = {};", self.expression(e)),
                Stmt::Call(n, a, b) => {
                    writeln!(out, "  r = s{s}_f{n}({}, {});", self.expression(a), self.expression(b))
                }
                Stmt::If(c, then) => {
                    let _ = writeln!(out, "  if ({}) {{", self.condition(c));
                    self.block(out, then);
                    writeln!(out, "  }}")
                }
                Stmt::Return(e) => writeln!(out, "  return {};", self.expression(e)),
                Stmt::Error => writeln!(out, "  __assert_fail(\"\", \"\", 0, \"\");"),
            };
        }
    }

    fn expression(&self, e: &Expr) -> String {
        match e {
            Expr::Const(k) => k.to_string(),
            Expr::Var(GLOBAL) => format!("s{}_g", self.seed),
            Expr::Var(v) => ["a", "b", "", "r"][*v].to_owned(),
            Expr::Add(a, b) => format!("(({} + {}) & 15)", self.expression(a), self.expression(b)),
            Expr::Sub(a, b) => format!("(({} - {}) & 15)", self.expression(a), self.expression(b)),
        }
    }

    fn condition(&self, c: &Cond) -> String {
        match c {
            Cond::Eq(a, b) => format!("{} == {}", self.expression(a), self.expression(b)),
            Cond::Less(a, b) => format!("{} < {}", self.expression(a), self.expression(b)),
            Cond::Not(c) => format!("!({})", self.condition(c)),
        }
    }

    /// Whether some inputs lead to an error.
    pub fn is_faulty(&self) -> bool {
        let mut all = Evaluation { of: self, known: HashMap::new(), error: false };
        for a in 0..=MASK {
            for b in 0..=MASK {
                let v = [a, b, self.first, 0];
                if !holds(&self.allowed, &v) {
                    continue;
                }
                if let Some((r, g)) = all.call(0, a, b, self.first) {
                    all.error |= holds(&self.claim, &[a, b, g, r]);
                }
            }
        }
        all.error
    }
}

/// The result and the global variable behind a call; `None`: it does not return.
type Returned = Option<(u8, u8)>;

struct Evaluation<'a> {
    of: &'a RecursiveProgram,
    /// by function, arguments and global variable
    known: HashMap<(usize, u8, u8, u8), Returned>,
    error: bool,
}

/// How a block is left.
enum Left {
    AtItsEnd,
    Returned(u8),
    Never,
}

impl Evaluation<'_> {
    fn call(&mut self, f: usize, a: u8, b: u8, g: u8) -> Returned {
        if let Some(known) = self.known.get(&(f, a, b, g)) {
            return *known;
        }
        // Met again before it returned, it never does.
        self.known.insert((f, a, b, g), None);
        let mut v = [a, b, g, 0];
        let of = self.of;
        let result = match self.block(&of.functions[f], &mut v) {
            Left::Returned(r) => Some((r, v[GLOBAL])),
            Left::AtItsEnd | Left::Never => None,
        };
        self.known.insert((f, a, b, g), result);
        result
    }

    fn block(&mut self, body: &[Stmt], v: &mut Values) -> Left {
        for stmt in body {
            match stmt {
                Stmt::Global(e) => v[GLOBAL] = value(e, v),
                Stmt::Call(f, a, b) => {
                    let (a, b) = (value(a, v), value(b, v));
                    let Some((r, g)) = self.call(*f, a, b, v[GLOBAL]) else { return Left::Never };
                    (v[RESULT], v[GLOBAL]) = (r, g);
                }
                Stmt::If(c, then) if holds(c, v) => match self.block(then, v) {
                    Left::AtItsEnd => {}
                    left => return left,
                },
                Stmt::If(..) => {}
                Stmt::Return(e) => return Left::Returned(value(e, v)),
                Stmt::Error => {
                    self.error = true;
                    return Left::Never;
                }
            }
        }
        Left::AtItsEnd
    }
}

fn value(e: &Expr, v: &Values) -> u8 {
    match e {
        Expr::Const(k) => *k,
        Expr::Var(i) => v[*i],
        Expr::Add(a, b) => value(a, v).wrapping_add(value(b, v)) & MASK,
        Expr::Sub(a, b) => value(a, v).wrapping_sub(value(b, v)) & MASK,
    }
}

fn holds(c: &Cond, v: &Values) -> bool {
    match c {
        Cond::Eq(a, b) => value(a, v) == value(b, v),
        Cond::Less(a, b) => value(a, v) < value(b, v),
        Cond::Not(c) => !holds(c, v),
    }
}

/// Looks for a proof by contracts. Why there is none.
pub fn prove(program: &Rc<Program>, of: &RecursiveProgram, bounds: Bounds) -> Result<u32, String> {
    let entry = program.function_named(&of.entry()).ok_or("no entry")?;
    let set_up = |program: Rc<Program>, from: Option<&str>, error: Option<&'static str>| {
        let from = from.map_or_else(|| of.entry(), str::to_owned);
        let exec = ExecConfig {
            entry: ProgramEntry::Function(from),
            error_functions: error.map(str::to_owned).into_iter().collect(),
            ..ExecConfig::default()
        };
        let limits = Limits {
            max_instructions: Some(bounds.instructions),
            max_time: Some(Duration::from_secs(5)),
            ..Limits::default()
        };
        Engine::builder(program)
            .exec(exec)
            .solver(SolverConfig { timeout: Some(Duration::from_secs(2)), ..SolverConfig::default() })
            .run_config(RunConfig { limits, ..RunConfig::default() })
            .prune(PruneConfig { unbounded: true, errors_only: true, ..PruneConfig::default() })
    };
    prove_by_contracts(program, entry, bounds.time, &set_up, None).map(|proof| proof.runs)
}
