//! JUnit's XML, as servers for continuous integration read it.
//!
//! One case for what the command checks (errors, a property), one for each target, and one for completeness, which
//! is skipped with the reasons if something was cut. Each error is a failed case.

use super::{cuts, message};
use crate::Run;
use pleach_report::ErrorRecord;
use pleach_report::testcomp::escape;
use std::fmt::Write;

/// How one case ended: the element inside, and what it says.
enum CaseResult {
    Passed,
    Failed { kind: String, message: String, text: String },
    Undecided { kind: String, message: String },
    Skipped { message: String },
}

struct Case {
    class: String,
    name: String,
    outcome: CaseResult,
}

/// The report.
pub fn render(run: &Run) -> String {
    let cases = cases(run);
    let count = |test: fn(&CaseResult) -> bool| cases.iter().filter(|c| test(&c.outcome)).count();
    let (failures, errors) =
        (count(|o| matches!(o, CaseResult::Failed { .. })), count(|o| matches!(o, CaseResult::Undecided { .. })));
    let skipped = count(|o| matches!(o, CaseResult::Skipped { .. }));
    let name = escape(&run.summary.sources.join(" "));
    let time = run.timing.elapsed_us as f64 / 1e6;
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    let _ = writeln!(
        out,
        "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\" \
         time=\"{time:.3}\" timestamp=\"{}\" hostname=\"localhost\" package=\"pleach\" id=\"0\">",
        cases.len(),
        timestamp(run.timing.started)
    );
    out.push_str("    <properties>\n");
    for (name, value) in [("verdict", run.summary.verdict.as_str()), ("command", &run.info.command.join(" "))] {
        let _ = writeln!(out, "      <property name=\"{name}\" value=\"{}\"/>", escape(value));
    }
    out.push_str("    </properties>\n");
    for (i, case) in cases.iter().enumerate() {
        // The exploration is one: its time is the first case's.
        write_case(&mut out, case, if i == 0 { time } else { 0.0 });
    }
    let _ = writeln!(out, "    <system-out>{}</system-out>", escape(&run.text));
    out.push_str("    <system-err></system-err>\n  </testsuite>\n</testsuites>\n");
    out
}

fn write_case(out: &mut String, case: &Case, time: f64) {
    let (class, name) = (escape(&case.class), escape(&case.name));
    let _ = write!(out, "    <testcase classname=\"{class}\" name=\"{name}\" time=\"{time:.3}\"");
    let _ = match &case.outcome {
        CaseResult::Passed => writeln!(out, "/>"),
        CaseResult::Failed { kind, message, text } => writeln!(
            out,
            ">\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n    </testcase>",
            escape(kind),
            escape(message),
            escape(text)
        ),
        CaseResult::Undecided { kind, message } => {
            let (kind, message) = (escape(kind), escape(message));
            writeln!(out, ">\n      <error type=\"{kind}\" message=\"{message}\"></error>\n    </testcase>")
        }
        CaseResult::Skipped { message } => {
            writeln!(out, ">\n      <skipped message=\"{}\"/>\n    </testcase>", escape(message))
        }
    };
}

fn cases(run: &Run) -> Vec<Case> {
    let s = &run.summary;
    let class = run.info.command.get(1).map_or("pleach", String::as_str);
    let case = |name: &str, outcome| Case { class: format!("pleach.{class}"), name: name.into(), outcome };
    let unexplored: Vec<String> = cuts(run).into_iter().map(|(_, text)| text).collect();
    let mut cases = Vec::new();
    if s.targets.is_empty() && s.errors.is_empty() {
        let name = if s.property.is_empty() { "no errors" } else { &s.property };
        let undecided = !s.property.is_empty() && s.verdict == "unknown";
        let why = || if s.reasons.is_empty() { unexplored.join("; ") } else { s.reasons.join("; ") };
        cases.push(case(
            name,
            match undecided {
                true => CaseResult::Undecided { kind: "unknown".into(), message: why() },
                false => CaseResult::Passed,
            },
        ));
    }
    cases.extend(s.errors.iter().map(|e| error_case(run, e)));
    for t in &s.targets {
        let outcome = match t.result.as_str() {
            "unknown" => CaseResult::Undecided { kind: "unknown".into(), message: t.reason.clone() },
            _ => CaseResult::Passed,
        };
        cases.push(case(&format!("{}: {}", t.target, t.result), outcome));
    }
    let whole = match s.complete {
        true => CaseResult::Passed,
        false => CaseResult::Skipped { message: unexplored.join("; ") },
    };
    cases.push(case("everything was explored", whole));
    cases
}

fn error_case(run: &Run, e: &ErrorRecord) -> Case {
    let at = if e.line == 0 { String::new() } else { format!(" at {}:{}", e.file, e.line) };
    let calls = e.stack.iter().map(|f| format!("  in {} at {}:{}:{}\n", f.function, f.file, f.line, f.column));
    let replay = e.test.map(|t| format!("pleach replay {}/{}.ktest\n", run.dir.path().display(), t.stem()));
    let text = format!("{}\n{}{}", message(run, e), calls.collect::<String>(), replay.unwrap_or_default());
    let class = if e.file.is_empty() { "program".to_owned() } else { e.file.clone() };
    let outcome = CaseResult::Failed { kind: e.kind.to_string(), message: e.message.clone(), text };
    Case { class, name: format!("{}{at}", e.kind), outcome }
}

/// Seconds since 1970 as a date and a time, in UTC.
fn timestamp(seconds: u64) -> String {
    let (days, time) = ((seconds / 86400) as i64, seconds % 86400);
    // Days to a date in the proleptic Gregorian calendar, with years that begin in March.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let (d, m) = (of_year - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    let y = year + era * 400 + i64::from(m <= 2);
    format!("{y:04}-{m:02}-{d:02}T{:02}:{:02}:{:02}", time / 3600, time % 3600 / 60, time % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(timestamp(0), "1970-01-01T00:00:00");
        assert_eq!(timestamp(951_782_399), "2000-02-28T23:59:59");
        assert_eq!(timestamp(951_868_800), "2000-03-01T00:00:00");
        assert_eq!(timestamp(1_735_689_599), "2024-12-31T23:59:59");
    }
}
