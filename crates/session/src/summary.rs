//! The account of a run: `summary.json`, and the same as text.

use pleach::cut_reason::{accounts, reason, together, what_to_do};
use pleach::number_format::{count, number, percent};
use pleach_command::duration;
use pleach_explore::{Counters, Rechecked, Speculated};
use pleach_report::{Summary, Timing};
use pleach_state::Cut;
use std::fmt::Write;
use std::time::Duration;

/// Figures of `--check-pruning`.
pub fn speculated(on: bool, s: &Speculated) -> Vec<(String, u64)> {
    let statistics =
        [("speculations", s.tried), ("speculations known", s.known), ("speculations: instructions", s.instructions)];
    statistics.into_iter().filter(|_| on).map(|(name, n)| (name.to_owned(), n)).collect()
}

pub fn rechecked(r: &Rechecked) -> Vec<(String, u64)> {
    vec![
        ("check: subtrees".into(), r.subtrees),
        ("check: paths".into(), r.paths),
        ("check: instructions".into(), r.instructions),
        ("check: not to the end".into(), r.unfinished),
        ("check: failures".into(), r.failures.len() as u64),
    ]
}

/// `safe` needs that nothing was cut and nothing assumed.
pub fn verdict(s: &Summary) -> &'static str {
    match (s.complete, s.assumptions.is_empty(), s.errors.len()) {
        (_, _, 1..) => "unsafe",
        (true, true, 0) => "safe",
        (true, false, 0) => "safe-assuming",
        (false, _, 0) => "unknown",
    }
}

/// Human-readable.
/// `files`: how many of the tests are files of the run directory; the others are in its archive.
pub fn describe(s: &Summary, c: &Counters, elapsed: Duration, run: &str, files: u64) -> String {
    let mut out = String::new();
    let ended = c.completed + c.errored + c.pruned;
    let errors = count(s.errors.len() as u64, "error");
    if nothing_checked(s) {
        let began = if c.cuts.keys().all(is_limit) { "Within the limits" } else { "Nothing could be checked:" };
        let _ = writeln!(out, "{began} no path was followed to its end ({}).", duration::show(elapsed));
        not_exhaustive(&mut out, c);
        out.push_str(&tests(s, run, files));
        return out;
    }
    let explored = if s.complete { format!("all {}", count(ended, "path")) } else { count(ended, "path") };
    let under = if s.assumptions.is_empty() { "" } else { " under the assumptions below" };
    let _ = write!(out, "Explored {explored}{under} in {}: ", duration::show(elapsed));
    let _ = match s.errors.len() {
        0 if !s.complete => write!(out, "no errors on them, but not everything was explored."),
        0 => write!(out, "no errors."),
        n if c.errored > n as u64 => write!(out, "{errors} (on {}).", count(c.errored, "path")),
        _ => write!(out, "{errors}."),
    };
    let t = &s.totals;
    if t.lines > 0 {
        let _ = write!(out, " Covered {} of lines", percent(t.lines_covered, t.lines));
        let _ = match t.branches {
            0 => write!(out, "."),
            n => write!(out, " and {} of branches.", percent(t.branches_covered, n)),
        };
    }
    out.push('\n');
    for e in &s.errors {
        let at = if e.line == 0 { String::new() } else { format!(" at {}:{}", e.file, e.line) };
        let test = e.test.map_or_else(String::new, |t| format!(" ({run}/{}.ktest)", t.stem()));
        let _ = writeln!(out, "  {}{at}{test}", e.kind);
    }
    if !s.complete {
        not_exhaustive(&mut out, c);
    }
    let clauses: Vec<String> = s.assumptions.iter().map(|a| a.clause.clone()).collect();
    for clause in together(&clauses) {
        let _ = writeln!(out, "Assuming that {clause}.");
    }
    if c.merged > 0 {
        let _ = writeln!(out, "{} became {} by merging.", count(c.merged, "state"), number(c.merged_into));
    }
    if c.silent > 0 {
        let _ = writeln!(out, "{} terminated silently (no test).", count(c.silent, "path"));
    }
    let r = &c.rechecked;
    if r.subtrees > 0 {
        let of = if r.unfinished > 0 { format!(", {} not to the end", r.unfinished) } else { String::new() };
        let result = if r.failures.is_empty() { "nothing new" } else { "a failure" };
        let _ = writeln!(
            out,
            "Checked the pruning: {} explored anyway ({}{of}): {result}.",
            count(r.subtrees, "subtree"),
            count(r.paths, "path")
        );
    }
    out.push_str(&tests(s, run, files));
    out
}

/// How many tests there are, and where.
fn tests(s: &Summary, run: &str, files: u64) -> String {
    let packed = match s.tests.saturating_sub(files) {
        0 => String::new(),
        packed => format!(": {}, {} packed", count(files, "file"), number(packed)),
    };
    format!("{} in {run}{packed}\n", count(s.tests, "test"))
}

/// Neither a normal end nor an error: a run that says nothing about the program.
pub fn nothing_checked(s: &Summary) -> bool {
    !s.complete && s.errors.is_empty() && s.paths.completed + s.paths.errored + s.paths.pruned == 0
}

/// The user's wish, not something that cannot be done.
fn is_limit(cut: &Cut) -> bool {
    !matches!(cut, Cut::Unsupported(_) | Cut::External(_) | Cut::Solver(_) | Cut::Concretized(_))
}

fn not_exhaustive(out: &mut String, c: &Counters) {
    out.push_str("Not exhaustive because:\n");
    for account in accounts(&c.cuts) {
        let _ = writeln!(out, "  {account}");
    }
    if c.cuts.is_empty() {
        out.push_str("  the engine stopped on an internal error\n");
        out.push_str(&what_to_do(["internal-error"]));
    }
    out.push_str(&what_to_do(c.cuts.keys().map(|cut| reason(cut).name)));
}

/// The lines whose queries took the time, where queries took most of it or had no answer.
pub fn costly_lines(c: &Counters, t: &Timing) -> String {
    const NAMED: usize = 3;
    let solving = t.components_us.get("solver.time").copied().unwrap_or(0);
    let slow = t.elapsed_us > 5_000_000 && 2 * solving > t.elapsed_us;
    let unanswered = c.cuts.keys().any(|cut| matches!(cut, Cut::Solver(_)));
    if t.costly_lines.is_empty() || !slow && !unanswered {
        return String::new();
    }
    let mut out = "Queries took the most time at:\n".to_owned();
    for l in t.costly_lines.iter().take(NAMED) {
        let time = duration::show(Duration::from_micros(l.time_us));
        let queries = if l.queries == 1 { "1 query".to_owned() } else { format!("{} queries", number(l.queries)) };
        let _ = writeln!(out, "  {}:{} in `{}` ({queries}, {time})", l.file, l.line, l.function);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_report::CostlyLine;
    use pleach_state::Assumption;

    #[test]
    fn lines_are_named_where_queries_had_no_answer() {
        let line = CostlyLine { function: "f".into(), file: "a.c".into(), line: 7, queries: 3, time_us: 2_000_000 };
        let timing = Timing { elapsed_us: 9_000_000, costly_lines: vec![line], ..Timing::default() };
        assert_eq!(costly_lines(&Counters::default(), &timing), "");
        let cut = Counters { cuts: [(Cut::Solver("no".into()), 1)].into(), ..Counters::default() };
        assert!(costly_lines(&cut, &timing).contains("  a.c:7 in `f` (3 queries, 2.0s)\n"));
        let slow = Timing { components_us: [("solver.time".to_owned(), 5_000_000)].into(), ..timing };
        assert!(costly_lines(&Counters::default(), &slow).contains("a.c:7"));
    }

    #[test]
    fn plain_words() {
        let c = Counters { completed: 6675, errored: 763, ..Counters::default() };
        let s = Summary { complete: true, tests: 7438, ..Summary::default() };
        let text = describe(&s, &c, Duration::from_secs(4), "out", 7438);
        assert!(text.starts_with("Explored all 7,438 paths in 4.0s: no errors."), "{text}");
        let c = Counters { cuts: [(Cut::Time, 1), (Cut::External("f".into()), 3)].into(), ..c };
        let s = Summary { complete: false, ..s };
        let text = describe(&s, &c, Duration::from_secs(4), "out", 7438);
        assert!(
            text.contains("  call of a function without a body: f; 3 paths were not explored to the end (add the file"),
            "{text}"
        );
        assert!(
            text.contains("  the time limit (--max-time) was reached; 1 path was not explored to the end (raise it"),
            "{text}"
        );
        let verdict = |complete, assumptions: &[Assumption]| {
            verdict(&Summary {
                complete,
                assumptions: pleach::cut_reason::assumptions(assumptions),
                ..Summary::default()
            })
        };
        assert_eq!((verdict(true, &[]), verdict(false, &[])), ("safe", "unknown"));
        assert_eq!(verdict(true, &[Assumption::FuzzSize(8)]), "safe-assuming");
    }

    #[test]
    fn packed_tests_are_counted() {
        let s = Summary { tests: 48, ..Summary::default() };
        assert_eq!(tests(&s, "out", 11), "48 tests in out: 11 files, 37 packed\n");
        assert_eq!(tests(&s, "out", 48), "48 tests in out\n");
    }

    #[test]
    fn nothing_is_no_green() {
        let c = Counters { cuts: [(Cut::External("f".into()), 1)].into(), ..Counters::default() };
        let text = describe(&Summary::default(), &c, Duration::from_secs(1), "out", 0);
        assert!(text.starts_with("Nothing could be checked") && !text.contains("no errors"), "{text}");
    }
}
