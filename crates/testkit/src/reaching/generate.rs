//! Random programs without undefined behaviour in which the control flow is what matters: branches, loops, switches and
//! jumps of all kinds, one after the other, within each other, with and without braces, and with conditions over
//! several lines.
//!
//! A program is written twice: as it is, and with a mark for each line with code, for native execution.

use crate::random::Rng;
use std::fmt::Write;

/// What an input is, natively: one byte below a bound each.
const BOUNDS: [&[u16]; 3] = [&[64], &[8, 12], &[5, 6, 5]];

pub struct Program {
    pub seed: u64,
    pub source: String,
    /// the same with marks, as functions that begin with `p`SEED`_`
    pub marked: String,
    pub bounds: &'static [u16],
    /// lines with code
    pub lines: Vec<u32>,
    /// closing braces of functions: they may have code
    pub ends: Vec<u32>,
}

/// The program of a seed; the same on every machine.
pub fn program(seed: u64) -> Program {
    let mut rng = Rng::new(seed ^ 0x7265_6163);
    let bounds = rng.pick(&BOUNDS);
    let mut g = Generator {
        rng,
        plain: String::new(),
        marked: String::new(),
        prefix: format!("p{seed}_"),
        number: 0,
        lines: Vec::new(),
        ends: Vec::new(),
        depth: 0,
        budget: 0,
        vars: Vec::new(),
        names: 0,
        within: Vec::new(),
        functions: 0,
        label: None,
    };
    g.whole(bounds);
    Program { seed, source: g.plain, marked: g.marked, bounds, lines: g.lines, ends: g.ends }
}

/// What `break` and `continue` would leave.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Loop,
    Switch,
}

struct Generator {
    rng: Rng,
    plain: String,
    marked: String,
    prefix: String,
    /// lines written so far
    number: u32,
    lines: Vec<u32>,
    ends: Vec<u32>,
    depth: usize,
    /// statements that may still be written
    budget: u32,
    vars: Vec<String>,
    names: u32,
    within: Vec<Within>,
    functions: u32,
    /// a label at the end of the function under way
    label: Option<String>,
}

impl Generator {
    fn write(&mut self, plain: &str, marked: &str) {
        self.number += 1;
        let indent = "  ".repeat(self.depth);
        let _ = writeln!(self.plain, "{indent}{plain}");
        let _ = writeln!(self.marked, "{indent}{marked}");
    }

    /// A line without code.
    fn bare(&mut self, text: &str) {
        self.write(text, text);
    }

    /// The mark of the line that comes next.
    fn mark(&mut self) -> String {
        let n = self.number + 1;
        if self.lines.last() != Some(&n) {
            self.lines.push(n);
        }
        format!("HIT({n})")
    }

    /// A line with one statement.
    fn simple(&mut self, text: &str) {
        let mark = self.mark();
        self.write(text, &format!("{{ {mark}; {text} }}"));
    }

    /// A line with an expression between `before` and `after`.
    fn holding(&mut self, before: &str, expression: &str, after: &str) {
        let mark = self.mark();
        self.write(&format!("{before}{expression}{after}"), &format!("{before}({mark}, {expression}){after}"));
    }

    fn whole(&mut self, bounds: &[u16]) {
        self.write("#include <klee/klee.h>", "");
        self.write("#include <stdlib.h>", "");
        self.write("void __VERIFIER_assume(int);", "");
        self.bare("#define LEAVE break");
        let p = self.prefix.clone();
        self.write("static unsigned g;", &format!("static unsigned {p}g;"));
        // A name is the same in both texts; the marked one gives it its prefix.
        let _ = writeln!(self.marked, "#define g {p}g");
        for _ in 0..self.rng.below(3) {
            self.function();
        }
        self.main(bounds);
        let _ = write!(self.marked, "#undef g\n#undef LEAVE\n");
        for f in 0..self.functions {
            let _ = writeln!(self.marked, "#undef f{f}");
        }
    }

    fn open(&mut self, returns: &str, name: &str, parameters: &str) {
        let text = |name: &str| format!("{returns} {name}({parameters}) {{");
        self.write(&text(name), &text(&format!("{}{name}", self.prefix)));
        let _ = writeln!(self.marked, "#define {name} {}{name}", self.prefix);
        self.depth = 1;
    }

    /// A function of two numbers. One without a result ends at its brace, perhaps.
    fn function(&mut self) {
        let name = format!("f{}", self.functions);
        let has_result = self.rng.one_in(2);
        self.open(if has_result { "unsigned" } else { "void" }, &name, "unsigned a, unsigned b");
        self.vars = vec!["a".into(), "b".into(), "g".into()];
        self.budget = 2 + self.rng.below(5) as u32;
        self.body(if has_result { Some("a + g") } else { None });
        // Every function can be called for its value; one without a result leaves it in `g`.
        if !has_result {
            let f = self.functions;
            let _ = writeln!(self.marked, "#undef f{f}\n#define f{f}(a, b) ({}f{f}(a, b), g)", self.prefix);
            self.write(&format!("#define f{f}(a, b) (f{f}(a, b), g)"), "");
        }
        self.functions += 1;
    }

    fn main(&mut self, bounds: &[u16]) {
        let names: Vec<String> = (0..bounds.len()).map(|i| format!("in[{i}]")).collect();
        self.write("int main(void) {", &format!("static int {}main(const unsigned char *in) {{", self.prefix));
        self.depth = 1;
        self.write(&format!("unsigned char in[{}];", bounds.len()), "");
        self.write(&format!("klee_make_symbolic(in, {}, \"in\");", bounds.len()), "g = 0;");
        for (name, bound) in names.iter().zip(bounds) {
            self.write(&format!("klee_assume({name} < {bound});"), "");
        }
        self.vars = names;
        self.vars.push("g".into());
        self.budget = 8 + self.rng.below(12) as u32;
        self.body(Some("g & 31"));
    }

    /// Statements, a label that some of them jump to, and the end.
    fn body(&mut self, result: Option<&str>) {
        let label = self.rng.one_in(2).then(|| format!("out{}", self.functions));
        self.label = label.clone();
        // Jumps go forward only: the label is at the end, and nothing is declared between.
        while self.budget > 0 {
            self.statement();
        }
        self.label = None;
        if let Some(label) = label {
            self.bare(&format!("{label}:"));
            self.simple("g += 1;");
        }
        if let Some(result) = result {
            self.simple(&format!("return {result};"));
        }
        self.depth = 0;
        self.bare("}");
        self.ends.push(self.number);
    }

    fn block(&mut self, count: u64) {
        self.depth += 1;
        let mark = self.vars.len();
        for _ in 0..1 + self.rng.below(count) {
            self.statement();
        }
        self.vars.truncate(mark);
        self.depth -= 1;
    }

    fn statement(&mut self) {
        self.budget = self.budget.saturating_sub(1);
        if self.budget == 0 || self.depth > 5 {
            return self.assignment();
        }
        match self.rng.below(16) {
            0..=3 => self.choice(),
            4 => self.counted(),
            5 => self.repeated(),
            6 => self.selection(),
            7 => self.jump(),
            8 => self.conditional(),
            9 => self.call(),
            10 => {
                self.bare("{");
                self.block(2);
                self.bare("}");
            }
            11 => self.bare(";"),
            _ => self.assignment(),
        }
    }

    /// A number that depends on inputs, most often.
    fn leaf(&mut self) -> String {
        if self.rng.one_in(4) {
            return format!("{}u", self.rng.below(9));
        }
        let at = self.rng.below(self.vars.len() as u64) as usize;
        self.vars[at].clone()
    }

    /// With a variable in it: the compiler leaves out what a constant decides.
    fn expression(&mut self) -> String {
        let at = self.rng.below(self.vars.len() as u64) as usize;
        let (a, b) = (self.vars[at].clone(), self.leaf());
        match self.rng.below(9) {
            0 => format!("({a} + {b})"),
            1 => format!("({a} * {b})"),
            2 => format!("({a} - {b})"),
            3 => format!("({a} ^ {b})"),
            4 => format!("({a} % ({b} + 1u | 1u))"),
            5 => format!("(({a} + 3u) >> ({b} & 7))"),
            6 => format!("({a} & {b})"),
            _ => a,
        }
    }

    fn test(&mut self) -> String {
        let op = self.rng.pick(&["==", "!=", "<", ">", "<=", ">=", "=="]);
        format!("{} {op} {}", self.expression(), self.expression())
    }

    /// A condition in parentheses behind `before`, over one line or two.
    fn condition(&mut self, before: &str, after: &str) {
        let first = self.test();
        if self.rng.one_in(5) {
            let (op, second) = (self.rng.pick(&["&&", "||"]), self.test());
            self.holding(&format!("{before}("), &format!("({first})"), &format!(" {op}"));
            self.depth += 2;
            self.holding("", &format!("({second})"), &format!("){after}"));
            self.depth -= 2;
        } else {
            self.holding(before, &format!("({first})"), after);
        }
    }

    fn assignment(&mut self) {
        let value = self.expression();
        if self.depth > 0 && self.label.is_none() && self.rng.one_in(4) {
            self.names += 1;
            let name = format!("v{}", self.names);
            self.holding(&format!("unsigned {name} = "), &value, ";");
            self.vars.push(name);
            return;
        }
        let op = self.rng.pick(&["=", "+=", "^="]);
        self.simple(&format!("g {op} {value};"));
    }

    fn choice(&mut self) {
        let braces = !self.rng.one_in(3);
        self.condition("if ", if braces { " {" } else { "" });
        self.side(braces);
        let mut open = braces;
        for _ in 0..self.rng.below(3) {
            let next = !self.rng.one_in(3);
            self.condition(if open { "} else if " } else { "else if " }, if next { " {" } else { "" });
            self.side(next);
            open = next;
        }
        if self.rng.one_in(2) {
            let last = !self.rng.one_in(3);
            self.bare(&format!("{}else{}", if open { "} " } else { "" }, if last { " {" } else { "" }));
            self.side(last);
            open = last;
        }
        if open {
            self.bare("}");
        }
    }

    fn side(&mut self, braces: bool) {
        if braces {
            return self.block(3);
        }
        self.depth += 1;
        self.single();
        self.depth -= 1;
    }

    /// One statement that needs no braces, and takes no `else` that follows.
    fn single(&mut self) {
        self.budget = self.budget.saturating_sub(1);
        match self.rng.below(4) {
            0 => self.jump(),
            1 => self.bare(";"),
            _ => {
                let value = self.expression();
                self.simple(&format!("g += {value};"));
            }
        }
    }

    fn counted(&mut self) {
        self.names += 1;
        let (i, rounds) = (format!("i{}", self.names), 1 + self.rng.below(4));
        let mark = self.mark();
        let braces = !self.rng.one_in(3);
        let brace = if braces { " {" } else { "" };
        let bound =
            if self.rng.one_in(3) { format!("{} % {}u", self.leaf(), rounds + 1) } else { format!("{rounds}u") };
        self.write(
            &format!("for (unsigned {i} = 0; {i} < {bound}; {i}++){brace}"),
            &format!("for (unsigned {i} = ({mark}, 0); {i} < {bound}; {i}++){brace}"),
        );
        self.within.push(Within::Loop);
        self.vars.push(i);
        if braces {
            self.block(3);
            self.bare("}");
        } else {
            // The end of the one has the line of the other.
            self.depth += 1;
            self.condition("if ", "");
            self.side(false);
            self.depth -= 1;
        }
        self.vars.pop();
        self.within.pop();
    }

    fn repeated(&mut self) {
        self.names += 1;
        let (n, rounds) = (format!("n{}", self.names), 1 + self.rng.below(3));
        self.bare("{");
        self.depth += 1;
        self.holding(&format!("unsigned {n} = "), &format!("{rounds}"), ";");
        let kind = self.rng.below(3);
        let mark = self.mark();
        match kind {
            0 => self.write("do {", &format!("{mark}; do {{")),
            1 => self.write("for (;;) {", &format!("for ({mark};;) {{")),
            _ => {
                let test = format!("{n} > 0");
                self.holding("while (", &test, ") {");
            }
        }
        self.within.push(Within::Loop);
        self.depth += 1;
        // First, or `continue` would never end.
        if kind == 1 {
            self.holding("if (", &format!("{n} == 0"), ")");
            self.depth += 1;
            let leave = self.rng.pick(&["break;", "LEAVE;"]);
            self.simple(leave);
            self.depth -= 1;
        }
        self.simple(&format!("{n}--;"));
        self.depth -= 1;
        self.block(3);
        self.within.pop();
        match kind {
            0 => self.holding("} while (", &format!("{n} > 0"), ");"),
            _ => self.bare("}"),
        }
        self.depth -= 1;
        self.bare("}");
    }

    fn selection(&mut self) {
        let value = self.expression();
        self.holding("switch (", &value, ") {");
        self.within.push(Within::Switch);
        let mut cases: Vec<u64> = (0..5).filter(|_| self.rng.one_in(2)).collect();
        if self.rng.one_in(4) {
            cases.reverse();
        }
        let default = self.rng.below(4) as usize;
        for (i, case) in cases.iter().enumerate() {
            if i == default {
                self.bare("default:");
            }
            self.bare(&format!("case {case}:"));
            self.block(2);
            if !self.rng.one_in(3) {
                self.depth += 1;
                self.simple("break;");
                self.depth -= 1;
            }
        }
        if default >= cases.len() && self.rng.one_in(2) {
            self.bare("default:");
            self.block(2);
        }
        self.within.pop();
        self.bare("}");
    }

    fn jump(&mut self) {
        let in_loop = self.within.contains(&Within::Loop);
        match self.rng.below(5) {
            0 if !self.within.is_empty() => self.simple("break;"),
            1 if in_loop => self.simple("continue;"),
            2 if self.label.is_some() => {
                let label = self.label.clone().unwrap_or_default();
                self.simple(&format!("goto {label};"));
            }
            3 if self.depth > 1 => {
                let code = self.rng.below(9);
                let mark = self.mark();
                self.write(&format!("exit({code});"), &format!("{{ {mark}; QUIT; }}"));
            }
            4 if self.depth > 1 => {
                let test = self.test();
                let mark = self.mark();
                self.write(&format!("__VERIFIER_assume({test});"), &format!("{{ {mark}; if (!({test})) QUIT; }}"));
            }
            _ => {
                let value = self.leaf();
                self.simple(&format!("g ^= {value};"));
            }
        }
    }

    /// A choice within an expression, over three lines.
    fn conditional(&mut self) {
        let (test, a, b) = (self.test(), self.leaf(), self.leaf());
        self.holding("g += ", &format!("({test})"), "");
        self.depth += 2;
        self.holding("? ", &format!("({a} + g)"), "");
        self.holding(": ", &format!("({b} ^ g)"), ";");
        self.depth -= 2;
    }

    fn call(&mut self) {
        if self.functions == 0 {
            return self.assignment();
        }
        let f = self.rng.below(u64::from(self.functions));
        let (a, b) = (self.expression(), self.expression());
        self.simple(&format!("g ^= f{f}({a}, {b});"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_program_with_as_many_lines_in_both_texts() {
        for seed in 0..50 {
            let (p, again) = (program(seed), program(seed));
            assert_eq!(p.source, again.source);
            let last = p.source.lines().count() as u32;
            assert!(p.lines.windows(2).all(|w| w[0] < w[1]) && p.lines.iter().all(|l| *l <= last), "seed {seed}");
        }
        assert_ne!(program(1).source, program(2).source);
    }
}
