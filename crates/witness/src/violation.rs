//! A violation witness as code in the program: a counter of the segments that were passed, and a stop where an
//! execution that has not passed them all reaches the target.
//!
//! *Idea*: where a waypoint to follow is, the counter goes up if its segment is the next one and its condition holds.
//! Where one to avoid is, the execution ends if its condition holds. The violation counts if it is at the target.
//! Strictly read, an execution that comes to the next waypoint and does not satisfy its condition ends. There are fewer
//! such executions: what is found among them is found, what is not says nothing.

use crate::expression::{of_result, refused};
use crate::instrument::Instrumented;
use crate::read::{Segment, Waypoint, WaypointKind};
use std::collections::BTreeMap;

/// The file that the compiler is told the waypoints are in; each place has a line of its own, from 1.
pub const FILE: &str = "waypoint";
const PASSED: &str = "__pleach_passed";
const RESULT: &str = "__pleach_result";

/// How executions are compared with a witness.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reading {
    /// they end where they come to the next waypoint and do not satisfy its condition
    Strict,
    /// they may satisfy it when they come there again
    Format,
}

/// All that happens at one place, by word.
#[derive(Default)]
struct Places {
    statements: BTreeMap<usize, Steps>,
    calls: BTreeMap<(usize, usize), Calls>,
    conditions: BTreeMap<usize, Steps>,
    targets: Vec<usize>,
}

#[derive(Default)]
struct Calls {
    before: Steps,
    after: Steps,
}

/// What happens at a place, by the number of segments that were passed before.
#[derive(Default)]
struct Steps(BTreeMap<usize, String>);

impl Steps {
    fn add(&mut self, number: usize, code: &str) {
        self.0.entry(number).or_default().push_str(code);
    }

    /// At most one segment is passed at a time.
    fn code(&self) -> String {
        let one = |(number, code): (&usize, &String)| format!("if ({PASSED} == {number}u) {{ {code}}} ");
        self.0.iter().map(one).collect::<Vec<_>>().join("else ")
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The source with the witness in it, and the number of places; or which segment cannot be followed and why.
pub fn instrument(
    mut program: Instrumented,
    all: &[Segment],
    reading: Reading,
) -> Result<(String, usize), (usize, String)> {
    let mut count = 0;
    let mut place = || {
        count += 1;
        (FILE, count)
    };
    let mut places = Places::default();
    for (i, segment) in all.iter().enumerate() {
        for avoid in &segment.avoid {
            add(&program, &mut places, i, avoid, Action::Avoid).map_err(|why| (i + 1, why))?;
        }
        let action = if reading == Reading::Strict { Action::Require } else { Action::Follow };
        add(&program, &mut places, i, &segment.follow, action).map_err(|why| (i + 1, why))?;
    }
    for (statement, steps) in places.statements {
        program.insert_statement(statement, &steps.code(), place());
    }
    for statement in places.targets {
        let code = format!("if ({PASSED} != {}u) __pleach_stop();", all.len() - 1);
        program.insert_statement(statement, &code, place());
    }
    for ((name, close), calls) in places.calls {
        // A call without a result cannot be the value of an initialiser.
        let before = format!("({{ {}", calls.before.code());
        let (open, end) = match calls.after.is_empty() {
            true => (before, "; })".to_owned()),
            false => {
                let call = &program.source.text[program.start(name)..program.end(close)];
                let open = format!("{before}__typeof__({call}) {RESULT} = ");
                (open, format!("; {} {RESULT}; }})", calls.after.code()))
            }
        };
        let from = place();
        program.insert(program.start(name), &open, from);
        program.insert(program.end(close), &end, from);
    }
    for (statement, steps) in places.conditions {
        let (from, to) = program.structure.statements[statement].condition;
        let at = place();
        program.insert(program.start(from), &format!("({{ int {RESULT} = !!("), at);
        program.insert(program.end(to - 1), &format!("); {} {RESULT}; }})", steps.code()), at);
    }
    let declarations = format!(
        "extern void klee_silent_exit(int); static unsigned {PASSED}; static void __pleach_stop(void) {{ \
         klee_silent_exit(0); }}"
    );
    Ok((program.text(&declarations), count))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    Avoid,
    Follow,
    Require,
}

/// What happens if the condition is or is not satisfied.
fn code(number: usize, condition: &str, action: Action) -> String {
    match action {
        Action::Avoid => format!("if ({condition}) __pleach_stop(); "),
        Action::Follow => format!("if ({condition}) {PASSED} = {}u; ", number + 1),
        Action::Require => format!("if ({condition}) {PASSED} = {}u; else __pleach_stop(); ", number + 1),
    }
}

fn add(
    program: &Instrumented,
    places: &mut Places,
    number: usize,
    waypoint: &Waypoint,
    action: Action,
) -> Result<(), String> {
    let at = &waypoint.at;
    match waypoint.kind {
        WaypointKind::Target => {
            // The violation is somewhere in the statement.
            let s = enclosing(program, waypoint).ok_or_else(|| format!("no statement is at {at}"))?;
            places.targets.push(s);
        }
        WaypointKind::Assumption => {
            if let Some(why) = refused(&waypoint.condition) {
                return Err(format!("the constraint is no C expression without effects: {why}"));
            }
            let s = program.statement_at(at, |_| true).map_err(|_| format!("no statement begins at {at}"))?;
            places.statements.entry(s).or_default().add(number, &code(number, &waypoint.condition, action));
        }
        WaypointKind::FunctionEnter => {
            let call = program.call_at(at)?;
            places.calls.entry(call).or_default().before.add(number, &code(number, "1", action));
        }
        WaypointKind::FunctionReturn => {
            let text = if waypoint.condition.is_empty() { "1" } else { &waypoint.condition };
            let condition = of_result(text, RESULT).map_err(|why| format!("the constraint is no expression: {why}"))?;
            let call = program.call_at(at)?;
            places.calls.entry(call).or_default().after.add(number, &code(number, &condition, action));
        }
        WaypointKind::Branching => {
            let wanted = match waypoint.condition.as_str() {
                "true" => RESULT.to_owned(),
                "false" => format!("!{RESULT}"),
                other => return Err(format!("the branch `{other}` is neither true nor false")),
            };
            use crate::statements::Sort::{Do, For, If, While};
            let s = program
                .statement_at(at, |s| matches!(s, If | While | For | Do))
                .map_err(|_| format!("no condition is at {at}"))?;
            let range = program.structure.statements[s].condition;
            if range.0 == range.1 {
                return Err(format!("the loop at {at} has no condition"));
            }
            places.conditions.entry(s).or_default().add(number, &code(number, &wanted, action));
        }
    }
    Ok(())
}

/// The innermost statement in which the place is; without a column, the first that begins on the line.
fn enclosing(program: &Instrumented, waypoint: &Waypoint) -> Option<usize> {
    let (source, at) = (program.source, &waypoint.at);
    if let Ok(exact) = program.statement_at(at, |_| true) {
        return Some(exact);
    }
    let offset = source.offset(at.line, at.column.max(1))?;
    let line = |word: usize| source.position(source.tokens[word].start).0;
    let all = program.structure.statements.iter().enumerate();
    let around = |s: &crate::Statement| program.start(s.from) <= offset && offset < program.end(s.to - 1);
    let inner = all.clone().filter(|(_, s)| around(s)).min_by_key(|(_, s)| s.to - s.from).map(|(i, _)| i);
    if at.column != 0 {
        return inner;
    }
    all.filter(|(_, s)| line(s.from) == at.line).map(|(i, _)| i).next().or(inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Location, Source};
    use std::path::Path;

    fn at(line: u32, column: u32) -> Location {
        Location { file: "a.c".into(), line, column, function: String::new() }
    }

    fn follow(kind: WaypointKind, at: Location, condition: &str) -> Segment {
        Segment { avoid: Vec::new(), follow: Waypoint { kind, at, condition: condition.into() } }
    }

    fn lines(text: &str, segments: &[Segment], reading: Reading) -> Result<String, String> {
        let source = Source::new(text.into(), &[]).unwrap();
        let program = Instrumented::new(&source, Path::new("a.c"));
        let (text, _) = instrument(program, segments, reading).map_err(|e| e.1)?;
        Ok(text.lines().skip(1).filter(|l| !l.starts_with('#')).collect::<Vec<_>>().join(""))
    }

    #[test]
    fn segments_are_counted() {
        use WaypointKind::*;
        let text = "int f(void) { int x = g(); if (x) e(); }";
        let all = [
            follow(FunctionReturn, at(1, 25), "\\result == 3"),
            follow(Branching, at(1, 28), "true"),
            follow(Target, at(1, 35), ""),
        ];
        let got = lines(text, &all, Reading::Strict).unwrap();
        let want = "int f(void) { int x = ({ __typeof__(g()) __pleach_result = g(); if (__pleach_passed == 0u) { if \
                    (__pleach_result == 3) __pleach_passed = 1u; else __pleach_stop(); }  __pleach_result; }); if (({ \
                    int __pleach_result = !!(x); if (__pleach_passed == 1u) { if (__pleach_result) __pleach_passed = \
                    2u; else __pleach_stop(); }  __pleach_result; })) { if (__pleach_passed != 2u) \
                    __pleach_stop();e();} }";
        assert_eq!(got, want);
        assert!(!lines(text, &all, Reading::Format).unwrap().contains("else __pleach_stop"));
    }

    #[test]
    fn places_that_are_not_there() {
        use WaypointKind::*;
        let text = "int f(void) { int x = g() + h(); if (x) e(); }";
        let error = |s: Segment| lines(text, &[s], Reading::Format).unwrap_err();
        assert_eq!(error(follow(FunctionReturn, at(1, 24), "1")), "no call ends at a.c:1:24");
        assert!(error(follow(FunctionReturn, at(1, 0), "1")).contains("several calls"));
        assert_eq!(error(follow(Assumption, at(1, 2), "1")), "no statement begins at a.c:1:2");
        assert!(error(follow(Assumption, at(1, 15), "x = 1")).contains("`=`"));
        assert_eq!(error(follow(Branching, at(1, 15), "true")), "no condition is at a.c:1:15");
        assert_eq!(error(follow(Target, at(9, 1), "")), "no statement is at a.c:9:1");
    }
}
