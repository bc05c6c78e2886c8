//! Which errors of a program can happen, by enumeration: the program as a graph, and all values at each of its nodes.

use super::program::{Cond, EndlessProgram, Expr, INPUT, MASK, Stmt, VARIABLES};
use std::collections::{BTreeSet, HashSet};

type Values = [u8; VARIABLES + 1];

enum Node<'a> {
    Assign(usize, &'a Expr, usize),
    Input(usize),
    Branch(&'a Cond, usize, usize),
    /// the loop of this number goes back to its start, or is entered
    Round(usize, usize),
    Enter(usize, usize),
    Error(usize),
    End,
}

/// Where `break` and `continue` go.
#[derive(Clone, Copy)]
struct Targets {
    exit: usize,
    back: usize,
}

/// An outer loop and one within it.
const LOOPS: usize = 2;

#[derive(Default)]
struct Graph<'a> {
    nodes: Vec<Node<'a>>,
    loops: usize,
}

impl<'a> Graph<'a> {
    fn add(&mut self, node: Node<'a>) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// The node at which these statements begin; `next` follows them.
    fn block(&mut self, body: &'a [Stmt], next: usize, targets: Option<Targets>) -> usize {
        body.iter().rev().fold(next, |next, s| self.stmt(s, next, targets))
    }

    fn stmt(&mut self, s: &'a Stmt, next: usize, targets: Option<Targets>) -> usize {
        match s {
            Stmt::Assign(v, e) => self.add(Node::Assign(*v, e, next)),
            Stmt::Input => self.add(Node::Input(next)),
            Stmt::If(c, yes, no) => {
                let (yes, no) = (self.block(yes, next, targets), self.block(no, next, targets));
                self.add(Node::Branch(c, yes, no))
            }
            Stmt::While(c, body) => {
                let number = self.loops;
                self.loops += 1;
                let header = self.add(Node::End);
                let back = self.add(Node::Round(number, header));
                let first = self.block(body, back, Some(Targets { exit: next, back }));
                self.nodes[header] = match c {
                    Some(c) => Node::Branch(c, first, next),
                    None => Node::Branch(&ALWAYS, first, next),
                };
                self.add(Node::Enter(number, header))
            }
            Stmt::Break => targets.map_or(next, |t| t.exit),
            Stmt::Continue => targets.map_or(next, |t| t.back),
            Stmt::Error(n) => self.add(Node::Error(*n)),
        }
    }
}

static ALWAYS: Cond = Cond::Eq(Expr::Const(0), Expr::Const(0));

fn value(e: &Expr, v: &Values) -> u8 {
    match e {
        Expr::Const(c) => *c,
        Expr::Var(x) => v[*x],
        Expr::Add(a, b) => value(a, v).wrapping_add(value(b, v)) & MASK,
        Expr::Sub(a, b) => value(a, v).wrapping_sub(value(b, v)) & MASK,
        Expr::Xor(a, b) => (value(a, v) ^ value(b, v)) & MASK,
    }
}

fn holds(c: &Cond, v: &Values) -> bool {
    match c {
        Cond::Eq(a, b) => value(a, v) == value(b, v),
        Cond::Less(a, b) => value(a, v) < value(b, v),
        Cond::Not(c) => !holds(c, v),
        Cond::And(a, b) => holds(a, v) && holds(b, v),
    }
}

/// The errors that some inputs lead to; `bound`: with at most this many rounds of a loop each time it is entered.
pub fn reachable(program: &EndlessProgram, bound: Option<u32>) -> BTreeSet<usize> {
    let mut graph = Graph::default();
    let end = graph.add(Node::End);
    let start = graph.block(&program.body, end, None);
    let first = (start, [0; VARIABLES + 1], [0; LOOPS]);
    let mut seen: HashSet<(usize, Values, [u32; LOOPS])> = HashSet::from([first]);
    let mut todo = vec![first];
    let mut errors = BTreeSet::new();
    while let Some((at, v, rounds)) = todo.pop() {
        let mut go = |next: usize, v: Values, rounds: [u32; LOOPS]| {
            if seen.insert((next, v, rounds)) {
                todo.push((next, v, rounds));
            }
        };
        match graph.nodes[at] {
            Node::End => {}
            Node::Error(n) => drop(errors.insert(n)),
            Node::Branch(c, yes, no) => go(if holds(c, &v) { yes } else { no }, v, rounds),
            Node::Enter(n, next) => go(next, v, with(rounds, n, 0)),
            Node::Round(n, next) => match bound {
                Some(max) if rounds[n] >= max => {}
                Some(_) => go(next, v, with(rounds, n, rounds[n] + 1)),
                None => go(next, v, rounds),
            },
            Node::Assign(x, e, next) => {
                let mut w = v;
                w[x] = value(e, &v);
                go(next, w, rounds);
            }
            Node::Input(next) => (0..4).for_each(|n| {
                let mut w = v;
                w[INPUT] = n;
                go(next, w, rounds);
            }),
        }
    }
    errors
}

fn with(mut rounds: [u32; LOOPS], of: usize, n: u32) -> [u32; LOOPS] {
    rounds[of] = n;
    rounds
}
