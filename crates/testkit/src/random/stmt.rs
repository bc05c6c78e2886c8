//! Statements.

use super::Generator;
use super::scope::{Ty, Var};

impl Generator {
    /// Some statements of one block.
    pub fn statements(&mut self) {
        for _ in 0..1 + self.rng.below(4) {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            self.statement();
        }
    }

    fn block(&mut self) {
        let mark = self.scope.mark();
        self.indent += 1;
        let value = self.assignment();
        self.line(&value);
        self.statements();
        self.indent -= 1;
        self.scope.release(mark);
    }

    fn statement(&mut self) {
        match self.rng.below(22) {
            0..=3 => self.declare(),
            4..=7 => {
                let text = self.assignment();
                self.line(&text);
            }
            8..=10 => self.branch(),
            11..=12 => self.repeat(),
            13 => self.choice(),
            14 => self.local_array(),
            15..=16 => self.heap(),
            17 => self.pointer(),
            18 => self.structure(),
            19 if self.rng.one_in(2) => {
                let c = self.condition(2);
                self.line(&format!("assert({c});"));
            }
            20 if self.rng.one_in(3) => {
                let c = self.condition(2);
                self.line(&format!("if ({c})"));
                self.line("  abort();");
            }
            21 if self.rng.one_in(2) => {
                let (c, n) = (self.condition(2), self.rng.below(20) + 20);
                self.line(&format!("if ({c})"));
                self.line(&format!("  return {n};"));
            }
            _ => {
                let text = self.assignment();
                self.line(&text);
            }
        }
    }

    fn declare(&mut self) {
        let (ty, name) = (self.rng.pick(&Ty::ALL), self.name("v"));
        let value = self.expr(3);
        self.line(&format!("{} {name} = {value};", ty.c()));
        self.scope.add(Var::scalar(name, ty));
    }

    fn assignment(&mut self) -> String {
        let value = self.expr(3);
        if self.rng.one_in(3)
            && let Some(place) = self.element(2)
        {
            return format!("{place} = {value};");
        }
        let vars: Vec<Var> = self.scope.vars().filter(|v| v.len.is_none() && v.writable).cloned().collect();
        let at = self.rng.below(vars.len() as u64) as usize;
        let op = self.rng.pick(&["=", "=", "+=", "-=", "^="]);
        format!("{} {op} {value};", vars[at].name)
    }

    fn branch(&mut self) {
        let c = self.condition(2);
        self.line(&format!("if ({c}) {{"));
        self.block();
        if self.rng.one_in(2) {
            self.line("} else {");
            self.block();
        }
        self.line("}");
    }

    fn repeat(&mut self) {
        let bound = 2 + self.rng.below(3);
        if self.repeats * bound > 16 {
            return self.declare();
        }
        self.repeats *= bound;
        let name = self.name("i");
        let limit = if self.rng.one_in(2) { bound.to_string() } else { format!("(int)(({}) & 3)", self.expr(2)) };
        self.line(&format!("for (int {name} = 0; {name} < {limit}; {name}++) {{"));
        let mark = self.scope.mark();
        self.scope.add(Var::counter(name));
        self.block();
        self.scope.release(mark);
        if self.rng.one_in(4) {
            let (c, what) = (self.condition(1), self.rng.pick(&["break", "continue"]));
            self.line(&format!("  if ({c})"));
            self.line(&format!("    {what};"));
        }
        self.line("}");
        self.repeats /= bound;
    }

    fn choice(&mut self) {
        let value = self.expr(2);
        self.line(&format!("switch (({value}) & 7) {{"));
        let first = self.rng.below(5);
        for case in [first, first + 1, first + 3] {
            self.line(&format!("case {case}: {{"));
            self.block();
            self.line("}");
            if !self.rng.one_in(3) {
                self.line("  break;");
            }
        }
        self.line("default:");
        let text = self.assignment();
        self.line(&format!("  {text}"));
        self.line("}");
    }

    fn local_array(&mut self) {
        let (ty, len, name) = (self.rng.pick(&Ty::ALL), 2 + self.rng.below(5) as u32, self.name("a"));
        let values: Vec<_> = (0..len).map(|_| self.expr(1)).collect();
        let list: Vec<_> = values.iter().map(|v| format!("({})({v})", ty.c())).collect();
        self.line(&format!("{} {name}[{len}] = {{{}}};", ty.c(), list.join(", ")));
        self.scope.add(Var::array(name, ty, len));
    }

    /// A block with its whole life in one place: allocated, filled, used, and sometimes freed too early, twice, or at
    /// the wrong address.
    fn heap(&mut self) {
        if self.rng.one_in(3) {
            return self.heap_by_input();
        }
        let (ty, len, name) = (self.rng.pick(&Ty::ALL), 1 + self.rng.below(5) as u32, self.name("h"));
        let c = ty.c();
        self.line("{");
        self.indent += 1;
        let mark = self.scope.mark();
        self.line(&format!("{c} *{name} = calloc({len}, sizeof({c}));"));
        self.line(&format!("if (!{name})"));
        self.line("  return 99;");
        self.scope.add(Var::array(name.clone(), ty, len));
        for _ in 0..1 + self.rng.below(2) {
            let text = self.assignment();
            self.line(&text);
        }
        self.statements();
        let condition = self.condition(1);
        match self.rng.below(10) {
            0 => {
                self.line(&format!("if ({condition})"));
                self.line(&format!("  free({name});"));
                let value = self.expr(1);
                self.line(&format!("{name}[0] = {value};"));
                self.line(&format!("free({name});"));
            }
            1 => {
                self.line(&format!("if ({condition})"));
                self.line(&format!("  free({name});"));
                self.line(&format!("free({name});"));
            }
            2 => self.line(&format!("free({name} + ({condition}));")),
            3 => {
                self.line(&format!("if ({condition})"));
                self.line(&format!("  {name} = 0;"));
                self.line(&format!("{name}[0] += 1;"));
                self.line(&format!("free({name});"));
            }
            _ => self.line(&format!("free({name});")),
        }
        self.scope.release(mark);
        self.indent -= 1;
        self.line("}");
    }

    /// A block, or an array, of as many elements as an expression says: 1 to 3. An index beyond stays within the red
    /// zone.
    fn heap_by_input(&mut self) {
        let (ty, name, count) = (self.rng.pick(&[Ty::I8, Ty::U8, Ty::I16, Ty::U16]), self.name("h"), self.name("n"));
        let (c, n) = (ty.c(), self.expr(2));
        self.line("{");
        self.indent += 1;
        let mark = self.scope.mark();
        self.line(&format!("unsigned {count} = 1 + (unsigned)({n}) % 3u;"));
        let local = self.rng.one_in(3);
        if local {
            self.line(&format!("{c} {name}[{count}];"));
        } else if self.rng.one_in(2) {
            self.line(&format!("{c} *{name} = calloc({count}, sizeof({c}));"));
        } else {
            self.line(&format!("{c} *{name} = malloc({count} * sizeof({c}));"));
        }
        self.line(&format!("for (unsigned i = 0; i < {count}; i++)"));
        let value = self.expr(1);
        self.line(&format!("  {name}[i] = ({c})({value});"));
        self.scope.add(Var::counter(count.clone()));
        let declared = self.name("v");
        let index = self.expr(1);
        self.line(&format!("int {declared} = {name}[(unsigned)({index}) % {count}];"));
        self.scope.add(Var::scalar(declared, Ty::I32));
        // Mostly within bounds.
        let len = if self.rng.one_in(3) { 2 + self.rng.below(2) as u32 } else { 1 };
        self.scope.add(Var::array(name.clone(), ty, len));
        for _ in 0..1 + self.rng.below(2) {
            let text = self.assignment();
            self.line(&text);
        }
        self.statements();
        if !local {
            self.line(&format!("free({name});"));
        }
        self.scope.release(mark);
        self.indent -= 1;
        self.line("}");
    }

    /// A pointer that depends on the input: two targets, or a target and null.
    fn pointer(&mut self) {
        let vars: Vec<Var> = self.scope.vars().filter(|v| v.ty == Ty::I32 && v.writable).cloned().collect();
        let at = |rng: &mut super::Rng, v: &Var| match v.len {
            None => format!("&{}", v.name),
            Some(len) => format!("&{}[{}]", v.name, rng.below(u64::from(len))),
        };
        let (one, two) = (self.rng.below(vars.len() as u64) as usize, self.rng.below(vars.len() as u64) as usize);
        let one = at(&mut self.rng, &vars[one]);
        let two = if self.rng.one_in(4) { "(int *)0".into() } else { at(&mut self.rng, &vars[two]) };
        let (name, c, value) = (self.name("q"), self.condition(2), self.expr(2));
        self.line(&format!("int *{name} = {c} ? {one} : {two};"));
        self.line(&format!("*{name} = (int)({value});"));
        let declared = self.name("v");
        self.line(&format!("int {declared} = *{name} + 1;"));
        self.scope.add(Var::scalar(declared, Ty::I32));
    }

    fn structure(&mut self) {
        let (name, copy) = (self.name("s"), self.name("s"));
        let (a, b) = (self.expr(2), self.expr(2));
        self.line(&format!("struct pair {name} = make((int)({a}), (unsigned char)({b}));"));
        self.line(&format!("{name}.p = &{name}.a;"));
        self.line(&format!("struct pair {copy} = {name};"));
        self.line(&format!("*{copy}.p += {copy}.b;"));
        let declared = self.name("v");
        self.line(&format!("int {declared} = {name}.a - {copy}.a + {copy}.c;"));
        self.scope.add(Var::scalar(declared, Ty::I32));
    }
}
