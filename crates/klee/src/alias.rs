//! `--function-alias=NAME|PATTERN:REPLACEMENT`: calls of functions go to another one of the same type.

use super::command_line::CommandLine;
use super::messages::MessageLog;
use pleach_command::CliError;
use pleach_ir::{Function, Program};
use regex_lite::Regex;

/// Pairs of names, for the engine.
pub fn aliases(line: &CommandLine, program: &Program, log: &mut MessageLog) -> Result<Vec<(String, String)>, CliError> {
    let mut all = Vec::new();
    for given in line.each("function-alias") {
        add(given, program, log, &mut all).map_err(|why| CliError::Usage(format!("function-alias: {why}")))?;
    }
    Ok(all)
}

fn add(given: &str, program: &Program, log: &mut MessageLog, all: &mut Vec<(String, String)>) -> Result<(), String> {
    // A pattern may contain colons, a name does not.
    let (pattern, to) = given.rsplit_once(':').ok_or("no replacement given")?;
    if pattern.is_empty() {
        return Err("name or pattern cannot be empty".into());
    }
    if to.is_empty() {
        return Err("replacement cannot be empty".into());
    }
    if pattern == to {
        return Err(format!("@{to} cannot replace itself"));
    }
    let replacement = program.function_named(to).ok_or(format!("replacement function @{to} could not be found"))?;
    let replacement = program.function(replacement);
    let none = || format!("no (replacable) match for '{pattern}' found");
    let mut replace = |f: &Function, name: &str, how: &str, log: &mut MessageLog| match difference(f, replacement) {
        None => {
            log.message(&format!("function-alias: replaced @{name}{how} with @{to}"));
            all.push((name.to_owned(), to.to_owned()));
            true
        }
        Some(why) => {
            log.warning(&format!("function-alias: @{name} could not be replaced with @{to}: {why}"));
            false
        }
    };
    if let Some(f) = program.function_named(pattern) {
        return replace(program.function(f), pattern, "", log).then_some(()).ok_or_else(none);
    }
    let regex =
        Regex::new(&format!("^(?:{pattern})$")).map_err(|why| format!("'{pattern}' is not a valid regex: {why}"))?;
    let how = format!(" (matching '{pattern}')");
    let mut found = false;
    for f in program.functions.iter().filter(|f| regex.is_match(&f.name)) {
        if f.name == to {
            let message = format!("function-alias: do not replace @{to}{how} with @{to}: cannot replace itself");
            log.warning(&message);
        } else {
            found |= replace(f, &f.name, &how, log);
        }
    }
    found.then_some(()).ok_or_else(none)
}

/// Why the types do not agree.
fn difference(a: &Function, b: &Function) -> Option<&'static str> {
    let differ = |x: &Function, y: &Function| x.params.iter().zip(&y.params).any(|(p, q)| p.ty != q.ty);
    if a.results != b.results {
        Some("return type differs")
    } else if a.variadic != b.variadic {
        Some("one has varargs while the other does not")
    } else if a.params.len() != b.params.len() {
        Some("number of parameters differs")
    } else if differ(a, b) {
        Some("parameter types differ")
    } else {
        None
    }
}
