//! Patterns as text, for `pleach explain`: words, formulas and conditions over the names of the inputs.

use super::Counted;
use pleach_expr::{Op, SymbolId, TermId, Terms, sign_extend};

/// One merge by a pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PatternText {
    /// where the states left the loop
    pub file: String,
    pub line: u32,
    pub function: String,
    /// ω1, ω2, ω3, a letter for each kind of constraint
    pub words: [String; 3],
    /// φ1, φ2(x), φ3(x); rounds are counted from 1
    pub formulas: [Vec<String>; 3],
    pub counter: String,
    /// numbers of rounds, fewest first
    pub rounds: Vec<u64>,
    /// what the merged state has in place of the constraints of its members
    pub condition: Vec<String>,
}

impl PatternText {
    pub(crate) fn new(counted: &Counted, place: (String, u32, String), terms: &mut Terms) -> PatternText {
        let p = &counted.pattern;
        let mut letters = Vec::new();
        let mut word = |terms: &Terms, all: &[TermId]| -> String {
            all.iter().map(|c| letter(&mut letters, terms.shape(*c))).collect()
        };
        let words = [word(terms, &p.first), word(terms, &p.round), word(terms, &p.exit)];
        // As in the paper, φ2 is for the rounds 1 to k and φ3 for the number k of rounds.
        let number = terms.symbols.named("x", pleach_expr::SymbolKind::Bits(super::COUNTER_BITS));
        let x = terms.var(number);
        let one = terms.constant(super::COUNTER_BITS, 1);
        let before = terms.sub(x, one);
        let all = |terms: &mut Terms, of: &[TermId], by: TermId| -> Vec<String> {
            let map = [(p.x, by)].into_iter().collect();
            let mut one = |t: &TermId| {
                let t = terms.substitute(*t, &map);
                show_conjunct(terms, t)
            };
            of.iter().map(&mut one).collect()
        };
        let formulas = [all(terms, &p.first, x), all(terms, &p.round, before), all(terms, &p.exit, x)];
        let condition = counted.constraints(terms);
        let (file, line, function) = place;
        PatternText {
            file,
            line,
            function,
            words,
            formulas,
            counter: show(terms, counted.k),
            rounds: counted.rounds.clone(),
            condition: condition.into_iter().map(|c| show_conjunct(terms, c)).collect(),
        }
    }
}

/// A, B, C, … in the order in which they are first met.
fn letter(known: &mut Vec<u64>, shape: u64) -> char {
    let at = known.iter().position(|s| *s == shape).unwrap_or_else(|| {
        known.push(shape);
        known.len() - 1
    });
    char::from_u32(u32::from('A') + at.min(25) as u32).unwrap_or('Z')
}

/// Deeper than this a term is not worth reading.
const MAX_DEPTH: u32 = 32;

/// A term in the notation of C, without changes of width.
pub(crate) fn show(terms: &Terms, t: TermId) -> String {
    Printer(terms).term(t, MAX_DEPTH)
}

/// The same, to stand in a conjunction.
fn show_conjunct(terms: &Terms, t: TermId) -> String {
    let text = show(terms, t);
    if matches!(terms.op(t), Op::Or | Op::Forall | Op::Ite) { format!("({text})") } else { text }
}

struct Printer<'a>(&'a Terms);

impl Printer<'_> {
    fn term(&self, t: TermId, depth: u32) -> String {
        let n = self.0.node(t);
        if depth == 0 {
            return "…".into();
        }
        let of = |t: TermId| self.operand(t, depth - 1);
        let two = |op: &str| format!("{} {op} {}", of(n.arg_a()), of(n.arg_b()));
        match n.op {
            Op::Const if n.width == 1 => if n.value() == 1 { "true" } else { "false" }.into(),
            Op::Const => sign_extend(n.value(), n.width).to_string(),
            Op::Var | Op::ArrayVar => self.0.symbols.info(SymbolId(n.a)).name.clone(),
            Op::Base => format!("@{}", n.a),
            Op::Read => format!("{}[{}]", of(n.arg_a()), self.term(n.arg_b(), depth - 1)),
            Op::ZExt | Op::SExt => self.term(n.arg_a(), depth - 1),
            Op::Extract if n.b == 0 => self.term(n.arg_a(), depth - 1),
            Op::Not => self.negated(n.arg_a(), depth),
            Op::Add => self.sum(t, depth),
            Op::Sub => two("-"),
            Op::Mul => two("*"),
            Op::And => two(if n.width == 1 { "&&" } else { "&" }),
            Op::Or => two(if n.width == 1 { "||" } else { "|" }),
            Op::Eq => two("=="),
            Op::Ult | Op::Slt if self.0.is_constant(n.arg_a()) => format!("{} > {}", of(n.arg_b()), of(n.arg_a())),
            Op::Ule | Op::Sle if self.0.is_constant(n.arg_a()) => format!("{} >= {}", of(n.arg_b()), of(n.arg_a())),
            Op::Ult if self.0.as_const(n.arg_b()).is_some_and(|v| v > 0) => {
                let v = self.0.as_const(n.arg_b()).unwrap_or_default();
                format!("{} <= {}", of(n.arg_a()), sign_extend(v - 1, self.0.width(n.arg_b())))
            }
            Op::Ult | Op::Slt => two("<"),
            Op::Ule | Op::Sle => two("<="),
            Op::Ite => format!("{} ? {} : {}", of(n.arg_a()), of(n.arg_b()), of(n.arg_c())),
            Op::Forall => {
                let i = of(n.arg_a());
                format!("forall {i} < {}: {}", of(n.arg_b()), self.term(n.arg_c(), depth - 1))
            }
            op => {
                let args: Vec<String> = self.0.args(t).iter().map(|a| self.term(*a, depth - 1)).collect();
                format!("{}({})", pleach_expr::print::name(op), args.join(", "))
            }
        }
    }

    /// `a - 1` for a sum with a negative number.
    fn sum(&self, t: TermId, depth: u32) -> String {
        let n = self.0.node(t);
        let a = self.operand(n.arg_a(), depth - 1);
        match self.0.as_const(n.arg_b()).map(|v| sign_extend(v, n.width)) {
            Some(v) if v < 0 => format!("{a} - {}", v.unsigned_abs()),
            _ => format!("{a} + {}", self.operand(n.arg_b(), depth - 1)),
        }
    }

    fn negated(&self, t: TermId, depth: u32) -> String {
        let n = self.0.node(t);
        match n.op {
            Op::Eq => format!("{} != {}", self.operand(n.arg_a(), depth - 1), self.operand(n.arg_b(), depth - 1)),
            _ => format!("!{}", self.operand(t, depth - 1)),
        }
    }

    fn operand(&self, t: TermId, depth: u32) -> String {
        let mut below = t;
        while let n @ (Op::ZExt | Op::SExt | Op::Extract) = self.0.op(below)
            && (n != Op::Extract || self.0.node(below).b == 0)
        {
            below = self.0.node(below).arg_a();
        }
        let is_atom = matches!(self.0.op(below), Op::Const | Op::Var | Op::ArrayVar | Op::Base | Op::Read | Op::Not)
            && self.0.op(below) != Op::Not;
        let text = self.term(t, depth);
        if is_atom { text } else { format!("({text})") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_expr::SymbolKind;

    #[test]
    fn terms_read_as_in_c() {
        let mut t = Terms::new(64);
        let n = t.symbols.named("n", SymbolKind::Bits(64));
        let (n, k) = (t.var(n), t.symbols.named("k1", SymbolKind::Bits(32)));
        let k = t.var(k);
        let s = t.symbols.named("s", SymbolKind::Array { element: 8, len: 3 });
        let s = t.array_var(s);
        let wide = t.zext(k, 64);
        let longer = t.ult(wide, n);
        assert_eq!(show(&t, longer), "k1 < n");
        let i = t.variable_to_bind(32);
        let cell = t.read(s, i);
        let a = t.constant(8, 97);
        let body = t.eq(cell, a);
        let all = t.forall(i, k, body);
        assert_eq!(show(&t, all), "forall i < k1: s[i] == 97");
        let last = t.constant(32, u64::MAX);
        let last = t.add(k, last);
        let cell = t.read(s, last);
        let stops = t.ne(cell, a);
        assert_eq!(show(&t, stops), "s[k1 - 1] != 97");
    }
}
