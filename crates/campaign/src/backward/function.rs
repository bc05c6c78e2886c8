//! Random functions with pointers, and how C writes them.

use pleach_testkit::random::Rng;
use std::fmt::Write;

/// Functions per compilation.
pub const FUNCTIONS: u64 = 60;

#[derive(Clone, PartialEq, Debug)]
pub enum Int {
    Const(i32),
    /// x, y, i0, i1, i2
    Var(usize),
    Field(usize),
    /// `t[e & 7]`, or without the mask
    Element(Box<Int>, bool),
    /// `*r`
    Deref,
    Bin(char, Box<Int>, Box<Int>),
    /// `h0(p, e)`: adds to the field and returns it
    Bump(usize, Box<Int>),
}

#[derive(Clone, PartialEq, Debug)]
pub enum Ptr {
    Null,
    Var(usize),
    /// of a pointer, its `p` or `q`
    Field(usize, bool),
    /// `h1(p)`: a new node in front of it
    New(usize),
}

#[derive(Clone, PartialEq, Debug)]
pub enum Cond {
    Compare(&'static str, Int, Int),
    Same(bool, Ptr, Ptr),
    Set(usize),
    And(Box<Cond>, Box<Cond>),
    Or(Box<Cond>, Box<Cond>),
}

#[derive(Clone, PartialEq, Debug)]
pub enum Stmt {
    SetInt(usize, Int),
    SetPtr(usize, Ptr),
    StoreField(usize, Int),
    StoreLink(usize, bool, Ptr),
    StoreElement(Int, bool, Int),
    /// `r = &p->v`, `&t[e & 7]` or `&i0`
    Point(PointerTarget),
    StoreDeref(Int),
    /// `h2(&p0, p)`: assigns through a pointer to a pointer
    Assign(Ptr),
    /// `*p = *q`
    Copy(usize, usize),
    Free(usize),
    If(Cond, Vec<Stmt>, Vec<Stmt>),
    While(Cond, Vec<Stmt>),
    /// a loop of this many iterations over `k`
    Repeat(u32, Vec<Stmt>),
    Mark(u32),
    Return,
}

#[derive(Clone, PartialEq, Debug)]
pub enum PointerTarget {
    Field(usize),
    Element(Int),
    Local,
}

pub const INTS: [&str; 5] = ["x", "y", "i0", "i1", "i2"];
pub const PTRS: [&str; 5] = ["a", "b", "p0", "p1", "p2"];

#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    pub name: String,
    pub body: Vec<Stmt>,
    pub marks: u32,
}

/// What all functions share.
pub fn prelude() -> &'static str {
    "#include <stdlib.h>
struct node { int v; struct node *p; struct node *q; };
int sink;
static int h0(struct node *n, int k) { if (!n) return k; n->v = (int)((unsigned)n->v + (unsigned)k); return n->v; }
static struct node *h1(struct node *n) {
  struct node *m = malloc(sizeof *m); m->v = n ? n->v : 1; m->p = n; m->q = 0; return m;
}
static void h2(struct node **pp, struct node *n) { *pp = n; }
"
}

struct Generator {
    rng: Rng,
    marks: u32,
    depth: u32,
}

impl Function {
    pub fn new(seed: u64) -> Function {
        let mut g = Generator { rng: Rng::new(seed ^ 0xbac4), marks: 0, depth: 0 };
        let n = 3 + g.rng.below(6);
        let mut body = g.block(n);
        if g.marks == 0 {
            body.push(g.mark());
        }
        Function { name: format!("f{seed}"), body, marks: g.marks }
    }

    pub fn text(&self) -> String {
        let mut out = format!("void {}(struct node *a, struct node *b, int *t, int x, int y) {{\n", self.name);
        out.push_str("  int i0 = 0, i1 = 0, i2 = 0, k0, k1, k2, k3;\n  struct node *p0 = a, *p1 = b, *p2 = a;\n  int *r = &i0;\n");
        write_block(&self.body, 1, 0, &mut out);
        out.push_str("}\n");
        out
    }
}

impl Generator {
    fn block(&mut self, n: u64) -> Vec<Stmt> {
        (0..n).map(|_| self.stmt()).collect()
    }

    fn mark(&mut self) -> Stmt {
        self.marks += 1;
        Stmt::Mark(self.marks)
    }

    fn ptr_var(&mut self) -> usize {
        self.rng.below(PTRS.len() as u64) as usize
    }

    fn stmt(&mut self) -> Stmt {
        let nested = self.depth < 3;
        match self.rng.below(30) {
            0..=2 => Stmt::SetInt(2 + self.rng.below(3) as usize, self.int(2)),
            3..=6 => Stmt::SetPtr(2 + self.rng.below(3) as usize, self.ptr()),
            7..=8 => Stmt::StoreField(self.ptr_var(), self.int(2)),
            9..=10 => Stmt::StoreLink(self.ptr_var(), self.rng.one_in(2), self.ptr()),
            11 => Stmt::StoreElement(self.int(1), !self.rng.one_in(4), self.int(1)),
            12 => Stmt::Point(match self.rng.below(3) {
                0 => PointerTarget::Field(self.ptr_var()),
                1 => PointerTarget::Element(self.int(1)),
                _ => PointerTarget::Local,
            }),
            13 => Stmt::StoreDeref(self.int(1)),
            14 => Stmt::Assign(self.ptr()),
            15 => Stmt::Copy(self.ptr_var(), self.ptr_var()),
            16 if self.rng.one_in(2) => Stmt::Free(self.ptr_var()),
            17..=22 if nested => {
                self.depth += 1;
                let c = self.cond(2);
                let n = 1 + self.rng.below(3);
                let mut then = self.block(n);
                if self.rng.one_in(2) {
                    then.push(self.mark());
                }
                let otherwise = if self.rng.one_in(3) { self.block(2) } else { Vec::new() };
                self.depth -= 1;
                Stmt::If(c, then, otherwise)
            }
            23..=24 if nested => {
                self.depth += 1;
                let c = self.cond(1);
                let mut body = self.block(2);
                let p = 2 + self.rng.below(3) as usize;
                body.push(Stmt::SetPtr(p, Ptr::Field(p, true)));
                self.depth -= 1;
                let c = Cond::And(Box::new(Cond::Set(p)), Box::new(c));
                Stmt::While(if self.rng.one_in(2) { c } else { Cond::Set(p) }, body)
            }
            25 if nested => {
                self.depth += 1;
                let n = 1 + self.rng.below(3) as u32;
                let body = self.block(2);
                self.depth -= 1;
                Stmt::Repeat(n, body)
            }
            26 if self.depth > 0 && self.rng.one_in(2) => Stmt::Return,
            _ => self.mark(),
        }
    }

    fn int(&mut self, deep: u32) -> Int {
        match self.rng.below(if deep == 0 { 6 } else { 11 }) {
            0 | 1 => Int::Const(self.rng.below(9) as i32 - 3),
            2..=4 => Int::Var(self.rng.below(INTS.len() as u64) as usize),
            5 => Int::Field(self.ptr_var()),
            6 => Int::Element(Box::new(self.int(deep - 1)), !self.rng.one_in(4)),
            7 => Int::Deref,
            8 => Int::Bump(self.ptr_var(), Box::new(self.int(deep - 1))),
            _ => {
                // Products and quotients of two variables take the solver long and show little.
                let op = ['+', '-', '+', '-', '+', '-', '*', '/'][self.rng.below(8) as usize];
                if matches!(op, '*' | '/') && !self.rng.one_in(8) {
                    return Int::Bin(op, Box::new(self.int(deep - 1)), Box::new(Int::Const(self.rng.below(4) as i32)));
                }
                Int::Bin(op, Box::new(self.int(deep - 1)), Box::new(self.int(deep - 1)))
            }
        }
    }

    fn ptr(&mut self) -> Ptr {
        match self.rng.below(8) {
            0 => Ptr::Null,
            1..=3 => Ptr::Var(self.ptr_var()),
            4..=6 => Ptr::Field(self.ptr_var(), self.rng.one_in(2)),
            _ => Ptr::New(self.ptr_var()),
        }
    }

    fn cond(&mut self, deep: u32) -> Cond {
        match self.rng.below(if deep == 0 { 7 } else { 9 }) {
            0..=2 => {
                let op = ["==", "!=", "<", "<=", ">"][self.rng.below(5) as usize];
                Cond::Compare(op, self.int(1), self.int(1))
            }
            3..=5 => Cond::Same(self.rng.one_in(2), self.ptr(), self.ptr()),
            6 => Cond::Set(self.ptr_var()),
            7 => Cond::And(Box::new(self.cond(deep - 1)), Box::new(self.cond(deep - 1))),
            _ => Cond::Or(Box::new(self.cond(deep - 1)), Box::new(self.cond(deep - 1))),
        }
    }
}

fn int(e: &Int) -> String {
    match e {
        Int::Const(k) => format!("({k})"),
        Int::Var(v) => INTS[*v].into(),
        Int::Field(p) => format!("{}->v", PTRS[*p]),
        Int::Element(e, true) => format!("t[{} & 7]", int(e)),
        Int::Element(e, false) => format!("t[{}]", int(e)),
        Int::Deref => "*r".into(),
        Int::Bin('/', a, b) => format!("({} / {})", int(a), int(b)),
        Int::Bin(op, a, b) => format!("(int)((unsigned){} {op} (unsigned){})", int(a), int(b)),
        Int::Bump(p, e) => format!("h0({}, {})", PTRS[*p], int(e)),
    }
}

fn ptr(e: &Ptr) -> String {
    match e {
        Ptr::Null => "(struct node *)0".into(),
        Ptr::Var(p) => PTRS[*p].into(),
        Ptr::Field(p, first) => format!("{}->{}", PTRS[*p], if *first { "p" } else { "q" }),
        Ptr::New(p) => format!("h1({})", PTRS[*p]),
    }
}

fn cond(c: &Cond) -> String {
    match c {
        Cond::Compare(op, a, b) => format!("{} {op} {}", int(a), int(b)),
        Cond::Same(true, a, b) => format!("{} == {}", ptr(a), ptr(b)),
        Cond::Same(false, a, b) => format!("{} != {}", ptr(a), ptr(b)),
        Cond::Set(p) => PTRS[*p].into(),
        Cond::And(a, b) => format!("({}) && ({})", cond(a), cond(b)),
        Cond::Or(a, b) => format!("({}) || ({})", cond(a), cond(b)),
    }
}

fn write_block(body: &[Stmt], depth: usize, loops: usize, out: &mut String) {
    for s in body {
        let pad = "  ".repeat(depth);
        let link = |first: &bool| if *first { "p" } else { "q" };
        let line = match s {
            Stmt::SetInt(v, e) => format!("{} = {};", INTS[*v], int(e)),
            Stmt::SetPtr(p, e) => format!("{} = {};", PTRS[*p], ptr(e)),
            Stmt::StoreField(p, e) => format!("{{ int e = {}; {}->v = e; }}", int(e), PTRS[*p]),
            Stmt::StoreLink(p, first, e) => {
                format!("{{ struct node *e = {}; {}->{} = e; }}", ptr(e), PTRS[*p], link(first))
            }
            Stmt::StoreElement(i, masked, e) => {
                let mask = if *masked { " & 7" } else { "" };
                format!("{{ int i = {}; int e = {}; t[i{mask}] = e; }}", int(i), int(e))
            }
            Stmt::Point(PointerTarget::Field(p)) => format!("if ({}) r = &{}->v;", PTRS[*p], PTRS[*p]),
            Stmt::Point(PointerTarget::Element(e)) => format!("if (t) r = &t[{} & 7];", int(e)),
            Stmt::Point(PointerTarget::Local) => "r = &i0;".into(),
            Stmt::StoreDeref(e) => format!("{{ int e = {}; *r = e; }}", int(e)),
            Stmt::Assign(e) => format!("h2(&p0, {});", ptr(e)),
            Stmt::Copy(p, q) => format!("if ({} != {}) *{} = *{};", PTRS[*p], PTRS[*q], PTRS[*p], PTRS[*q]),
            Stmt::Free(p) => format!("free({});", PTRS[*p]),
            Stmt::Mark(k) => format!("sink = {k};"),
            Stmt::Return => "return;".into(),
            Stmt::If(c, ..) => format!("if ({}) {{", cond(c)),
            Stmt::While(c, _) => format!("while ({}) {{", cond(c)),
            Stmt::Repeat(n, _) => format!("for (k{loops} = 0; k{loops} < {n}; k{loops}++) {{"),
        };
        let _ = writeln!(out, "{pad}{line}");
        match s {
            Stmt::If(_, then, otherwise) => {
                write_block(then, depth + 1, loops, out);
                if !otherwise.is_empty() {
                    let _ = writeln!(out, "{pad}}} else {{");
                    write_block(otherwise, depth + 1, loops, out);
                }
                let _ = writeln!(out, "{pad}}}");
            }
            Stmt::While(_, body) => {
                write_block(body, depth + 1, loops, out);
                let _ = writeln!(out, "{pad}}}");
            }
            Stmt::Repeat(_, body) => {
                write_block(body, depth + 1, loops + 1, out);
                let _ = writeln!(out, "{pad}}}");
            }
            _ => {}
        }
    }
}
