//! What a generated function does with one input.

use super::function::{Cond, Function, Int, PointerTarget, Ptr, Stmt};

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Node {
    pub v: i32,
    pub p: Option<usize>,
    pub q: Option<usize>,
    pub freed: bool,
}

/// Parameters and heap.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Input {
    pub nodes: Vec<Node>,
    pub a: Option<usize>,
    pub b: Option<usize>,
    pub t: Option<[i32; 8]>,
    pub x: i32,
    pub y: i32,
}

/// Why execution does not continue.
enum Stop {
    /// an error, or a loop beyond the bound
    End,
    Return,
}

type Run<T> = Result<T, Stop>;

#[derive(Clone, Copy)]
enum Target {
    Local,
    Field(usize),
    Element(usize),
}

struct Machine<'a> {
    nodes: Vec<Node>,
    t: Option<[i32; 8]>,
    ints: [i32; 5],
    ptrs: [Option<usize>; 5],
    r: Target,
    unwind: u32,
    reached: &'a mut u64,
}

/// The marks that the input reaches, as bits, while no loop iterates more than `unwind` times.
pub fn run(f: &Function, input: &Input, unwind: u32) -> u64 {
    let mut reached = 0;
    let mut m = Machine {
        nodes: input.nodes.clone(),
        t: input.t,
        ints: [input.x, input.y, 0, 0, 0],
        ptrs: [input.a, input.b, input.a, input.b, input.a],
        r: Target::Local,
        unwind,
        reached: &mut reached,
    };
    let _ = m.block(&f.body);
    reached
}

impl Machine<'_> {
    fn block(&mut self, body: &[Stmt]) -> Run<()> {
        body.iter().try_for_each(|s| self.stmt(s))
    }

    fn node(&mut self, p: Option<usize>) -> Run<usize> {
        match p {
            Some(n) if !self.nodes[n].freed => Ok(n),
            _ => Err(Stop::End),
        }
    }

    fn element(&self, i: i32) -> Run<usize> {
        match (self.t, usize::try_from(i)) {
            (Some(_), Ok(i)) if i < 8 => Ok(i),
            _ => Err(Stop::End),
        }
    }

    fn stmt(&mut self, s: &Stmt) -> Run<()> {
        match s {
            Stmt::SetInt(v, e) => self.ints[*v] = self.int(e)?,
            Stmt::SetPtr(p, e) => self.ptrs[*p] = self.ptr(e)?,
            Stmt::StoreField(p, e) => {
                let v = self.int(e)?;
                let n = self.node(self.ptrs[*p])?;
                self.nodes[n].v = v;
            }
            Stmt::StoreLink(p, first, e) => {
                let v = self.ptr(e)?;
                let n = self.node(self.ptrs[*p])?;
                *(if *first { &mut self.nodes[n].p } else { &mut self.nodes[n].q }) = v;
            }
            Stmt::StoreElement(i, masked, e) => {
                let (i, v) = (self.int(i)?, self.int(e)?);
                let i = self.element(if *masked { i & 7 } else { i })?;
                if let Some(t) = &mut self.t {
                    t[i] = v;
                }
            }
            Stmt::Point(PointerTarget::Field(p)) => {
                if let Some(n) = self.ptrs[*p] {
                    self.r = Target::Field(n);
                }
            }
            Stmt::Point(PointerTarget::Element(e)) => {
                if self.t.is_some() {
                    self.r = Target::Element((self.int(e)? & 7) as usize);
                }
            }
            Stmt::Point(PointerTarget::Local) => self.r = Target::Local,
            Stmt::StoreDeref(e) => {
                let v = self.int(e)?;
                match self.r {
                    Target::Local => self.ints[2] = v,
                    Target::Field(n) => {
                        let n = self.node(Some(n))?;
                        self.nodes[n].v = v;
                    }
                    Target::Element(i) => {
                        if let Some(t) = &mut self.t {
                            t[i] = v;
                        }
                    }
                }
            }
            Stmt::Assign(e) => self.ptrs[2] = self.ptr(e)?,
            Stmt::Copy(p, q) => {
                if self.ptrs[*p] != self.ptrs[*q] {
                    let (p, q) = (self.ptrs[*p], self.ptrs[*q]);
                    let from = self.node(q)?;
                    let to = self.node(p)?;
                    self.nodes[to] = self.nodes[from].clone();
                }
            }
            Stmt::Free(p) => {
                if let Some(n) = self.ptrs[*p] {
                    let n = self.node(Some(n))?;
                    self.nodes[n].freed = true;
                }
            }
            Stmt::If(c, then, otherwise) => {
                let branch = if self.cond(c)? { then } else { otherwise };
                self.block(branch)?;
            }
            Stmt::While(c, body) => {
                let mut n = 0;
                while self.cond(c)? {
                    self.block(body)?;
                    n += 1;
                    if n > self.unwind {
                        return Err(Stop::End);
                    }
                }
            }
            Stmt::Repeat(n, body) => {
                for k in 0..*n {
                    self.block(body)?;
                    if k >= self.unwind {
                        return Err(Stop::End);
                    }
                }
            }
            Stmt::Mark(k) => *self.reached |= 1 << k,
            Stmt::Return => return Err(Stop::Return),
        }
        Ok(())
    }

    fn int(&mut self, e: &Int) -> Run<i32> {
        Ok(match e {
            Int::Const(k) => *k,
            Int::Var(v) => self.ints[*v],
            Int::Field(p) => {
                let n = self.node(self.ptrs[*p])?;
                self.nodes[n].v
            }
            Int::Element(i, masked) => {
                let i = self.int(i)?;
                let i = self.element(if *masked { i & 7 } else { i })?;
                self.t.unwrap_or_default()[i]
            }
            Int::Deref => match self.r {
                Target::Local => self.ints[2],
                Target::Field(n) => {
                    let n = self.node(Some(n))?;
                    self.nodes[n].v
                }
                Target::Element(i) => self.t.unwrap_or_default()[i],
            },
            Int::Bin(op, a, b) => {
                let (a, b) = (self.int(a)?, self.int(b)?);
                match op {
                    '+' => a.wrapping_add(b),
                    '-' => a.wrapping_sub(b),
                    '*' => a.wrapping_mul(b),
                    _ => a.checked_div(b).ok_or(Stop::End)?,
                }
            }
            Int::Bump(p, e) => {
                let k = self.int(e)?;
                match self.ptrs[*p] {
                    None => k,
                    n => {
                        let n = self.node(n)?;
                        self.nodes[n].v = self.nodes[n].v.wrapping_add(k);
                        self.nodes[n].v
                    }
                }
            }
        })
    }

    fn ptr(&mut self, e: &Ptr) -> Run<Option<usize>> {
        Ok(match e {
            Ptr::Null => None,
            Ptr::Var(p) => self.ptrs[*p],
            Ptr::Field(p, first) => {
                let n = self.node(self.ptrs[*p])?;
                if *first { self.nodes[n].p } else { self.nodes[n].q }
            }
            Ptr::New(p) => {
                let old = self.ptrs[*p];
                let v = match old {
                    Some(_) => {
                        let n = self.node(old)?;
                        self.nodes[n].v
                    }
                    None => 1,
                };
                self.nodes.push(Node { v, p: old, q: None, freed: false });
                Some(self.nodes.len() - 1)
            }
        })
    }

    fn cond(&mut self, c: &Cond) -> Run<bool> {
        Ok(match c {
            Cond::Compare(op, a, b) => {
                let (a, b) = (self.int(a)?, self.int(b)?);
                match *op {
                    "==" => a == b,
                    "!=" => a != b,
                    "<" => a < b,
                    "<=" => a <= b,
                    _ => a > b,
                }
            }
            Cond::Same(equal, a, b) => {
                let (a, b) = (self.ptr(a)?, self.ptr(b)?);
                (a == b) == *equal
            }
            Cond::Set(p) => self.ptrs[*p].is_some(),
            Cond::And(a, b) => self.cond(a)? && self.cond(b)?,
            Cond::Or(a, b) => self.cond(a)? || self.cond(b)?,
        })
    }
}
