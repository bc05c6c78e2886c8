//! Random statements, in families.

use super::Generator;

/// What a program draws its statements from, besides assignments and branches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    Loop,
    Switch,
    Index,
    Heap,
    Alias,
    List,
    Bulk,
    Bytes,
    Union,
    Call,
    Pointer,
    Recursion,
    Assume,
    Exit,
    Division,
    Fresh,
    Struct,
    Claim,
    Grow,
    Variable,
    ByValue,
    Handler,
    Errno,
    Far,
    Scope,
    /// one of several objects by an index that is not known; not among `ALL`
    Targets,
    /// objects whose size depends on inputs; not among `ALL`
    Sized,
    /// loops over a buffer of symbolic bytes; not among `ALL`
    Scan,
}

use Family::*;

impl Family {
    pub const ALL: [Family; 25] = [
        Loop, Switch, Index, Heap, Alias, List, Bulk, Bytes, Union, Call, Pointer, Recursion, Assume, Exit, Division,
        Fresh, Struct, Claim, Grow, Variable, ByValue, Handler, Errno, Far, Scope,
    ];
}

impl Generator {
    fn one_of(&mut self, of: &[&str]) -> String {
        of[self.rng.below(of.len() as u64) as usize].to_owned()
    }

    pub fn statement(&mut self) {
        match self.rng.below(10) {
            0..=2 => self.branch(),
            3..=5 => self.assign(),
            _ if self.helper || self.families.is_empty() => self.assign(),
            _ => {
                let family = self.rng.pick(&self.families.clone());
                self.of_family(family);
            }
        }
    }

    fn assign(&mut self) {
        let (to, e) = (self.place(), self.int(2));
        let op = ["=", "=", "=", "+=", "^="][self.rng.below(5) as usize];
        self.line(&format!("{to} {op} {e};"));
    }

    /// Different values on the two sides, joined.
    fn branch(&mut self) {
        if self.forks == 0 {
            let (c, to, e) = (self.cond(), self.place(), self.int(1));
            return self.line(&format!("if ({c}) {to} = {e};"));
        }
        self.forks -= 1;
        let c = if self.rng.one_in(3) { self.cond() } else { self.open_cond() };
        self.open(&format!("if ({c}) {{"));
        self.arm();
        if self.rng.one_in(2) {
            self.close("} else {");
            self.indent += 1;
            self.arm();
        }
        self.close("}");
    }

    fn arm(&mut self) {
        for _ in 0..1 + self.rng.below(2) {
            if self.forks > 0 && self.rng.one_in(4) { self.statement() } else { self.assign() }
        }
    }

    /// An error if something computed is not as claimed.
    pub fn claim(&mut self) {
        let c = self.cond();
        let what = if self.rng.one_in(12) { "i0 = 1 / (i0 - i0);" } else { "__assert_fail(\"\", \"\", 1, \"\");" };
        self.line(&format!("if ({c})"));
        self.line(&format!("  {what}"));
    }

    fn of_family(&mut self, family: Family) {
        let (e, c, k, n) = (self.int(1), self.open_cond(), self.rng.below(4), self.rng.below(60));
        match family {
            Loop => self.looping(),
            Switch => self.switch(),
            Index => match self.rng.below(5) {
                0 => self.line(&format!("t = a[x0 & {}];", [3, 3, 3, 7][k as usize])),
                1 => self.line(&format!("a[d0 & {}] = {e};", [3, 1, 3, 5][k as usize])),
                2 => self.line(&format!("i1 += @table[(x1 & 3)] + @ga[i0 & {}];", [3, 3, 1, 4][k as usize])),
                3 => self.line(&format!("t = m[{e} & {}];", [3, 3, 5, 7][k as usize])),
                _ => self.line(&format!("if (i0 >= 0 && i0 < 4) a[i0] = {e};")),
            },
            Heap => match self.rng.below(7) {
                0 | 1 => self.line(&format!("hp = malloc({}); if (hp) *hp = {e};", [4, 8, 12, 4][k as usize])),
                2 => self.line(&format!("hp = calloc({}, 4); t = hp[{k}];", 1 + (n % 4))),
                3 => self.line(&format!("if ({c}) {{ free(hp); hp = 0; }}")),
                4 => self.line("free(hp); hp = 0;"),
                5 => self.line(&format!("if (hp) t = hp[{}];", [0, 0, 0, 1][k as usize])),
                _ if self.rng.one_in(3) => self.line(&format!("if ({c}) free(hp);")),
                _ => self.line(&format!("if ({c}) hp = malloc({}); else hp = malloc(8);", [4, 8, 16, 2][k as usize])),
            },
            Alias => match self.rng.below(6) {
                0 | 1 => {
                    let (x, y) = (
                        self.one_of(&["a", "&i1", "&a[1]", "@ga", "&s.f", "q"]),
                        self.one_of(&["&i2", "b", "&@g1", "a", "&t"]),
                    );
                    self.line(&format!("if ({c}) p = {x}; else p = {y};"));
                }
                2 => self.line(&format!("*p = {e}; *q = {e} + 1; t = *p;")),
                3 => self.line(&format!("q = {};", ["p", "&a[2]", "&i2", "&@ga[1]"][k as usize])),
                4 => self.line(&format!("p = p + {}; if (p == q) i1++;", (n % 2))),
                _ => self.line(&format!("s.p = {}; *s.p = {e};", ["p", "q", "&i0", "&z.f"][k as usize])),
            },
            List => match self.rng.below(5) {
                0..=2 => {
                    let guard = if self.rng.one_in(2) { format!("if ({c}) ") } else { String::new() };
                    self.line(&format!(
                        "{guard}{{ struct N *n = malloc(sizeof *n); n->v = {e}; n->next = head; head = n; }}"
                    ));
                }
                3 => self.line("for (struct N *n = head; n; n = n->next) t += n->v;"),
                _ => self.line("if (head) { struct N *n = head; head = head->next; t = n->v; free(n); }"),
            },
            Bulk => match self.rng.below(7) {
                0 => self.line(&format!("memcpy(b, a + {}, {});", (n % 2), 4 * (1 + (n % 3)))),
                1 => self.line(&format!("memset(m + {}, {e}, {});", (n % 3), (n % 5))),
                2 => self.line(&format!("{{ int n = 4; if ({c}) n = {}; memcpy(b, a, n); }}", 4 * k)),
                3 => self.line("memmove(m + 1, m, 4);"),
                4 => self.line(&format!("memcpy(&i1, m + {}, 4);", (n % 4))),
                5 => self.line(&format!("memset(&s.f, 0, {});", (n % 9))),
                _ => self.line(&format!("{{ u8 *d = m; if ({c}) d = (u8 *)b; memcpy(d, in, {}); }}", 1 + k)),
            },
            Bytes => match self.rng.below(4) {
                0 => self.line("for (int k = 0; k < 8; k++) ((u8 *)&q)[k] = ((u8 *)&p)[k];"),
                1 => self.line(&format!("((u8 *)&i1)[{k}] = {e};")),
                2 => self.line(&format!("t = ((u8 *)a)[{}];", (n % 16))),
                _ => self.line(&format!("*(short *)(m + {k}) = {e};")),
            },
            Union => match self.rng.below(4) {
                0 => self.line(&format!("u.w = {e};")),
                1 => self.line(&format!("u.b[{k}] = {e}; t = u.w;")),
                2 => self.line(&format!("if ({c}) u.p = p; else u.p = q;")),
                _ => self.line("u.p = &a[1]; t = *u.p;"),
            },
            Call => match self.rng.below(4) {
                0 => self.line(&format!("t = @f({e}, i0);")),
                1 => self.line(&format!("i1 = @h(x1, {e});")),
                2 => self.line(&format!("@set({}, {e});", ["p", "&i0", "&s.f", "@ga"][k as usize])),
                _ => self.line(&format!("{{ int w = {e}; @set(&w, x0); i2 = w; }}")),
            },
            Pointer => match self.rng.below(3) {
                0 => self.line(&format!("if ({c}) fp = @h; else fp = @f;")),
                1 => self.line(&format!("t = fp(i0, {e});")),
                _ => self.line("fp = @h; i1 = fp(i1, t);"),
            },
            Recursion => match self.rng.below(3) {
                0 => self.line(&format!("i1 = @rec({}, &t);", (n % 4))),
                1 => self.line(&format!("i1 = @rec(x0 & {}, &i2);", [1, 3, 2, 1][k as usize])),
                _ => self.line("{ int w = 1; t += @rec(i0 & 3, &w); i2 = w; }"),
            },
            Assume => {
                let c = self.cond();
                let c = if n % 2 == 0 { c } else { self.open_cond() };
                let name = if self.rng.one_in(3) { "klee_assume" } else { "__VERIFIER_assume" };
                self.line(&format!("{name}({c});"));
            }
            Exit => {
                let what = self.one_of(&["return 3", "exit(2)", "return t"]);
                let c = self.cond();
                self.line(&format!("if ({c}) {what};"));
            }
            Division => match self.rng.below(4) {
                0 => self.line(&format!("t = {e} / ({} - {k});", ["i0", "x0", "c0", "s.b"][n as usize % 4])),
                1 => self.line("t = i1 % (d0 | 1);"),
                2 => self.line(&format!("t = 1 << ({e} & {});", [31, 31, 63, 7][k as usize])),
                _ => self.line(&format!("u0 = u0 / (unsigned)({} + {k});", ["i0", "t", "c0"][n as usize % 3])),
            },
            Fresh => match self.rng.below(4) {
                0 => self.line("x0 = __VERIFIER_nondet_int();"),
                1 => self.line("d0 = __VERIFIER_nondet_uchar(); t = d0;"),
                2 => self.line("klee_make_symbolic(&i2, sizeof i2, \"i2\");"),
                _ => self.line(&format!("{{ int w; if ({c}) w = {e}; if (i0 == {k}) t = w; }}")),
            },
            Struct => match self.rng.below(4) {
                0 => self.line("z = s;"),
                1 => self.line(&format!("if ({c}) s = @gS; s.f += {k};")),
                2 => self.line(&format!("@gS.f = {e}; @gS.b = {e};")),
                _ => self.line(&format!("{{ struct S *sp = &s; if ({c}) sp = &z; sp->f = {e}; sp->h = {k}; }}")),
            },
            Claim => self.claim(),
            Grow => match self.rng.below(5) {
                0 => self.line(&format!("hp = realloc(hp, {});", [4, 8, 16, 0][k as usize])),
                1 => self.line(&format!("if ({c}) hp = realloc(hp, {});", 4 * (1 + k))),
                2 => self.line(&format!("hp = realloc(0, 8); hp[1] = {e};")),
                3 => self.line(&format!("{{ int *n = realloc(hp, {}); n[0] += {e}; hp = n; t = hp[1]; }}", 8 + 4 * k)),
                _ => self.line(&format!("{{ int n = 4; if ({c}) n = {}; hp = realloc(hp, n); hp[0] = {k}; }}", 4 * k)),
            },
            Variable => match self.rng.below(4) {
                0 => self.line(&format!("t = @va(2, {e}, i0);")),
                1 => self.line(&format!("t += @va(i0 & {}, {e}, c0, x1);", [3, 1, 1, 3][k as usize])),
                2 => self.line(&format!("i1 = @va({}, *p, {e}, *q);", 1 + (n % 4))),
                _ => self.line(&format!("i1 = @va(({c}) + 1, {e}, s0, i2);")),
            },
            ByValue => match self.rng.below(4) {
                0 => self.line(&format!("{{ struct L v = {{{{{e}, i0, 3}}, p}}; t = @big(v, i1); }}")),
                1 => self.line(&format!("@gL.a[{k}] = {e}; @gL.p = {};", ["p", "q", "0", "&i1"][n as usize % 4])),
                2 => self.line(&format!("i1 = @big(@gL, {e});")),
                _ => self
                    .line(&format!("{{ struct L v = @gL, w = {{{{1}}, &t}}; if ({c}) v = w; i2 += @big(v, {e}); }}")),
            },
            Handler => match self.rng.below(3) {
                0 => self.line("atexit(@bye);"),
                1 => self.line(&format!("if ({c}) atexit(@bye);")),
                _ => self.line(&format!("@g1 = {e};")),
            },
            Errno => match self.rng.below(3) {
                0 => self.line(&format!("*__errno_location() = {e};")),
                1 => self.line(&format!("if ({c}) *__errno_location() = {k};")),
                _ => self.line(&format!("if (*__errno_location() == {k}) i1++;")),
            },
            Far => match self.rng.below(5) {
                0 => self.line(&format!("memset(m + (d0 & {}), {e}, {});", [3, 1, 3, 7][k as usize], 1 + (n % 3))),
                1 => self.line(&format!("memcpy(m + (x0 & {}), in, {});", [3, 1, 2, 4][k as usize], 1 + (n % 3))),
                2 => self.line(&format!("memcpy(b, (u8 *)a + (x1 & {}), 4);", [7, 8, 12, 4][k as usize])),
                3 => self.line(&format!("memcpy(&i1, a + (d0 & {}), 4);", [3, 1, 3, 4][k as usize])),
                _ => self.line(&format!("{{ u8 w[8] = {{{k}}}; memcpy(w + (in[0] & 3), m, 4); t = w[{}]; }}", (n % 8))),
            },
            Scope => match self.rng.below(4) {
                0 => self.line(&format!("{{ int w = {e}, *o = p; p = &w; *p += {k}; t = w; p = o; }}")),
                1 => self.line(&format!("{{ int w = {e}; if ({c}) p = &w; *p = {k}; t = w; }}")),
                2 => self.line(&format!(
                    "for (int o = 0; o < {}; o++) {{ int w[2] = {{{e}, o}}; q = w; t += q[x0 & 1]; }} q = a;",
                    1 + k
                )),
                _ => self.line(&format!("{{ struct S w = s, *o = &w; if ({c}) o = &z; o->f = {e}; z = *o; }}")),
            },
            Scan => self.scan(k),
            Sized => self.sized(&e, &c, k, n),
            Targets => {
                let i = self.one_of(&["x0 & 1", "d0 % 3", "(in[1] & 1) + 1", "(x1 + i0) & 1", "in[2] > 9"]);
                match self.rng.below(6) {
                    0 => self.line(&format!("{{ int *ps[3] = {{a + 1, b, q}}; ps[{i}][0] = {e}; t ^= *ps[{k} % 3]; }}")),
                    1 => self.line(&format!("{{ int *ps[3] = {{a, b, &i1}}; t = ps[{i}][d0 & {}]; }}", [0, 1, 3, 7][k as usize])),
                    2 => self.line(&format!("{{ int *ps[3] = {{a, {}, q}}; i1 += *ps[{i}]; }}", ["0", "b", "p", "hp"][k as usize])),
                    3 => {
                        let between = self.one_of(&["", "", "free(h[0]);", "free(h[2]); h[2] = a;"]);
                        let after = self.one_of(&["", "free(h[1]);", "if (t) free(h[0]);"]);
                        self.line("{ int *h[3] = {malloc(4), calloc(2, 4), malloc(8)};");
                        self.line(&format!("h[{i}][0] = {e}; h[1][{}] = 1; {between} i1 = *h[{i}]; {after} }}", k % 2));
                    }
                    4 => self.line(&format!("{{ int **pp[3] = {{&p, &q, &s.p}}; *pp[{i}] = b + {k}; *p = {e}; t += *s.p; }}")),
                    _ => self.line(&format!(
                        "{{ struct N n0 = {{0, 1}}, n1 = {{&n0, {k}}}, n2 = {{&n1, {e}}}, *ns[3] = {{&n0, &n1, &n2}}, *n = ns[{i}]; n->v += {k}; \
                         while (n) {{ t += n->v; n = n->next; }} }}"
                    )),
                }
            }
        }
    }

    fn sized(&mut self, e: &str, c: &str, k: u64, n: u64) {
        let size = self.one_of(&["(d0 & 3)", "(x0 & 3)", "(in[0] & 7)", "(in[1] % 5)", "(in[2] & 1) + (d0 & 1)"]);
        let more = n % 2;
        match self.rng.below(12) {
            0 => self.line(&format!("hp = malloc(({size} + {more}) * 4); if (hp && {size} > {k}) hp[{k}] = {e};")),
            1 => self.line(&format!("hp = calloc({size} + {more}, 4); t = hp[{}];", k % 3)),
            2 => {
                self.line(&format!("{{ u8 *w = malloc({size} + {more});"));
                self.line(&format!("for (int o = 0; o < {size}; o++) w[o] = o + {k};"));
                self.line(&format!("for (int o = 0; o < {size}; o++) t += w[o]; free(w); }}"));
            }
            3 => {
                self.line(&format!("{{ int w[{size} + 1]; w[{size}] = {e};"));
                self.line(&format!("if ({c}) w[0] = {k}; t ^= w[{}]; }}", if more == 0 { &size } else { "0" }));
            }
            4 => {
                self.line(&format!("{{ u8 *w = malloc({size} + 1); memset(w, {e}, {size} + {more});"));
                self.line(&format!("t = w[in[3] & {}]; memcpy(m, w, {size}); free(w); }}", [0, 0, 1, 3][k as usize]));
            }
            5 => self.line(&format!("hp = realloc(hp, ({size} + {more}) * 4); if (hp) t = hp[0];")),
            6 => {
                self.line(&format!(
                    "{{ usize o = {size} + {more}; u8 *w = malloc(o); klee_make_symbolic(w, o, \"w\");"
                ));
                self.line(&format!("if (o > {k} && w[{k}] == {k}) t = w[0]; free(w); }}"));
            }
            7 => {
                self.line(&format!("{{ int **w = malloc(({size} + 1) * sizeof *w); w[0] = p; w[{size}] = q;"));
                self.line(&format!("*w[0] = {e}; i1 = *w[{size}]; free(w); }}"));
            }
            8 => self.line(&format!("if ({c}) hp = malloc({size} + 4); else hp = malloc(8); *hp = {e};")),
            9 => self.line(&format!("{{ u8 *w = calloc({size}, 1), *o = w + {size}; while (w != o) t += *w++; }}")),
            10 => self.line(&format!("{{ u8 *w = malloc({size} + {k}); if ({c}) w[{size}] = {e}; free(w); }}")),
            _ => {
                self.line(&format!("{{ usize o = {size}; u8 *w = malloc(o + 1); memmove(w, in, o & 3);"));
                self.line(&format!("if (o) t = w[x1 & {}]; free(w); }}", [0, 0, 1, 7][k as usize]));
            }
        }
    }

    /// Scans, copies and parsers from where the last one ended.
    fn scan(&mut self, k: u64) {
        let one = ["97", "0", "'/'", "98"][k as usize];
        let two = self.one_of(&["48", "98", "255"]);
        let c = self.cond();
        let text = match self.rng.below(11) {
            0 => format!("while (o < 7 && buf[o] == {one}) o++;"),
            1 => format!("while (o < 7 && buf[o] != {one}) o++; if (o < 7) o++;"),
            2 => format!("while (o < 7 && (buf[o] == {one} || buf[o] == {two})) o++; t = o;"),
            3 => format!("{{ unsigned n = o; while (n < 7 && buf[n] != {one}) n += 2; i1 = n; }}"),
            4 => "{ int v = 0; while (o < 6 && buf[o] >= '0' && buf[o] <= '9') v = v * 10 + buf[o++] - '0'; t = v; }"
                .into(),
            5 => format!("{{ unsigned n = 0; while (n < 5 && buf[n] != {one}) {{ m[n] = buf[n]; n++; }} i2 = n; }}"),
            6 => format!("{{ int n = 6; while (n >= 0 && buf[n] == {one}) n--; i1 = n; }}"),
            7 => format!("for (o = 0; o < 5; o++) {{ if (buf[o] == {one}) break; if (buf[o] == {two}) i1++; }}"),
            8 => format!("{{ unsigned n = d0 & 7; while (o < n && buf[o] == {one}) o++; }}"),
            9 => format!("{{ u8 *w = buf; while (w < buf + 6 && *w == {one}) w++; if ({c}) *w = 1; t = *w; }}"),
            _ => format!("if (buf[o & 7] == {one}) {{ if ({c}) __assert_fail(\"\", \"\", 2, \"\"); }}"),
        };
        self.line(&text);
    }

    fn looping(&mut self) {
        if self.loops > 1 || self.forks == 0 {
            return self.assign();
        }
        self.loops += 1;
        self.forks -= 1;
        let name = format!("k{}", self.loops);
        let bound = match self.rng.below(4) {
            0 => "(x1 & 1) + 1".to_owned(),
            1 => "(c0 & 3)".to_owned(),
            _ => (1 + self.rng.below(3)).to_string(),
        };
        self.open(&format!("for (int {name} = 0; {name} < {bound}; {name}++) {{"));
        let (to, e) = (self.place(), self.int(1));
        self.line(&format!("{to} += {name} + {e};"));
        self.arm();
        if self.rng.one_in(4) {
            let (c, how) = (self.open_cond(), self.one_of(&["break", "continue"]));
            self.line(&format!("if ({c}) {how};"));
        }
        self.close("}");
        self.loops -= 1;
    }

    fn switch(&mut self) {
        if self.forks == 0 {
            return self.assign();
        }
        self.forks -= 1;
        let e = self.one_of(&["x0 & 3", "d0 & 3", "i0", "c0 & 3"]);
        self.open(&format!("switch ({e}) {{"));
        for k in 0..1 + self.rng.below(3) {
            self.open(&format!("case {k}:"));
            self.assign();
            if !self.rng.one_in(4) {
                self.line("break;");
            }
            self.indent -= 1;
        }
        self.open("default:");
        self.assign();
        self.indent -= 1;
        self.close("}");
    }
}
