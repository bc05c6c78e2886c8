//! Inputs: read once or often, by each of the engine's functions, with few values and names that collide.

use super::num::INTEGERS;
use super::{Function, Generator, INPUT_NAMES, Num};

impl Generator {
    /// A function that reads an input, or gives a constant when enough were read.
    pub(super) fn reader(&mut self) {
        let ty = self.input_type();
        let name = format!("@in{}", self.readers.len());
        self.line(&format!("static {} {name}(void) {{", ty.c()));
        self.indent = 1;
        let value = self.constant(ty);
        self.line(&format!("{} r = {value};", ty.c()));
        self.read_into("r", ty);
        self.line("return r;");
        self.indent = 0;
        self.line("}");
        self.readers.push((name, ty));
    }

    /// A function that calls itself and reads an input each time.
    pub(super) fn recursive(&mut self) {
        let Some((reader, ty)) = self.readers.iter().find(|r| !r.1.is_float()).cloned() else { return };
        self.line("static long @again(int n) {");
        self.line(&format!("  {} r = {reader}();", ty.c()));
        self.line("  return n <= 0 || n > 3 ? r : 3 * (unsigned)r - @again(n - 1);");
        self.line("}");
        self.functions.push(Function { name: "@again".into(), returns: Num::I64, parameters: vec![Num::I32] });
    }

    fn input_type(&mut self) -> Num {
        match self.rng.below(3) {
            0 if self.floats => self.rng.pick(&[Num::F32, Num::F64]),
            _ => self.rng.pick(&INTEGERS),
        }
    }

    /// Lines that read an input into the variable, unless enough were read.
    pub(super) fn read_into(&mut self, var: &str, ty: Num) {
        let name = self.rng.pick(&INPUT_NAMES);
        self.line(&format!("if (@reads < {}) {{", self.reads));
        self.indent += 1;
        self.line("@reads++;");
        if !ty.is_float() && self.rng.one_in(4) {
            self.whole_number(var, name);
        } else {
            self.pattern(var, ty, name);
        }
        self.indent -= 1;
        self.line("}");
    }

    /// By the functions that return a number.
    fn whole_number(&mut self, var: &str, name: &str) {
        let low = self.rng.pick(&[0, 0, -1, -2, 126, 254, 32766, 2147483630]);
        match self.rng.below(3) {
            0 => self.line(&format!("{var} = klee_range({low}, {}, \"{name}\");", low + self.choices as i64)),
            1 => self.line(&format!("{var} = klee_choose({});", self.choices)),
            _ => {
                let values = self.values(Num::I32);
                let number = self.name("n");
                self.line(&format!("DOMAIN({})", list(&values, ", ")));
                self.line(&format!("int {number} = klee_int(\"{name}\");"));
                self.only(&format!("(unsigned){number}"), &values);
                self.line(&format!("{var} = {number};"));
            }
        }
    }

    /// By its bytes. What may follow is one path per value, so that the engine computes with constants.
    fn pattern(&mut self, var: &str, ty: Num, name: &str) {
        let stored = match ty {
            Num::F32 => Num::U32,
            Num::F64 => Num::U64,
            Num::I128 | Num::U128 => Num::I64,
            other => other,
        };
        let values = if ty.is_float() { self.values(ty) } else { self.values(stored) };
        let number = self.name("n");
        self.line(&format!("{} {number};", stored.c()));
        self.line(&format!("DOMAIN({})", list(&values, ", ")));
        let unsigned = match stored.bits() {
            1 | 8 => "unsigned char",
            16 => "unsigned short",
            32 => "unsigned",
            _ => "unsigned long",
        };
        if ty == Num::Bool {
            // A byte first: what is read as `_Bool` must be one.
            self.line("unsigned char byte;");
            self.line(&format!("klee_make_symbolic(&byte, 1, \"{name}\");"));
            self.only("byte", &values);
            self.line(&format!("{number} = byte;"));
        } else {
            self.line(&format!("klee_make_symbolic(&{number}, sizeof {number}, \"{name}\");"));
            self.only(&format!("({unsigned}){number}"), &values);
        }
        let split = if ty.is_float() { !self.rng.one_in(5) } else { self.rng.one_in(3) };
        if split && ty != Num::Bool {
            let table = self.name("t");
            let all: Vec<String> = values.iter().map(|v| format!("({})0x{v:x}", stored.c())).collect();
            let count = values.len();
            self.line(&format!("const {} {table}[] = {{{}}};", stored.c(), all.join(", ")));
            self.line(&format!("for (int k = 0; k < {count}; k++)"));
            self.line(&format!("  if ({number} == {table}[k]) {{"));
            self.line(&format!("    {number} = {table}[k];"));
            self.line("    break;");
            self.line("  }");
        }
        match ty.is_float() {
            true => self.line(&format!("memcpy(&{var}, &{number}, sizeof {var});")),
            false => self.line(&format!("{var} = {number};")),
        }
    }

    fn only(&mut self, value: &str, values: &[u64]) {
        let cases: Vec<String> = values.iter().map(|v| format!("({value} == 0x{v:x})")).collect();
        self.line(&format!("klee_assume({});", cases.join(" | ")));
    }

    /// Different values of the type, mostly at its limits.
    fn values(&mut self, ty: Num) -> Vec<u64> {
        let edges = ty.edges();
        let mut values: Vec<u64> = Vec::new();
        for _ in 0..4 * self.choices {
            let value = match self.rng.below(4) {
                0 if !ty.is_float() && ty != Num::Bool => self.rng.below(12),
                _ => self.rng.pick(&edges),
            };
            if !values.contains(&value) && values.len() < self.choices {
                values.push(value);
            }
        }
        values
    }
}

fn list(values: &[u64], between: &str) -> String {
    values.iter().map(|v| format!("0x{v:x}")).collect::<Vec<_>>().join(between)
}
