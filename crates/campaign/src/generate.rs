//! Random programs for the pruning: joins whose values matter later or do not, so that pruning succeeds often and could
//! be wrong.
//!
//! *Idea*: every program has the same variables, so that any statement fits anywhere; what differs is which families of
//! statements it draws from (a random half of them, so that each family also meets programs without the others). `@`
//! stands for the program's own prefix at file scope. Programs may do anything wrong; loops are bounded.

mod expression;
mod statement;

use pleach_testkit::random::Rng;
use statement::Family;

/// Declared once per file, in place of headers.
pub const PRELUDE: &str = "\
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned long usize;
int __VERIFIER_nondet_int(void); unsigned __VERIFIER_nondet_uint(void); u8 __VERIFIER_nondet_uchar(void); short __VERIFIER_nondet_short(void);
void __VERIFIER_assume(int); void klee_make_symbolic(void *, usize, const char *); void klee_assume(usize);
void *malloc(usize); void *calloc(usize, usize); void free(void *); void *memcpy(void *, const void *, usize);
void *memset(void *, int, usize); void *memmove(void *, const void *, usize); void abort(void); void exit(int);
void __assert_fail(const char *, const char *, unsigned, const char *);
struct S { int f; u8 b; short h; int *p; }; struct N { struct N *next; int v; };
struct L { int a[6]; int *p; }; void *realloc(void *, usize); int atexit(void (*)(void)); int *__errno_location(void);
union U { unsigned w; u8 b[4]; short h[2]; int *p; };
";

/// Programs of seeds from here on have pointers with multiple targets, too.
pub const TARGETS: u64 = 1 << 40;

/// Programs of seeds from here on have objects whose size depends on inputs, instead.
pub const SIZES: u64 = 1 << 41;

/// Programs of seeds from here on scan a buffer, too.
pub const SCANS: u64 = 1 << 42;

/// The entry of the program of a seed.
pub fn entry(seed: u64) -> String {
    format!("s{seed}_main")
}

/// The program of a seed, without the prelude; the same on every machine.
pub fn program(seed: u64) -> String {
    let mut g = Generator {
        rng: Rng::new(seed),
        out: String::new(),
        indent: 0,
        families: Vec::new(),
        forks: 0,
        loops: 0,
        helper: false,
    };
    match seed {
        SCANS.. => g.families.push(Family::Scan),
        SIZES.. => g.families.push(Family::Sized),
        TARGETS.. => g.families.push(Family::Targets),
        _ => {}
    }
    g.whole();
    g.out.replace('@', &format!("s{seed}_"))
}

/// A program to compile by itself.
pub fn standalone(seed: u64) -> String {
    format!("{PRELUDE}{}int main(void) {{ return {}(); }}\n", program(seed), entry(seed))
}

pub(crate) struct Generator {
    pub rng: Rng,
    out: String,
    indent: usize,
    /// the families of statements this program draws from
    families: Vec<Family>,
    /// statements that fork and may still be written
    pub forks: u32,
    /// loops around
    pub loops: u32,
    /// in a helper: only its parameters, its local and the globals are known
    pub helper: bool,
}

impl Generator {
    pub fn line(&mut self, text: &str) {
        (0..self.indent).for_each(|_| self.out.push_str("  "));
        self.out.push_str(text);
        self.out.push('\n');
    }

    pub fn open(&mut self, text: &str) {
        self.line(text);
        self.indent += 1;
    }

    pub fn close(&mut self, text: &str) {
        self.indent -= 1;
        self.line(text);
    }

    fn whole(&mut self) {
        // The requested ones have half the weight of all others.
        let requested = std::mem::take(&mut self.families);
        self.families = Family::ALL.into_iter().filter(|_| self.rng.one_in(2)).collect();
        requested.into_iter().for_each(|f| self.families.extend([f; 5]));
        self.globals();
        self.helpers();
        self.main();
    }

    fn globals(&mut self) {
        let k = self.rng.below(4);
        self.line(&format!("int @g0 = {k}, @g1; u8 @gb = {k}; int @ga[4] = {{1, 2, 3, {k}}}; short @gs[3];"));
        self.line("const int @table[4] = {0, 3, 5, 1}; struct S @gS; struct N *@list; int *@gp = &@g0; struct L @gL;");
    }

    /// Two functions of one signature (called directly and by pointer), one that writes through a pointer, one that
    /// recurs, one that takes any number of arguments, one that takes a structure by value, one for the end of the
    /// program.
    fn helpers(&mut self) {
        self.helper = true;
        for name in ["@f", "@h"] {
            self.open(&format!("static int {name}(int x, int y) {{"));
            self.line("int r = x;");
            self.forks = self.rng.below(2) as u32;
            for _ in 0..1 + self.rng.below(3) {
                self.statement();
            }
            let e = self.int(1);
            self.line(&format!("return {e};"));
            self.close("}");
        }
        self.open("static void @set(int *p, int v) {");
        let c = self.cond_on("v");
        self.line(&format!("int w = v; if ({c}) w = w + 1;"));
        self.line("*p = w;");
        self.close("}");
        self.open("static int @rec(int n, int *acc) {");
        let e = ["n", "*acc + 1", "*acc ^ n", "1"][self.rng.below(4) as usize];
        self.line("int here = *acc;");
        self.line(&format!("if (n <= 0) return here; *acc = {e};"));
        let e = ["@rec(n - 1, acc)", "@rec(n - 1, acc) + here", "@rec(n - 2, &here)"][self.rng.below(3) as usize];
        self.line(&format!("return {e};"));
        self.close("}");
        self.open("static int @va(int n, ...) {");
        let c = self.cond_on("s");
        self.line("__builtin_va_list l, m; int s = 0; __builtin_va_start(l, n); __builtin_va_copy(m, l);");
        self.line("for (int k = 0; k < n; k++) s += __builtin_va_arg(l, int);");
        self.line(&format!("if ({c}) s ^= __builtin_va_arg(m, int);"));
        self.line("return s;");
        self.close("}");
        self.open("static int @big(struct L v, int x) {");
        let (c, e) = (self.cond_on("v.a[1]"), self.int(1));
        self.line(&format!("int r = v.a[0], y = x; v.a[2] = x; if ({c}) v.a[1] = {e};"));
        self.line("if (v.p) *v.p = r;");
        self.line("return v.a[1] + v.a[2];");
        self.close("}");
        let c = self.cond_on("@g1");
        self.line(&format!("static void @bye(void) {{ @g0++; if ({c}) __assert_fail(\"\", \"\", 1, \"\"); }}"));
        self.helper = false;
    }

    fn main(&mut self) {
        self.open("int @main(void) {");
        self.line("int x0 = __VERIFIER_nondet_int(), x1 = __VERIFIER_nondet_int(); u8 d0 = __VERIFIER_nondet_uchar();");
        self.line("u8 in[4]; klee_make_symbolic(in, sizeof in, \"in\");");
        let (a, b) = (self.rng.below(5), self.rng.below(9));
        self.line(&format!(
            "int i0 = {a}, i1 = 0, i2 = {b}, t = 0; unsigned u0 = {a}u; u8 c0 = {b}; short s0 = 1; long l0 = {a};"
        ));
        self.line("int a[4] = {1, 2, 3, 4}, b[3] = {0, 0, 0}; u8 m[6] = {1, 2, 3}; struct S s = {1, 2, 3, &i2}, z = {0, 0, 0, a};");
        self.line("int *p = a, *q = &i2, *hp = 0; struct N *head = 0; union U u; u.w = 0; int (*fp)(int, int) = @f;");
        if self.families.contains(&Family::Scan) {
            self.line("u8 buf[8]; unsigned o = 0; klee_make_symbolic(buf, sizeof buf, \"buf\");");
        }
        // Scans fork often enough.
        let scans = self.families.contains(&Family::Scan);
        self.forks = if scans { 1 } else { 4 + self.rng.below(7) as u32 };
        for _ in 0..if scans { 5 } else { 8 + self.rng.below(10) } {
            self.statement();
        }
        // Something at the end depends on what was computed on the way.
        for _ in 0..1 + self.rng.below(2) {
            self.claim();
        }
        let e = self.int(1);
        self.line(&format!("return {e};"));
        self.close("}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_program() {
        assert_eq!(program(7), program(7));
        assert_ne!(program(7).replace("s7_", ""), program(8).replace("s8_", ""));
        let lines: usize = (0..50).map(|s| program(s).lines().count()).sum();
        assert!(lines > 50 * 30, "{lines} lines in 50 programs");
    }
}
