//! Random expressions and conditions over the fixed variables.

use super::Generator;

const SCALARS: &[&str] = &["i0", "i1", "i2", "t", "c0", "s0", "(int)u0", "(int)l0", "@g0", "@g1", "@gb"];
const CELLS: &[&str] = &[
    "a[0]", "a[2]", "b[1]", "m[1]", "m[4]", "s.f", "s.b", "s.h", "z.f", "@ga[1]", "@ga[3]", "@gs[2]", "@gS.f", "@gS.b",
    "u.b[1]", "u.h[0]",
];
const INPUTS: &[&str] = &["x0", "x1", "d0", "in[0]", "in[1]", "in[2]"];

impl Generator {
    fn choose(&mut self, from: &[&'static str]) -> &'static str {
        self.rng.pick(from)
    }

    pub fn constant(&mut self) -> String {
        match self.rng.below(12) {
            0 => "-1".into(),
            1 => "255".into(),
            2 => "2147483647".into(),
            3 => "128".into(),
            _ => self.rng.below(9).to_string(),
        }
    }

    pub fn leaf(&mut self) -> String {
        if self.helper {
            return match self.rng.below(8) {
                0 => self.constant(),
                1 => "@g0".into(),
                2 => "@ga[1]".into(),
                n => ["x", "y", "r"][n as usize % 3].into(),
            };
        }
        match self.rng.below(16) {
            0..=3 => self.constant(),
            4..=8 => self.choose(SCALARS).into(),
            9..=11 => self.choose(CELLS).into(),
            12 | 13 => self.choose(INPUTS).into(),
            14 if self.rng.one_in(3) => "*p".into(),
            14 => "*q".into(),
            _ => "i1".into(),
        }
    }

    pub fn int(&mut self, depth: u32) -> String {
        if depth == 0 || self.rng.one_in(4) {
            return self.leaf();
        }
        let (a, b) = (self.int(depth - 1), self.int(depth - 1));
        match self.rng.below(14) {
            0..=3 => format!("({a} + {b})"),
            4 => format!("({a} - {b})"),
            5 => format!("({a} & {b})"),
            6 => format!("({a} | {b})"),
            7 => format!("({a} ^ {b})"),
            8 => format!("(u8)({a} + {b})"),
            9 => format!("(short)({a})"),
            10 => format!("({a} * {})", self.rng.below(4)),
            11 => format!("(int)((unsigned){a} >> {})", self.rng.below(5)),
            12 => {
                let c = self.cond_on(&a);
                format!("({c} ? {a} : {b})")
            }
            _ => format!("({a} < {b})"),
        }
    }

    /// A condition on this expression.
    pub fn cond_on(&mut self, e: &str) -> String {
        let k = self.constant();
        match self.rng.below(10) {
            0..=2 => format!("({e}) {} {k}", ["<", "<=", ">", ">="][self.rng.below(4) as usize]),
            3 => format!("(unsigned)({e}) {} {k}u", ["<", ">"][self.rng.below(2) as usize]),
            4 | 5 => format!("({e}) == {k}"),
            6 => format!("({e}) != {k}"),
            7 => format!("({e}) & {}", 1 << self.rng.below(4)),
            8 => format!("(u8)({e}) {} 200", ["<", ">"][self.rng.below(2) as usize]),
            _ => format!("(unsigned)({e}) + 1u > (unsigned)({e})"),
        }
    }

    /// A condition that an input decides.
    pub fn open_cond(&mut self) -> String {
        let e = if self.helper { "x" } else { self.choose(INPUTS) };
        match self.rng.below(6) {
            0 => {
                let f = self.leaf();
                format!("{e} < {f}")
            }
            1 if !self.helper => "x0 == x1".into(),
            2 => {
                let f = self.leaf();
                let g = format!("{e} + {f}");
                self.cond_on(&g)
            }
            _ => self.cond_on(e),
        }
    }

    pub fn cond(&mut self) -> String {
        match self.rng.below(10) {
            0 if !self.helper => ["p == q", "p != a", "head != 0", "hp != 0", "s.p == &i2", "fp == @f"]
                [self.rng.below(6) as usize]
                .into(),
            1 => {
                let (a, b) = (self.leaf(), self.leaf());
                format!("{a} {} {b}", ["<", "==", "!=", ">="][self.rng.below(4) as usize])
            }
            2 | 3 => {
                let (a, b) = (self.leaf(), self.leaf());
                let (a, b) = (self.cond_on(&a), self.cond_on(&b));
                format!("({a}) {} ({b})", ["&&", "||"][self.rng.below(2) as usize])
            }
            4 => {
                let e = self.int(2);
                self.cond_on(&e)
            }
            _ => {
                let e = self.leaf();
                self.cond_on(&e)
            }
        }
    }

    /// Something that can be assigned to.
    pub fn place(&mut self) -> String {
        if self.helper {
            return ["r", "r", "x", "@g0", "@ga[1]", "@gb"][self.rng.below(6) as usize].into();
        }
        match self.rng.below(10) {
            0..=4 => match self.rng.below(11) {
                0 => "u0".into(),
                1 => "l0".into(),
                n => ["i0", "i1", "i2", "t", "c0", "s0", "@g0", "@g1", "@gb"][n as usize % 9].into(),
            },
            5..=7 => self.choose(CELLS).into(),
            8 => "*q".into(),
            _ => "*p".into(),
        }
    }
}
