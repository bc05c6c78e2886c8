//! Random terms, brute force, and stub solvers for the tests of this crate.
#![allow(dead_code)]

use pleach_expr::{Key, Model, SymbolId, SymbolKind, TermId, Terms};
use pleach_smt::{Answer, Query, Solver, Stats};

/// A small generator (splitmix64), so that a failing seed can be run again.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

pub fn var(terms: &mut Terms, name: &str, width: u16) -> TermId {
    let s = terms.symbols.named(name, SymbolKind::Bits(width));
    terms.var(s)
}

pub fn array(terms: &mut Terms, name: &str, element: u16, len: u32) -> TermId {
    let s = terms.symbols.named(name, SymbolKind::Array { element, len });
    terms.array_var(s)
}

pub fn cell(terms: &mut Terms, array: TermId, index: u64) -> TermId {
    let i = terms.constant(32, index);
    terms.read(array, i)
}

pub fn key(terms: &mut Terms, t: TermId) -> Key {
    terms.support(t)[0]
}

pub fn sorted(mut constraints: Vec<TermId>) -> Vec<TermId> {
    constraints.sort_unstable();
    constraints.dedup();
    constraints
}

pub fn check(solver: &mut dyn Solver, terms: &mut Terms, constraints: &[TermId]) -> Answer {
    let constraints = sorted(constraints.to_vec());
    solver.check(terms, &Query::new(&constraints))
}

/// The symbolic variables that random terms are made of.
pub struct Variables {
    pub vars: Vec<TermId>,
    pub arrays: Vec<TermId>,
    pub tables: Vec<TermId>,
}

/// Few bits in all, so that brute force is cheap.
pub fn small_variables(terms: &mut Terms) -> Variables {
    let vars = vec![var(terms, "a", 3), var(terms, "b", 4), var(terms, "p", 1)];
    let arrays = vec![array(terms, "m", 2, 3)];
    let tables = vec![terms.array_const(4, &[3, 3, 9, 0, 14]), terms.array_const(2, &[1, 2, 3])];
    Variables { vars, arrays, tables }
}

pub fn large_variables(terms: &mut Terms) -> Variables {
    let vars = vec![var(terms, "x", 16), var(terms, "y", 16), var(terms, "c", 8), var(terms, "w", 80)];
    let arrays = vec![array(terms, "m", 8, 4), array(terms, "big", 8, 300)];
    let table: Vec<u64> = (0..40).map(|i| i * 7 % 19).collect();
    let tables = vec![terms.array_const(8, &table)];
    Variables { vars, arrays, tables }
}

fn fit(terms: &mut Terms, t: TermId, width: u16, signed: bool) -> TermId {
    if signed { terms.resize_signed(t, width) } else { terms.resize_unsigned(t, width) }
}

/// A random array: a variable, a table, or one of them with stores.
fn random_array(rng: &mut Rng, terms: &mut Terms, u: &Variables, depth: u32) -> TermId {
    let all = u.arrays.len() + u.tables.len();
    let i = rng.below(all as u64) as usize;
    let mut a = if i < u.arrays.len() { u.arrays[i] } else { u.tables[i - u.arrays.len()] };
    for _ in 0..rng.below(3).saturating_sub(u64::from(depth == 0)) {
        let index = random_index(rng, terms, u, depth);
        let w = terms.width(a);
        let value = random_bits(rng, terms, u, w, depth.saturating_sub(1));
        a = terms.store(a, index, value);
    }
    a
}

fn random_index(rng: &mut Rng, terms: &mut Terms, u: &Variables, depth: u32) -> TermId {
    if rng.below(2) == 0 {
        let i = rng.below(5);
        return terms.constant(32, i);
    }
    let x = random_bits(rng, terms, u, 3, depth.saturating_sub(1));
    fit(terms, x, 32, false)
}

pub fn random_bits(rng: &mut Rng, terms: &mut Terms, u: &Variables, width: u16, depth: u32) -> TermId {
    if depth == 0 || rng.below(6) == 0 {
        return match rng.below(3) {
            0 => {
                let v = rng.next();
                terms.constant(width, v)
            }
            1 => {
                let a = u.arrays[rng.below(u.arrays.len() as u64) as usize];
                let i = rng.below(3);
                let t = cell(terms, a, i);
                fit(terms, t, width, false)
            }
            _ => {
                let v = u.vars[rng.below(u.vars.len() as u64) as usize];
                let signed = rng.below(2) == 0;
                fit(terms, v, width, signed)
            }
        };
    }
    let d = depth - 1;
    match rng.below(20) {
        0 => {
            let c = random_truth(rng, terms, u, d);
            let (a, b) = (random_bits(rng, terms, u, width, d), random_bits(rng, terms, u, width, d));
            terms.ite(c, a, b)
        }
        1 | 2 => {
            let a = random_array(rng, terms, u, d);
            let i = random_index(rng, terms, u, d);
            let t = terms.read(a, i);
            fit(terms, t, width, false)
        }
        3 if width > 1 => {
            let low = 1 + rng.below(u64::from(width) - 1) as u16;
            let (a, b) = (random_bits(rng, terms, u, width - low, d), random_bits(rng, terms, u, low, d));
            terms.concat(a, b)
        }
        4 => {
            let a = random_bits(rng, terms, u, width + 2, d);
            let lo = rng.below(3) as u16;
            terms.extract(a, lo, width)
        }
        5 => {
            let a = random_bits(rng, terms, u, width, d);
            terms.not(a)
        }
        6 => {
            let a = random_bits(rng, terms, u, width, d);
            terms.neg(a)
        }
        n => {
            let (a, b) = (random_bits(rng, terms, u, width, d), random_bits(rng, terms, u, width, d));
            match n {
                7 => terms.and(a, b),
                8 => terms.or(a, b),
                9 => terms.xor(a, b),
                10 | 11 => terms.add(a, b),
                12 => terms.sub(a, b),
                13 => terms.mul(a, b),
                14 => terms.udiv(a, b),
                15 => terms.sdiv(a, b),
                16 => terms.urem(a, b),
                17 => terms.srem(a, b),
                18 => terms.shl(a, b),
                _ => {
                    if rng.below(2) == 0 {
                        terms.lshr(a, b)
                    } else {
                        terms.ashr(a, b)
                    }
                }
            }
        }
    }
}

pub fn random_truth(rng: &mut Rng, terms: &mut Terms, u: &Variables, depth: u32) -> TermId {
    let d = depth.saturating_sub(1);
    if depth > 0 && rng.below(4) == 0 {
        let (a, b) = (random_truth(rng, terms, u, d), random_truth(rng, terms, u, d));
        return match rng.below(4) {
            0 => terms.and(a, b),
            1 => terms.or(a, b),
            2 => terms.xor(a, b),
            _ => terms.not(a),
        };
    }
    let width = [1, 2, 3, 4, 5, 8, 16][rng.below(7) as usize];
    let (a, b) = (random_bits(rng, terms, u, width, d), random_bits(rng, terms, u, width, d));
    match rng.below(6) {
        0 | 1 => terms.eq(a, b),
        2 => terms.ult(a, b),
        3 => terms.ule(a, b),
        4 => terms.slt(a, b),
        _ => terms.sle(a, b),
    }
}

/// Is there an assignment to the symbolic variables that makes all constraints true? For few bits in all.
pub fn brute_force(terms: &mut Terms, constraints: &[TermId]) -> bool {
    let mut keys: Vec<(Key, u16)> = Vec::new();
    let mut support: Vec<Key> = constraints.iter().flat_map(|&c| terms.support(c).to_vec()).collect();
    support.sort_unstable();
    support.dedup();
    for k in support {
        match terms.symbols.kind(k.symbol()) {
            SymbolKind::Bits(w) => keys.push((k, w)),
            SymbolKind::Array { element, len } if k.is_whole() => {
                keys.extend((0..len).map(|i| (Key::new(k.symbol(), i), element)));
            }
            SymbolKind::Array { element, len } if k.cell() < len => keys.push((k, element)),
            SymbolKind::Array { .. } => {}
        }
    }
    keys.sort_unstable();
    keys.dedup();
    let bits: u32 = keys.iter().map(|(_, w)| u32::from(*w)).sum();
    assert!(bits <= 20, "too many bits for brute force");
    (0..1u64 << bits).any(|mut all| {
        let mut model = Model::new();
        for &(k, w) in &keys {
            model.set(k, all & ((1 << w) - 1));
            all >>= w;
        }
        constraints.iter().all(|&c| terms.eval(c, &model) == 1)
    })
}

/// Counts what reaches it and answers with a back end.
pub struct Counting {
    pub seen: std::rc::Rc<std::cell::RefCell<Vec<Vec<TermId>>>>,
    pub inner: Box<dyn Solver>,
}

impl Counting {
    pub fn new() -> (Counting, std::rc::Rc<std::cell::RefCell<Vec<Vec<TermId>>>>) {
        let seen = std::rc::Rc::default();
        let config = pleach_smt::SolverConfig::bare(pleach_smt::BackendKind::Bitwuzla);
        (Counting { seen: std::rc::Rc::clone(&seen), inner: pleach_smt::assemble(config) }, seen)
    }
}

impl Solver for Counting {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        self.seen.borrow_mut().push(query.constraints.to_vec());
        self.inner.check(terms, query)
    }
    fn stats(&self, out: &mut Stats) {
        self.inner.stats(out);
    }
}

pub fn symbol_of(terms: &mut Terms, t: TermId) -> SymbolId {
    terms.support(t)[0].symbol()
}
