//! Cost and solver statistics of a run, as text.

use pleach::number_format::{count, number};
use pleach_command::duration;
use pleach_report::{Summary, Timing};
use std::fmt::Write;
use std::time::Duration;

/// Who answers a query or a part of one, in the order of the chain, and the counters that say how often. Earlier
/// runs have `guess` and `sample`.
const ANSWERED: [(&str, &[&str]); 14] = [
    ("constants", &["trivial.answered"]),
    ("cache, with the same addresses", &["address.exact"]),
    ("cache, under other names", &["address.renamed"]),
    ("byte-wise truth sets", &["domain.sat", "domain.unsat"]),
    ("cache, word for word", &["cache.hits"]),
    ("known cores", &["cores.unsat"]),
    ("differences", &["difference.sat", "difference.unsat"]),
    ("recent models", &["models.sat"]),
    ("rewriting", &["rewrite.answered"]),
    ("local search", &["local-search.sat", "guess.sat"]),
    ("random sampling", &["random-sampling.sat", "sample.sat"]),
    ("evaluation of all values", &["enumerate.sat", "enumerate.unsat"]),
    ("Bitwuzla", &["bitwuzla.sat", "bitwuzla.unsat", "bitwuzla.unknown"]),
    ("Z3", &["z3.sat", "z3.unsat", "z3.unknown"]),
];

/// Errors, and what was not looked at.
pub fn found(s: &Summary) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}, {}", count(s.errors.len() as u64, "error"), count(s.tests, "test"));
    for e in &s.errors {
        let at = if e.line == 0 { String::new() } else { format!(" at {}:{}", e.file, e.line) };
        let test = e.test.map_or_else(String::new, |t| format!(" ({}.ktest)", t.stem()));
        let _ = writeln!(out, "  {}{at}{test}: {}", e.kind, e.message);
    }
    for c in &s.cut {
        let detail = if c.detail.is_empty() { String::new() } else { format!(" ({})", c.detail) };
        let _ = writeln!(out, "  not explored to the end: {}, {}{detail}", count(c.count, "path"), c.reason);
    }
    out
}

/// Who answered queries or parts of them, and how often.
pub fn answered(s: &Summary) -> Vec<(&'static str, u64)> {
    let get = |name: &&str| s.solver.get(*name).copied().unwrap_or(0);
    let all = ANSWERED.iter().map(|(who, names)| (*who, names.iter().map(get).sum()));
    all.filter(|(_, n)| *n > 0).collect()
}

pub fn describe(s: &Summary, t: &Timing) -> String {
    let mut out = String::new();
    let time = |us: u64| duration::show(Duration::from_micros(us));
    let p = &s.paths;
    let all = if s.complete { "all" } else { "not all" };
    let _ = writeln!(
        out,
        "{} ({all}), {}, {} at most",
        count(p.completed + p.errored, "path"),
        count(s.instructions, "instruction"),
        count(s.states_peak, "state")
    );
    let (wall, cpu, mb) = (time(t.elapsed_us), time(t.cpu_us), t.memory_peak_bytes >> 20);
    let _ = writeln!(out, "{wall}, {cpu} of processor time, {} MB", number(mb));
    let get = |name: &str| s.solver.get(name).copied().unwrap_or(0);
    let solving = t.components_us.get("solver.time").copied().unwrap_or(0);
    let _ = writeln!(
        out,
        "\n{} in {}; they, or parts of them, were answered by",
        count(get("chain.queries"), "query").replace("querys", "queries"),
        time(solving)
    );
    for (who, n) in answered(s) {
        let _ = writeln!(out, "  {who:32} {:>14}", number(n));
    }
    let entries = get("cache.entries") + get("address.entries");
    let kb = (get("cache.bytes") + get("address.bytes")).div_ceil(1024);
    let _ = writeln!(
        out,
        "The caches hold {}, about {} KB.",
        count(entries, "entry").replace("entrys", "entries"),
        number(kb)
    );
    let based = get("address.queries");
    if based > 0 {
        let _ =
            writeln!(out, "{} mention an address, {} depend on it.", number(based), number(get("address.dependent")));
    }
    if s.deferred > 0 {
        let _ = writeln!(out, "Queries ran out of their budget {} times; their states waited.", number(s.deferred));
    }
    if !t.costly_lines.is_empty() {
        let _ = writeln!(out, "\nMost time in a solver");
    }
    for l in &t.costly_lines {
        let place = format!("{}:{} in `{}`", l.file, l.line, l.function);
        let _ = writeln!(out, "  {:>8} in {:>8}  {place}", number(l.queries), time(l.time_us));
    }
    for (head, statistics) in [("Memory", &s.memory), ("Pruning", &s.pruning)] {
        if !statistics.is_empty() {
            let _ = writeln!(out, "\n{head}");
        }
        for (name, n) in statistics {
            let _ = writeln!(out, "  {name:32} {:>14}", number(*n));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_answered() {
        let statistics = [
            ("chain.queries", 1216),
            ("cache.hits", 1000),
            ("address.renamed", 5),
            ("bitwuzla.sat", 2),
            ("bitwuzla.unsat", 1),
        ];
        let solver = statistics.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
        let text = describe(&Summary { complete: true, solver, ..Summary::default() }, &Timing::default());
        assert!(text.contains("1,216 queries"), "{text}");
        assert!(text.contains("cache, under other names                      5\n"), "{text}");
        assert!(text.contains("Bitwuzla                                      3\n"), "{text}");
        assert!(!text.contains("Z3"), "{text}");
        assert!(!text.contains("Memory"), "{text}");
    }

    #[test]
    fn statistics_of_memory() {
        let memory = [("segments".to_owned(), 2), ("largest-segment".to_owned(), 1640)].into_iter().collect();
        let text = describe(&Summary { memory, ..Summary::default() }, &Timing::default());
        assert!(text.contains("\nMemory\n"), "{text}");
        assert!(text.contains("  largest-segment                           1,640\n"), "{text}");
    }
}
