//! Queries with reads at symbolic indices: answers against the back end, models and cores checked by the other one.

mod common;
use common::*;
use pleach_expr::{TermId, Terms};
use pleach_smt::{BackendKind, Solver, SolverConfig, Stats, assemble};

const CELLS: u64 = 6;

fn figure(s: &dyn Solver, name: &str) -> u64 {
    let mut stats = Stats::new();
    s.stats(&mut stats);
    stats.get(name)
}

struct Scan {
    terms: Terms,
    s: TermId,
    numbers: [TermId; 2],
}

impl Scan {
    fn new() -> Scan {
        let mut terms = Terms::new(64);
        let s = array(&mut terms, "s", 8, CELLS as u32);
        let numbers = ["n", "k"].map(|name| var(&mut terms, name, 16));
        Scan { terms, s, numbers }
    }

    fn number(&mut self, v: u64) -> TermId {
        self.terms.constant(16, v)
    }

    /// `s[x - less]`
    fn at(&mut self, x: TermId, less: u64) -> TermId {
        let less = self.number(less);
        let index = self.terms.sub(x, less);
        let index = self.terms.resize_unsigned(index, 32);
        self.terms.read(self.s, index)
    }

    /// What a scan, a bound, or a comparison of cells says.
    fn random(&mut self, rng: &mut Rng) -> TermId {
        let x = self.numbers[rng.below(2) as usize];
        let (v, less, i, j) = (rng.below(3), rng.below(2), rng.below(CELLS + 1), rng.below(CELLS));
        let byte = self.terms.constant(8, v);
        match rng.below(10) {
            0..=2 => {
                let read = self.at(x, less);
                let same = self.terms.eq(read, byte);
                if rng.below(3) == 0 { self.terms.not(same) } else { same }
            }
            3..=5 => {
                let read = cell(&mut self.terms, self.s, j);
                let same = self.terms.eq(read, byte);
                if rng.below(2) == 0 { self.terms.not(same) } else { same }
            }
            6 => {
                let bound = self.number(i);
                if rng.below(2) == 0 { self.terms.ult(x, bound) } else { self.terms.ult(bound, x) }
            }
            7 => {
                let [n, k] = self.numbers;
                self.terms.ult(k, n)
            }
            8 => {
                let (a, b) = (cell(&mut self.terms, self.s, j), self.at(x, less));
                if rng.below(2) == 0 { self.terms.ult(a, b) } else { self.terms.eq(a, b) }
            }
            _ => {
                let (a, b) = (cell(&mut self.terms, self.s, j), cell(&mut self.terms, self.s, (j + 1) % CELLS));
                let sum = self.terms.add(a, b);
                self.terms.eq(sum, byte)
            }
        }
    }

    fn bounded(&mut self) -> Vec<TermId> {
        let (zero, end) = (self.number(0), self.number(CELLS + 1));
        let bounds = self.numbers.map(|x| [self.terms.ult(zero, x), self.terms.ult(x, end)]);
        bounds.concat()
    }
}

#[test]
fn values_of_numbers_are_tried() {
    let mut scan = Scan::new();
    let bare = SolverConfig::bare(BackendKind::Bitwuzla);
    let mut solver = assemble(SolverConfig { use_enumerate: true, check_evidence: true, ..bare.clone() });
    let mut other = assemble(bare);
    let mut rng = Rng(19);
    for i in 0..400 {
        let mut query = scan.bounded();
        query.extend((0..2 + rng.below(9)).map(|_| scan.random(&mut rng)));
        query.retain(|c| *c != Terms::TRUE);
        if query.contains(&Terms::FALSE) {
            continue;
        }
        let (found, expected) =
            (check(&mut *solver, &mut scan.terms, &query), check(&mut *other, &mut scan.terms, &query));
        assert_eq!(found.verdict(), expected.verdict(), "query {i}");
    }
    assert_eq!(figure(&*solver, "checking.failures"), 0);
    let [sat, unsat] = ["indices.sat", "indices.unsat"].map(|n| figure(&*solver, n));
    assert!(sat > 50 && unsat > 50, "{sat} {unsat}");
}

/// `0 < n ≤ 6`, `s[n - 1] = 0`, and no cell but the last one is 0.
#[test]
fn a_scan_to_the_end_needs_no_back_end() {
    let mut scan = Scan::new();
    let mut query = scan.bounded();
    let zero = scan.terms.constant(8, 0);
    let end = scan.at(scan.numbers[0], 1);
    query.push(scan.terms.eq(end, zero));
    for i in 0..CELLS - 1 {
        let read = cell(&mut scan.terms, scan.s, i);
        query.push(scan.terms.ne(read, zero));
    }
    let mut solver = assemble(SolverConfig::default());
    let model = check(&mut *solver, &mut scan.terms, &query);
    assert_eq!(scan.terms.eval(scan.numbers[0], model.model().expect("the last cell is 0")), CELLS);
    let last = cell(&mut scan.terms, scan.s, CELLS - 1);
    let goes_on = scan.terms.ne(last, zero);
    query.push(goes_on);
    let answer = check(&mut *solver, &mut scan.terms, &query);
    // All cells, the end, and the bounds of n.
    assert_eq!(answer.core().expect("no cell is 0").len(), CELLS as usize + 3);
    assert_eq!(figure(&*solver, "bitwuzla.queries"), 0);
}
