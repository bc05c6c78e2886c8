//! Programs over four small variables: statements, their text, and where errors are.

use pleach_testkit::random::Rng;

/// Variables have three bits.
pub const MASK: u8 = 7;
pub const VARIABLES: usize = 4;
/// The last input, of two bits, is one more variable.
pub const INPUT: usize = VARIABLES;

#[derive(Clone, Debug)]
pub enum Expr {
    Const(u8),
    Var(usize),
    Add(Box<Expr>, Box<Expr>),
    Sub(Box<Expr>, Box<Expr>),
    Xor(Box<Expr>, Box<Expr>),
}

#[derive(Clone, Debug)]
pub enum Cond {
    Eq(Expr, Expr),
    Less(Expr, Expr),
    Not(Box<Cond>),
    And(Box<Cond>, Box<Cond>),
}

#[derive(Clone, Debug)]
pub enum Stmt {
    Assign(usize, Expr),
    Input,
    If(Cond, Vec<Stmt>, Vec<Stmt>),
    /// until the condition fails; `None`: without end
    While(Option<Cond>, Vec<Stmt>),
    Break,
    Continue,
    /// number of the error
    Error(usize),
}

/// Where the variables live.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Storage {
    Locals,
    Globals,
    Heap,
}

pub struct EndlessProgram {
    pub seed: u64,
    pub body: Vec<Stmt>,
    /// by error: its line, counted from the first line of the program
    pub lines: Vec<u32>,
    pub text: String,
}

impl EndlessProgram {
    pub fn entry(&self) -> String {
        format!("s{}_main", self.seed)
    }
}

struct Generator {
    rng: Rng,
    errors: usize,
    loops: u32,
}

/// The program of a seed; the same on every machine.
pub fn generate(seed: u64) -> EndlessProgram {
    let mut g = Generator { rng: Rng::new(seed), errors: 0, loops: 0 };
    let mut body: Vec<Stmt> = (0..VARIABLES).map(|v| Stmt::Assign(v, Expr::Const(g.below(3) as u8))).collect();
    body.push(Stmt::Input);
    if g.chance(3) {
        body.push(Stmt::Assign(g.below(VARIABLES), Expr::Var(INPUT)));
    }
    body.push(g.outer_loop());
    body.push(g.check());
    let home = [Storage::Locals, Storage::Globals, Storage::Heap][g.below(3)];
    let mut printer = Printer { home, seed, out: String::new(), line: 0, lines: vec![0; g.errors] };
    printer.program(&body);
    let Printer { out: text, lines, .. } = printer;
    EndlessProgram { seed, body, lines, text }
}

impl Generator {
    fn below(&mut self, n: usize) -> usize {
        self.rng.below(n as u64) as usize
    }
    fn chance(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    fn outer_loop(&mut self) -> Stmt {
        let guard = if self.chance(2) { None } else { Some(self.cond()) };
        let mut body = vec![Stmt::Input];
        let n = 2 + self.below(4);
        body.extend((0..n).map(|_| self.stmt(2)));
        body.push(self.check());
        Stmt::While(guard, body)
    }

    fn check(&mut self) -> Stmt {
        let error = self.errors;
        self.errors += 1;
        let cond = if self.chance(2) { Cond::And(Box::new(self.cond()), Box::new(self.cond())) } else { self.cond() };
        Stmt::If(cond, vec![Stmt::Error(error)], vec![])
    }

    fn stmt(&mut self, depth: u32) -> Stmt {
        match self.below(12) {
            0..=3 => Stmt::Assign(self.below(VARIABLES), self.expr(1)),
            4 => Stmt::Input,
            5..=8 if depth > 0 => {
                let cond = self.cond();
                let [yes, no] = [(); 2].map(|()| {
                    let n = 1 + self.below(2);
                    (0..n).map(|_| self.stmt(depth - 1)).collect()
                });
                Stmt::If(cond, yes, no)
            }
            9 if depth == 2 && self.loops == 0 => {
                self.loops += 1;
                let cond = self.cond();
                let mut body: Vec<Stmt> = (0..=self.below(2)).map(|_| self.stmt(0)).collect();
                body.push(Stmt::Input);
                body.push(Stmt::If(Cond::Eq(Expr::Var(INPUT), Expr::Const(1)), vec![Stmt::Break], vec![]));
                Stmt::While(Some(cond), body)
            }
            10 if depth == 1 => {
                if self.chance(2) {
                    Stmt::Break
                } else {
                    Stmt::Continue
                }
            }
            11 if depth == 2 => self.check(),
            _ => Stmt::Assign(self.below(VARIABLES), Expr::Const(self.below(5) as u8)),
        }
    }

    fn expr(&mut self, depth: u32) -> Expr {
        match self.below(6) {
            0 | 1 => Expr::Var(self.below(VARIABLES + 1)),
            2 => Expr::Const(self.below(8) as u8),
            _ if depth == 0 => Expr::Var(self.below(VARIABLES)),
            n => {
                let (a, b) = (Box::new(self.expr(depth - 1)), Box::new(self.expr(depth - 1)));
                [Expr::Add, Expr::Sub, Expr::Xor][n - 3](a, b)
            }
        }
    }

    fn cond(&mut self) -> Cond {
        let a = Expr::Var(self.below(VARIABLES + 1));
        let b = if self.chance(3) { Expr::Var(self.below(VARIABLES)) } else { Expr::Const(self.below(8) as u8) };
        let c = if self.chance(3) { Cond::Less(a, b) } else { Cond::Eq(a, b) };
        if self.chance(3) { Cond::Not(Box::new(c)) } else { c }
    }
}

struct Printer {
    home: Storage,
    seed: u64,
    out: String,
    line: u32,
    lines: Vec<u32>,
}

impl Printer {
    fn emit(&mut self, text: &str) {
        self.out += text;
        self.out.push('\n');
        self.line += 1;
    }

    fn program(&mut self, body: &[Stmt]) {
        let seed = self.seed;
        if self.home == Storage::Globals {
            self.emit(&format!("static unsigned s{seed}_v[{VARIABLES}];"));
        }
        self.emit(&format!("int s{seed}_main(void) {{"));
        self.emit("unsigned in = 0;");
        match self.home {
            Storage::Locals => self.emit("unsigned v0 = 0, v1 = 0, v2 = 0, v3 = 0;"),
            Storage::Globals => {}
            Storage::Heap => {
                self.emit(&format!("unsigned *v = malloc({VARIABLES} * sizeof *v);"));
                self.emit("if (!v) return 0;");
            }
        }
        body.iter().for_each(|s| self.stmt(s));
        self.emit("return 0;");
        self.emit("}");
    }

    fn var(&self, v: usize) -> String {
        match self.home {
            _ if v == INPUT => "in".to_owned(),
            Storage::Locals => format!("v{v}"),
            Storage::Globals => format!("s{}_v[{v}]", self.seed),
            Storage::Heap => format!("v[{v}]"),
        }
    }

    fn expr(&self, e: &Expr) -> String {
        let binary = |op: &str, a: &Expr, b: &Expr| format!("(({} {op} {}) & 7)", self.expr(a), self.expr(b));
        match e {
            Expr::Const(c) => format!("{c}u"),
            Expr::Var(v) => self.var(*v),
            Expr::Add(a, b) => binary("+", a, b),
            Expr::Sub(a, b) => binary("-", a, b),
            Expr::Xor(a, b) => binary("^", a, b),
        }
    }

    fn cond(&self, c: &Cond) -> String {
        match c {
            Cond::Eq(a, b) => format!("{} == {}", self.expr(a), self.expr(b)),
            Cond::Less(a, b) => format!("{} < {}", self.expr(a), self.expr(b)),
            Cond::Not(c) => format!("!({})", self.cond(c)),
            Cond::And(a, b) => format!("({}) && ({})", self.cond(a), self.cond(b)),
        }
    }

    fn block(&mut self, body: &[Stmt]) {
        body.iter().for_each(|s| self.stmt(s));
    }

    fn stmt(&mut self, s: &Stmt) {
        match s {
            Stmt::Assign(v, e) => self.emit(&format!("{} = {};", self.var(*v), self.expr(e))),
            Stmt::Input => self.emit("in = __VERIFIER_nondet_uint() & 3;"),
            Stmt::If(c, yes, no) => {
                self.emit(&format!("if ({}) {{", self.cond(c)));
                self.block(yes);
                self.emit("} else {");
                self.block(no);
                self.emit("}");
            }
            Stmt::While(c, body) => {
                let c = c.as_ref().map_or("1".to_owned(), |c| self.cond(c));
                self.emit(&format!("while ({c}) {{"));
                self.block(body);
                self.emit("}");
            }
            Stmt::Break => self.emit("break;"),
            Stmt::Continue => self.emit("continue;"),
            Stmt::Error(n) => {
                self.lines[*n] = self.line;
                self.emit("__assert_fail(\"\", \"\", 0, \"\");");
            }
        }
    }
}
