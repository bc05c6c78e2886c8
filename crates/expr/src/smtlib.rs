//! Assertions as an SMT-LIB 2 script, for the query log.
//!
//! *Idea*: every shared operator is a `define-fun`, so a script is linear in the distinct operators and nests no deeper
//! than the unshared ones. A shared operator under a quantifier takes the bound variables as parameters.
//! *Deviations*: `fmod` is written `fp.rem` and conversions to integers leave out-of-range values to the solver; a
//! float pattern is read back by the common extension `fp.to_ieee_bv`.

use crate::print::{hexadecimal, quoted};
use crate::symbol::{SymbolId, SymbolKind};
use crate::term::{INDEX_BITS, Node, Op, TermId, Terms, facts};
use rustc_hash::FxHashMap;
use std::fmt::Write;

impl Terms {
    /// A script that checks whether the conjunction is satisfiable.
    pub fn smtlib(&self, assertions: &[TermId]) -> String {
        let reachable = self.reachable(assertions);
        let shared = self.shared(&reachable, assertions);
        let mut script = Script {
            terms: self,
            out: String::new(),
            shared: FxHashMap::default(),
            bound: bound_below(self, &reachable),
        };
        script.out.push_str("(set-logic ALL)\n");
        script.declarations(&reachable);
        for (i, &t) in shared.iter().enumerate() {
            script.define(t, i + 1);
        }
        for &t in assertions {
            script.out.push_str("(assert ");
            script.write(Piece::Bool(t));
            script.out.push_str(")\n");
        }
        script.out.push_str("(check-sat)\n");
        script.out
    }
}

/// Which bound variables each term mentions outside the quantifier that binds them; terms without any are left out.
fn bound_below(terms: &Terms, reachable: &[TermId]) -> FxHashMap<TermId, Vec<TermId>> {
    let mut of: FxHashMap<TermId, Vec<TermId>> = FxHashMap::default();
    for &t in reachable {
        let n = terms.node(t);
        if n.op == Op::Forall {
            of.insert(n.arg_a(), vec![n.arg_a()]);
        }
    }
    if of.is_empty() {
        return of;
    }
    for &t in reachable {
        let n = terms.node(t);
        let mut all: Vec<TermId> = terms.args(t).iter().filter_map(|a| of.get(a)).flatten().copied().collect();
        if n.op == Op::Forall {
            all.retain(|v| *v != n.arg_a());
        }
        all.sort_unstable();
        all.dedup();
        if !all.is_empty() {
            of.insert(t, all);
        }
    }
    of
}

/// What is still to be written; a term in a place that wants a truth value, a bit-vector (or array), or a float.
enum Piece {
    Bool(TermId),
    Bits(TermId),
    Float(TermId),
    Text(&'static str),
    Owned(String),
}

struct Script<'a> {
    terms: &'a Terms,
    out: String,
    shared: FxHashMap<TermId, usize>,
    bound: FxHashMap<TermId, Vec<TermId>>,
}

fn sort(width: u16) -> String {
    format!("(_ BitVec {width})")
}

fn array_sort(element: u16) -> String {
    format!("(Array {} {})", sort(INDEX_BITS), sort(element))
}

/// Exponent and significand bits of a float of this width.
fn float_format(width: u16) -> (u16, u16) {
    match width {
        16 => (5, 11),
        32 => (8, 24),
        64 => (11, 53),
        80 => (15, 65),
        _ => (15, 113),
    }
}

/// Written as a truth value rather than as one bit.
fn is_truth(n: Node) -> bool {
    match n.op {
        Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle | Op::ArrayEq | Op::Forall => true,
        Op::FEq | Op::FLt | Op::FLe | Op::FIsNan => true,
        Op::Not | Op::And | Op::Or => n.width == 1,
        _ => false,
    }
}

/// The operators that keep name and arguments.
fn plain(op: Op) -> &'static str {
    match op {
        Op::Store => "store",
        Op::Read => "select",
        Op::Not => "bvnot",
        Op::And => "bvand",
        Op::Or => "bvor",
        Op::Xor => "bvxor",
        Op::Neg => "bvneg",
        Op::Add => "bvadd",
        Op::Sub => "bvsub",
        Op::Mul => "bvmul",
        Op::UDiv => "bvudiv",
        Op::SDiv => "bvsdiv",
        Op::URem => "bvurem",
        Op::SRem => "bvsrem",
        Op::Shl => "bvshl",
        Op::LShr => "bvlshr",
        Op::AShr => "bvashr",
        Op::Eq | Op::ArrayEq => "=",
        Op::Ult => "bvult",
        Op::Ule => "bvule",
        Op::Slt => "bvslt",
        Op::Sle => "bvsle",
        Op::Concat => "concat",
        Op::FAdd => "fp.add RNE",
        Op::FSub => "fp.sub RNE",
        Op::FMul => "fp.mul RNE",
        Op::FDiv => "fp.div RNE",
        Op::FRem => "fp.rem",
        Op::FSqrt => "fp.sqrt RNE",
        Op::FFma => "fp.fma RNE",
        Op::FEq => "fp.eq",
        Op::FLt => "fp.lt",
        Op::FLe => "fp.leq",
        Op::FIsNan => "fp.isNaN",
        _ => "",
    }
}

/// Name and number: two symbols may have one name.
fn symbol(terms: &Terms, n: Node) -> String {
    quoted(&format!("{}!{}", terms.symbols.info(SymbolId(n.a)).name, n.a))
}

impl Script<'_> {
    fn declarations(&mut self, reachable: &[TermId]) {
        for &t in reachable {
            let n = self.terms.node(t);
            let (name, sort) = match n.op {
                Op::Var if self.bound.contains_key(&t) => continue,
                Op::Var => (symbol(self.terms, n), sort(n.width)),
                Op::Base => (format!("base{}", n.a), sort(n.width)),
                Op::ArrayVar => {
                    if let SymbolKind::Array { len, .. } = self.terms.symbols.kind(SymbolId(n.a)) {
                        let _ = writeln!(self.out, "; {} elements", len);
                    }
                    (symbol(self.terms, n), array_sort(n.width))
                }
                Op::ArrayConst => {
                    self.table(t, n);
                    continue;
                }
                _ => continue,
            };
            let _ = writeln!(self.out, "(declare-const {name} {sort})");
        }
    }

    fn table(&mut self, t: TermId, n: Node) {
        let table = self.terms.table(t);
        let sort = array_sort(n.width);
        let _ = write!(self.out, "(define-fun table{} () {sort} ", t.0);
        self.out.push_str(&"(store ".repeat(table.len()));
        let _ = write!(self.out, "((as const {sort}) (_ bv0 {}))", n.width);
        for (i, v) in table.iter().enumerate() {
            let _ = write!(self.out, " (_ bv{i} {INDEX_BITS}) (_ bv{v} {}))", n.width);
        }
        self.out.push_str(")\n");
    }

    fn define(&mut self, t: TermId, number: usize) {
        let n = self.terms.node(t);
        let truth = is_truth(n);
        let kind = if truth {
            "Bool".to_string()
        } else if self.terms.has(t, facts::IS_ARRAY) {
            array_sort(n.width)
        } else {
            sort(n.width)
        };
        let mut parameters = Vec::new();
        for &v in self.bound.get(&t).into_iter().flatten() {
            let m = self.terms.node(v);
            parameters.push(format!("({} {})", symbol(self.terms, m), sort(m.width)));
        }
        let _ = write!(self.out, "(define-fun t{number} ({}) {kind} ", parameters.join(" "));
        self.write(if truth { Piece::Bool(t) } else { Piece::Bits(t) });
        self.out.push_str(")\n");
        // named only now: the definition itself had to be written out
        self.shared.insert(t, number);
    }

    fn reference(&self, t: TermId, number: usize) -> String {
        match self.bound.get(&t) {
            None => format!("t{number}"),
            Some(all) => {
                let names: Vec<String> = all.iter().map(|v| symbol(self.terms, self.terms.node(*v))).collect();
                format!("(t{number} {})", names.join(" "))
            }
        }
    }

    fn write(&mut self, piece: Piece) {
        let mut todo = vec![piece];
        while let Some(piece) = todo.pop() {
            match piece {
                Piece::Text(s) => self.out.push_str(s),
                Piece::Owned(s) => self.out.push_str(&s),
                Piece::Float(t) => {
                    let (e, s) = float_format(self.terms.width(t));
                    let _ = write!(self.out, "((_ to_fp {e} {s}) ");
                    todo.extend([Piece::Text(")"), Piece::Bits(t)]);
                }
                Piece::Bool(t) | Piece::Bits(t) => {
                    let wants_truth = matches!(piece, Piece::Bool(_));
                    let n = self.terms.node(t);
                    match (wants_truth, is_truth(n)) {
                        (true, false) => {
                            self.out.push_str("(= ");
                            todo.extend([Piece::Text(" #b1)"), Piece::Bits(t)]);
                        }
                        (false, true) => {
                            self.out.push_str("(ite ");
                            todo.extend([Piece::Text(" #b1 #b0)"), Piece::Bool(t)]);
                        }
                        _ => match self.shared.get(&t) {
                            Some(&i) => {
                                let r = self.reference(t, i);
                                self.out.push_str(&r);
                            }
                            None => self.open(t, n, &mut todo),
                        },
                    }
                }
            }
        }
    }

    /// Writes the head of `t` and leaves its arguments to do.
    fn open(&mut self, t: TermId, n: Node, todo: &mut Vec<Piece>) {
        let mut head = |s: String, args: Vec<Piece>| {
            self.out.push_str(&s);
            todo.push(Piece::Text(")"));
            for a in args.into_iter().rev() {
                todo.extend([a, Piece::Text(" ")]);
            }
        };
        let (a, b, c) = (n.arg_a(), n.arg_b(), n.arg_c());
        let from = |x: TermId| self.terms.width(x);
        match n.op {
            Op::Const => todo.push(Piece::Owned(format!("(_ bv{} {})", n.value(), n.width))),
            Op::Wide => {
                let bits = hexadecimal(self.terms.limbs(t));
                // a hexadecimal literal has a width of its own; extend or cut it to the right one
                let digits = bits.len() as u16 - 2;
                let text = if digits * 4 > n.width {
                    format!("((_ extract {} 0) #x{})", n.width - 1, &bits[2..])
                } else {
                    format!("((_ zero_extend {}) #x{})", n.width - digits * 4, &bits[2..])
                };
                todo.push(Piece::Owned(text));
            }
            Op::Var | Op::ArrayVar => todo.push(Piece::Owned(symbol(self.terms, n))),
            Op::Base => todo.push(Piece::Owned(format!("base{}", n.a))),
            Op::ArrayConst => todo.push(Piece::Owned(format!("table{}", t.0))),
            Op::Not if n.width == 1 => head("(not".into(), vec![Piece::Bool(a)]),
            Op::And if n.width == 1 => head("(and".into(), vec![Piece::Bool(a), Piece::Bool(b)]),
            Op::Or if n.width == 1 => head("(or".into(), vec![Piece::Bool(a), Piece::Bool(b)]),
            Op::Extract => head(format!("((_ extract {} {})", n.b + u32::from(n.width) - 1, n.b), vec![Piece::Bits(a)]),
            Op::ZExt => head(format!("((_ zero_extend {})", n.width - from(a)), vec![Piece::Bits(a)]),
            Op::SExt => head(format!("((_ sign_extend {})", n.width - from(a)), vec![Piece::Bits(a)]),
            Op::Ite => head("(ite".into(), vec![Piece::Bool(a), Piece::Bits(b), Piece::Bits(c)]),
            Op::Forall => {
                let m = self.terms.node(a);
                let name = symbol(self.terms, m);
                let s = format!("(forall (({name} {})) (=> (bvult {name}", sort(m.width));
                head(s, vec![Piece::Bits(b), Piece::Text(")"), Piece::Bool(c), Piece::Text(")")]);
            }
            Op::FRound => {
                let mode = ["RNE", "RNA", "RTP", "RTN", "RTZ"][n.b.min(4) as usize];
                head(format!("(fp.to_ieee_bv (fp.roundToIntegral {mode}"), vec![Piece::Float(a), Piece::Text(")")]);
            }
            Op::FResize | Op::FFromSigned | Op::FFromUnsigned => {
                let (e, s) = float_format(n.width);
                let f = if n.op == Op::FFromUnsigned { "to_fp_unsigned" } else { "to_fp" };
                let x = if n.op == Op::FResize { Piece::Float(a) } else { Piece::Bits(a) };
                head(format!("(fp.to_ieee_bv ((_ {f} {e} {s}) RNE"), vec![x, Piece::Text(")")]);
            }
            Op::FToSigned => head(format!("((_ fp.to_sbv {}) RTZ", n.width), vec![Piece::Float(a)]),
            Op::FToUnsigned => head(format!("((_ fp.to_ubv {}) RTZ", n.width), vec![Piece::Float(a)]),
            op if op.is_float() => {
                let args = self.terms.args(t).into_iter().map(Piece::Float);
                if is_truth(n) {
                    head(format!("({}", plain(op)), args.collect());
                } else {
                    head(format!("(fp.to_ieee_bv ({}", plain(op)), args.chain([Piece::Text(")")]).collect());
                }
            }
            op => {
                let args = self.terms.args(t).into_iter().map(Piece::Bits).collect();
                head(format!("({}", plain(op)), args);
            }
        }
    }
}
