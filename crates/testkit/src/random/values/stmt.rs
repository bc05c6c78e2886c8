//! Statements.

use super::num::Num;
use super::{FIELDS, Generator, Var};

impl Generator {
    /// Some statements of one block.
    pub(super) fn statements(&mut self) {
        for _ in 0..1 + self.rng.below(4) {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            self.statement();
        }
    }

    fn block(&mut self) {
        let mark = self.vars.len();
        self.indent += 1;
        self.assignment();
        self.statements();
        self.mix_newest(mark);
        self.indent -= 1;
        self.vars.truncate(mark);
    }

    /// The exit code depends on what was declared last, before its scope ends.
    pub(super) fn mix_newest(&mut self, mark: usize) {
        if self.vars.len() > mark
            && let Some(newest) = self.vars.last().cloned()
        {
            self.mix_in(&newest);
        }
    }

    fn statement(&mut self) {
        match self.rng.below(25) {
            0..=4 => self.declare(),
            5..=7 => self.assignment(),
            8 | 9 => self.branch(),
            10 | 11 => self.repeat(),
            12 => self.choice(),
            13 => self.array(),
            14 | 15 => self.checked(),
            16 | 17 => self.field(),
            18 => self.punned(),
            19 => self.input(),
            20 => self.enumeration(),
            21 if self.rng.one_in(3) => {
                let c = self.condition(2);
                self.line(&format!("assert({c});"));
            }
            22 if self.rng.one_in(4) => {
                let c = self.condition(2);
                self.line(&format!("if ({c})"));
                self.line("  abort();");
            }
            23 if self.rng.one_in(3) => {
                let (c, n) = (self.condition(2), self.rng.below(20) + 20);
                self.line(&format!("if ({c})"));
                self.line(&format!("  exit({n});"));
            }
            24 => self.unwritten(),
            _ => self.assignment(),
        }
    }

    fn add(&mut self, name: String, ty: Num) {
        self.vars.push(Var { name, ty, len: None, fixed: false });
    }

    fn declare(&mut self) {
        let (ty, name) = (self.num(), self.name("v"));
        let value = self.value_for(ty, 3);
        self.line(&format!("{} {name} = {value};", ty.c()));
        self.add(name, ty);
    }

    fn assignment(&mut self) {
        if self.rng.one_in(5)
            && let Some(place) = self.element(1, false)
        {
            let value = self.int(2).text;
            return self.line(&format!("{} = {value};", place.text));
        }
        let vars: Vec<Var> = self.vars.iter().filter(|v| v.len.is_none() && !v.fixed).cloned().collect();
        let var = vars[self.rng.below(vars.len() as u64) as usize].clone();
        let (name, ty) = (&var.name, var.ty);
        if ty.is_float() {
            let (op, value) = (self.rng.pick(&["=", "=", "+=", "-=", "*=", "/="]), self.float(2).text);
            return self.line(&format!("{name} {op} {value};"));
        }
        match self.rng.below(12) {
            0 if ty != Num::Bool => {
                let op = self.rng.pick(&["++", "--"]);
                self.line(&format!("{name}{op};"));
            }
            1 => {
                let (op, value) = (self.rng.pick(&["<<=", ">>="]), self.int(1).text);
                let beyond = ty.promoted().bits() - u32::from(!self.rng.one_in(4));
                self.line(&format!("{name} {op} (int)(({value}) & {beyond});"));
            }
            2 if ty.bits() < 128 => {
                let (op, value) = (self.rng.pick(&["/=", "%="]), self.int(1).text);
                let ty = if ty == Num::Bool { Num::I32 } else { ty };
                let or = if self.rng.one_in(4) { "" } else { " | 1" };
                self.line(&format!("{name} {op} (({})({value}) | @zero){or};", ty.c()));
            }
            n => {
                let op = if n < 7 { "=" } else { self.rng.pick(&["+=", "-=", "*=", "^=", "|=", "&="]) };
                let value = self.int(3).text;
                self.line(&format!("{name} {op} {value};"));
            }
        }
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
        let bound = 2 + self.rng.below(2);
        if self.repeats * bound > 6 {
            return self.declare();
        }
        self.repeats *= bound;
        let name = self.name("i");
        let limit = if self.rng.one_in(3) { format!("(int)(({}) & 3)", self.int(1).text) } else { bound.to_string() };
        self.line(&format!("for (int {name} = 0; {name} < {limit}; {name}++) {{"));
        let mark = self.vars.len();
        self.vars.push(Var { name, ty: Num::I32, len: None, fixed: true });
        if self.rng.one_in(2) {
            self.indent += 1;
            self.input();
            self.indent -= 1;
        }
        self.block();
        self.vars.truncate(mark);
        self.line("}");
        self.repeats /= bound;
    }

    fn choice(&mut self) {
        let value = self.int(2);
        let ty = if value.ty.bits() > 64 { Num::I64 } else { value.ty.promoted() };
        self.line(&format!("switch (({})({})) {{", ty.c(), value.text));
        let mut edges: Vec<u64> = ty.edges();
        let skip = self.rng.below(4) as usize;
        edges.drain(..skip);
        for bits in edges.into_iter().step_by(3).take(3) {
            self.line(&format!("case {}: {{", ty.literal(bits)));
            self.block();
            self.line("}");
            if !self.rng.one_in(3) {
                self.line("  break;");
            }
        }
        self.line("default:");
        self.indent += 1;
        self.assignment();
        self.indent -= 1;
        self.line("}");
    }

    fn array(&mut self) {
        let (ty, len, name) = (self.num(), 2 + self.rng.below(4), self.name("l"));
        let values: Vec<String> = (0..len).map(|_| self.value_for(ty, 1)).collect();
        self.line(&format!("{} {name}[{len}] = {{{}}};", ty.c(), values.join(", ")));
        self.vars.push(Var { name, ty, len: Some(len), fixed: false });
    }

    /// A result of a type of its own, and whether it is the true one.
    fn checked(&mut self) {
        let mut ty = self.num();
        if ty.is_float() || ty == Num::Bool {
            ty = Num::I32;
        }
        let (result, whether) = (self.name("v"), self.name("v"));
        let (op, a, b) = (self.rng.pick(&["add", "sub", "mul"]), self.int(2), self.int(2));
        // Neither `_Bool` nor bit-fields may be given to it.
        let plain = |e: super::Expr| {
            let ty = e.ty.promoted();
            format!("({})({})", ty.c(), e.text)
        };
        self.line(&format!("{} {result} = 0;", ty.c()));
        self.line(&format!("_Bool {whether} = __builtin_{op}_overflow({}, {}, &{result});", plain(a), plain(b)));
        self.add(result, ty);
        self.add(whether, Num::Bool);
    }

    fn field(&mut self) {
        let (field, ty) = self.rng.pick(&FIELDS);
        let value = self.int(2).text;
        match self.rng.below(5) {
            0 if ty != Num::Bool => {
                let op = self.rng.pick(&["++", "--"]);
                self.line(&format!("@fields.{field}{op};"));
            }
            1 => self.line(&format!("@fields.{field} += {value};")),
            2 => {
                let (copy, read) = (self.name("c"), self.name("v"));
                self.line(&format!("struct @bits {copy} = @fields;"));
                self.line(&format!("{copy}.{field} = {value};"));
                self.line(&format!("long {read} = (long){copy}.{field} - (long)@fields.{field};"));
                self.add(read, Num::I64);
            }
            _ => self.line(&format!("@fields.{field} = {value};")),
        }
    }

    /// A `_Bool` or an enumeration given its byte: one that is no value of the type is an error where it is read.
    fn punned(&mut self) {
        let (name, value) = (self.name("v"), self.int(1).text);
        let mask = if self.rng.one_in(4) { 3 } else { 1 };
        self.line(&format!("_Bool {name} = 0;"));
        self.line(&format!("*(unsigned char *)&{name} = ({value}) & {mask};"));
        let read = self.name("v");
        self.line(&format!("int {read} = {name} + 1;"));
        self.add(read, Num::I32);
    }

    /// A variable that was never written, in a condition that does not depend on its value.
    fn unwritten(&mut self) {
        let (name, ty) = (self.name("u"), self.rng.pick(&[Num::U8, Num::U16, Num::U32]));
        let other = self.int(1).text;
        self.line(&format!("{} {name};", ty.c()));
        self.line(&format!("if ((({name} + (unsigned)({other})) * 2u) % 2u == 1 || ({name} | 4u) == 3)"));
        self.line("  abort();");
    }

    fn enumeration(&mut self) {
        let (name, value) = (self.name("v"), self.int(2).text);
        self.line(&format!("enum @colour {name} = (enum @colour)({value});"));
        self.add(name, Num::I32);
    }

    fn input(&mut self) {
        let (ty, name) = (self.num(), self.name("x"));
        let value = self.constant(ty);
        self.line(&format!("{} {name} = {value};", ty.c()));
        self.read_into(&name, ty);
        self.add(name, ty);
        self.mix_newest(0);
    }
}
