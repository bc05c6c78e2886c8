//! Microseconds of processor time per query, by the link that answers it; `--stats` adds the statistics of all links.
//! Run with `cargo run --release -p pleach-smt --example latency`.

use pleach_expr::{SymbolKind, TermId, Terms};
use pleach_smt::{BackendKind, Query, SolverConfig, Stats, assemble};
use std::time::Duration;

/// Processor time of this thread so far.
fn now() -> Duration {
    // The counter is updated when the thread is descheduled.
    std::thread::sleep(Duration::from_millis(1));
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0))
}

fn cell(terms: &mut Terms, array: TermId, i: u64) -> TermId {
    let i = terms.constant(32, i);
    terms.read(array, i)
}

fn input(terms: &mut Terms, len: u32) -> TermId {
    let s = terms.symbols.named("input", SymbolKind::Array { element: 8, len });
    terms.array_var(s)
}

/// A scanner: each byte of the input is compared with characters and classes, as a parser does.
fn bytes(terms: &mut Terms) -> Vec<Vec<TermId>> {
    let a = input(terms, 16);
    let mut queries = Vec::new();
    for i in 0..16 {
        let b = cell(terms, a, i);
        let mut path = Vec::new();
        for (lo, hi) in [(b'0', b'9'), (b'a', b'z'), (b'A', b'Z'), (b' ', b'/')] {
            let (lo, hi) = (terms.constant(8, lo.into()), terms.constant(8, hi.into()));
            let (x, y) = (terms.ule(lo, b), terms.ule(b, hi));
            let inside = terms.and(x, y);
            let outside = terms.not(inside);
            for c in [inside, outside] {
                let mut q = path.clone();
                q.push(c);
                q.sort_unstable();
                q.dedup();
                queries.push(q);
            }
            path.push(outside);
        }
    }
    queries
}

/// Words of four bytes with sums and comparisons between neighbours: nothing is byte-wise.
fn word_queries(terms: &mut Terms) -> Vec<Vec<TermId>> {
    let a = input(terms, 64);
    let mut queries = Vec::new();
    let mut path: Vec<TermId> = Vec::new();
    let mut sum = terms.constant(32, 0);
    for w in 0..16u64 {
        let b: Vec<_> = (0..4).map(|i| cell(terms, a, 4 * w + i)).collect();
        let high = terms.concat(b[3], b[2]);
        let low = terms.concat(b[1], b[0]);
        let word = terms.concat(high, low);
        for k in 0..6u64 {
            let c = terms.constant(32, 1000 * (w + 1) + 77 * k);
            let shifted = terms.add(word, sum);
            let cond = if k % 2 == 0 { terms.ult(shifted, c) } else { terms.slt(c, shifted) };
            let negated = terms.not(cond);
            for side in [cond, negated] {
                let mut q = path.clone();
                q.push(side);
                q.sort_unstable();
                q.dedup();
                queries.push(q);
            }
            if k == 5 {
                path.push(cond);
            }
        }
        sum = terms.add(sum, word);
    }
    queries
}

/// A table of 256 entries read at an input byte, as `isalpha` does it.
fn tables(terms: &mut Terms) -> Vec<Vec<TermId>> {
    let a = input(terms, 16);
    let table: Vec<u64> = (0..256u64).map(|i| i * 37 % 251).collect();
    let t = terms.array_const(8, &table);
    let mut queries = Vec::new();
    for i in 0..15 {
        let (x, y) = (cell(terms, a, i), cell(terms, a, i + 1));
        let s = terms.add(x, y);
        let index = terms.zext(s, 32);
        let r = terms.read(t, index);
        for k in 0..6u64 {
            let c = terms.constant(8, 40 * k);
            let cond = terms.ult(r, c);
            queries.push(vec![cond]);
            queries.push(vec![terms.not(cond)]);
        }
    }
    queries
}

fn measure(name: &str, config: SolverConfig, make: fn(&mut Terms) -> Vec<Vec<TermId>>, rounds: u32) {
    let mut terms = Terms::new(64);
    let queries = make(&mut terms);
    let mut s = assemble(config);
    let mut run = |n: u32| {
        let start = now();
        for q in (0..n).flat_map(|_| &queries) {
            std::hint::black_box(s.check(&mut terms, &Query::new(q)));
        }
        (now() - start).as_secs_f64() * 1e6 / (f64::from(n) * queries.len() as f64)
    };
    let first = run(1);
    let again = run(rounds);
    println!("{name:28} {:4} queries   first time {first:9.2} µs   again {again:9.3} µs", queries.len());
    if std::env::args().any(|a| a == "--stats") {
        let mut stats = Stats::new();
        s.stats(&mut stats);
        for (n, v) in stats.counts().filter(|(_, v)| *v > 0) {
            println!("    {n} {v}");
        }
        for (n, v) in stats.times() {
            println!("    {n} {v:?}");
        }
    }
}

fn main() {
    let chain = SolverConfig::default;
    let bare = SolverConfig::bare;
    measure("bytes, chain (domain)", chain(), bytes, 1000);
    measure("bytes, bitwuzla alone", bare(BackendKind::Bitwuzla), bytes, 2);
    measure("bytes, z3 alone", bare(BackendKind::Z3), bytes, 2);
    measure("words, chain (then cache)", chain(), word_queries, 100);
    measure("words, bitwuzla alone", bare(BackendKind::Bitwuzla), word_queries, 2);
    measure("words, z3 alone", bare(BackendKind::Z3), word_queries, 2);
    measure("tables, chain (then cache)", chain(), tables, 100);
    measure("tables, bitwuzla alone", bare(BackendKind::Bitwuzla), tables, 2);
    measure("tables, z3 alone", bare(BackendKind::Z3), tables, 2);
}
