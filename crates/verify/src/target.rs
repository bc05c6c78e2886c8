//! Targets: places of the program that may or may not be reached.

use pleach_ir::{BlockId, Callee, FuncId, Function, Inst, InstId, Program, Span};
use std::collections::BTreeSet;

/// A target as the user writes it: `file.c:42`, `label:NAME`, or a function's name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TargetSpec {
    Line { file: String, line: u32 },
    Label(String),
    Function(String),
}

/// Where reaching is seen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TargetLocations {
    /// Before any of these instructions.
    At(BTreeSet<(FuncId, InstId)>),
    /// This call fails (a library function that asserts).
    Failing(FuncId, InstId),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// as the user wrote it
    pub name: String,
    /// the first place that it stands for
    pub span: Span,
    pub locations: TargetLocations,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TargetError {
    #[error("`{0}` is no target: write a line as file.c:42, a label as label:NAME, or the name of a function")]
    Malformed(String),
    #[error("the program has no source file `{file}`; it has {}", list(known))]
    NoFile { file: String, known: Vec<String> },
    #[error("{file}:{line} has no code; the nearest line with code is {nearest}")]
    NoCode { file: String, line: u32, nearest: u32 },
    #[error("the program has no label `{name}`; {}", labels(known))]
    NoLabel { name: String, known: Vec<String> },
    #[error("the program has no function `{name}`; it has {}", list(known))]
    NoFunction { name: String, known: Vec<String> },
    #[error("the function `{0}` is only declared, and no call names it")]
    NeverCalled(String),
    #[error("the program has no {0}")]
    Nothing(&'static str),
}

fn list(known: &[String]) -> String {
    const SHOWN: usize = 12;
    let more = if known.len() > SHOWN { format!(" and {} more", known.len() - SHOWN) } else { String::new() };
    match known.len() {
        0 => "none".into(),
        _ => known[..known.len().min(SHOWN)].join(", ") + &more,
    }
}

fn labels(known: &[String]) -> String {
    if known.is_empty() { "it has no labels".into() } else { format!("its labels are {}", list(known)) }
}

impl TargetSpec {
    pub fn parse(text: &str) -> Result<TargetSpec, TargetError> {
        let malformed = || TargetError::Malformed(text.to_owned());
        if let Some(name) = text.strip_prefix("label:") {
            return if name.is_empty() { Err(malformed()) } else { Ok(TargetSpec::Label(name.to_owned())) };
        }
        if let Some((file, line)) = text.rsplit_once(':') {
            let line = line.parse().ok().filter(|n| *n > 0).ok_or_else(malformed)?;
            return if file.is_empty() {
                Err(malformed())
            } else {
                Ok(TargetSpec::Line { file: file.to_owned(), line })
            };
        }
        let is_name = !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_$.".contains(c));
        if is_name { Ok(TargetSpec::Function(text.to_owned())) } else { Err(malformed()) }
    }

    /// The instructions that it stands for.
    pub fn resolve(&self, program: &Program) -> Result<Target, TargetError> {
        let (name, at) = match self {
            TargetSpec::Line { file, line } => (format!("{file}:{line}"), line_locations(program, file, *line)?),
            TargetSpec::Label(label) => (format!("label:{label}"), label_locations(program, label)?),
            TargetSpec::Function(function) => (function.clone(), function_locations(program, function)?),
        };
        let span = first_span(program, &at);
        Ok(Target { name, span, locations: TargetLocations::At(at) })
    }
}

fn bodies(program: &Program) -> impl Iterator<Item = (FuncId, &Function)> {
    program.functions.iter().enumerate().map(|(i, f)| (FuncId::new(i), f)).filter(|(_, f)| !f.is_declaration())
}

fn first_span(program: &Program, at: &BTreeSet<(FuncId, InstId)>) -> Span {
    let span = |(f, i): &(FuncId, InstId)| program.function(*f).spans.get(i.index()).copied().unwrap_or_default();
    at.iter().map(span).find(|s| s.is_known()).unwrap_or_default()
}

/// `a.c` names `/x/a.c`, but not `/x/aa.c`.
fn names(given: &str, path: &str) -> bool {
    let given = given.trim_start_matches("./");
    path == given || path.strip_suffix(given).is_some_and(|before| before.ends_with('/'))
}

/// In every block with code of the line, the first instruction of it.
fn line_locations(program: &Program, file: &str, line: u32) -> Result<BTreeSet<(FuncId, InstId)>, TargetError> {
    let mine = |s: &Span| s.is_known() && names(file, program.path(*s));
    let mut found = BTreeSet::new();
    let mut lines = BTreeSet::new();
    for (id, f) in bodies(program) {
        for b in (0..f.blocks.len()).map(BlockId::new) {
            let own = f.spans_of(b).iter().filter(|s| mine(s));
            for span in own {
                lines.insert(span.line);
                if span.line == line {
                    found.insert((id, InstId::new(f.line_start(b, span.file, line))));
                }
            }
        }
    }
    if !found.is_empty() {
        return Ok(found);
    }
    match lines.iter().min_by_key(|n| (n.abs_diff(line), **n)) {
        Some(&nearest) => Err(TargetError::NoCode { file: file.to_owned(), line, nearest }),
        None => {
            let known: BTreeSet<&str> = bodies(program)
                .filter(|(_, f)| f.span.is_known())
                .map(|(_, f)| program.path(f.span))
                .map(|p| p.rsplit('/').next().unwrap_or(p))
                .collect();
            Err(TargetError::NoFile { file: file.to_owned(), known: known.into_iter().map(str::to_owned).collect() })
        }
    }
}

fn label_locations(program: &Program, name: &str) -> Result<BTreeSet<(FuncId, InstId)>, TargetError> {
    let all = || bodies(program).flat_map(|(id, f)| f.labels.iter().map(move |(label, b)| (id, f, label, *b)));
    let found: BTreeSet<_> = all()
        .filter(|(_, _, label, _)| *label == name)
        .map(|(id, f, _, b)| (id, InstId::new(f.block_range(b).start)))
        .collect();
    if found.is_empty() {
        let known: BTreeSet<String> = all().map(|(_, _, label, _)| label.clone()).collect();
        return Err(TargetError::NoLabel { name: name.to_owned(), known: known.into_iter().collect() });
    }
    Ok(found)
}

/// The start of a function with a body; the calls of one without.
fn function_locations(program: &Program, name: &str) -> Result<BTreeSet<(FuncId, InstId)>, TargetError> {
    let Some(id) = program.function_named(name) else {
        let mut known: Vec<String> = bodies(program).map(|(_, f)| f.name.clone()).collect();
        known.sort();
        return Err(TargetError::NoFunction { name: name.to_owned(), known });
    };
    let f = program.function(id);
    if !f.is_declaration() {
        return Ok(BTreeSet::from([(id, f.blocks[0].first)]));
    }
    let found: BTreeSet<_> = calls(program, |callee| callee == name).map(|(f, i, _)| (f, i)).collect();
    if found.is_empty() { Err(TargetError::NeverCalled(name.to_owned())) } else { Ok(found) }
}

/// Direct calls of functions whose name is wanted.
fn calls<'a>(
    program: &'a Program,
    wanted: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = (FuncId, InstId, &'a str)> {
    bodies(program)
        .flat_map(|(id, f)| f.insts.iter().enumerate().map(move |(i, inst)| (id, InstId::new(i), inst)))
        .filter_map(move |(f, i, inst)| match inst {
            Inst::Call { callee: Callee::Direct(g), .. } => Some((f, i, program.function(*g).name.as_str())),
            _ => None,
        })
        .filter(move |(_, _, name)| wanted(name))
}

fn place(program: &Program, span: Span) -> String {
    let path = program.path(span);
    format!("{}:{}", path.rsplit('/').next().unwrap_or(path), span.line)
}

/// Every failing assertion: calls of the functions that report one.
pub fn all_asserts(program: &Program) -> Result<Vec<Target>, TargetError> {
    const FAIL: [&str; 7] = [
        "__assert_fail",
        "__assert_rtn",
        "__assert",
        "klee_assert_fail",
        "reach_error",
        "__VERIFIER_error",
        "klee_report_error",
    ];
    let has_body = |name: &str| program.function_named(name).is_some_and(|f| !program.function(f).is_declaration());
    let asserts = |name: &str| FAIL.contains(&name) || name == "__VERIFIER_assert" && !has_body(name);
    let target = |(f, i, name): (FuncId, InstId, &str)| {
        let locations = match name {
            "__VERIFIER_assert" => TargetLocations::Failing(f, i),
            _ => TargetLocations::At(BTreeSet::from([(f, i)])),
        };
        let span = program.function(f).spans.get(i.index()).copied().unwrap_or_default();
        Target { name: place(program, span), span, locations }
    };
    // What an error function of the program does is not another target.
    let found: Vec<_> = calls(program, asserts)
        .filter(|(f, ..)| !FAIL.contains(&program.function(*f).name.as_str()))
        .map(target)
        .collect();
    if found.is_empty() { Err(TargetError::Nothing("assertions")) } else { Ok(found) }
}

/// Every block with code of its own.
pub fn all_blocks(program: &Program) -> Result<Vec<Target>, TargetError> {
    let mut found = Vec::new();
    for (id, f) in bodies(program) {
        for b in (0..f.blocks.len()).map(BlockId::new) {
            let (range, own) = (f.block_range(b), f.spans_of(b));
            let first = f.spans[range.clone()].iter().find(|s| own.contains(s));
            let span = first.or(own.first()).copied();
            let Some(span) = span else { continue };
            let name = format!("{} {} b{}", place(program, span), f.name, b.index());
            let locations = TargetLocations::At(BTreeSet::from([(id, InstId::new(range.start))]));
            found.push(Target { name, span, locations });
        }
    }
    if found.is_empty() { Err(TargetError::Nothing("blocks")) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::program;

    fn found(spec: &str) -> Result<Vec<(String, u32)>, String> {
        let p = program();
        let target = TargetSpec::parse(spec).and_then(|w| w.resolve(&p)).map_err(|e| e.to_string())?;
        let TargetLocations::At(all) = target.locations else { panic!() };
        Ok(all.iter().map(|(f, i)| (p.function(*f).name.clone(), i.0)).collect())
    }

    #[test]
    fn lines_functions_and_labels() {
        let main = |i| Ok(vec![("main".to_owned(), i)]);
        assert_eq!(found("a.c:10"), main(1));
        assert_eq!(found("src/a.c:12"), main(2));
        assert_eq!(found("./a.c:15"), main(7));
        assert_eq!(found("label:OUT"), main(7));
        assert_eq!(found("unused"), Ok(vec![("unused".into(), 0)]));
        assert_eq!(found("__assert_fail"), main(5));
    }

    #[test]
    fn what_is_not_there_is_said() {
        let says = |spec: &str, what: &str| {
            let e = found(spec).unwrap_err();
            assert!(e.contains(what), "{e}");
        };
        says("a.c:11", "a.c:11 has no code; the nearest line with code is 10");
        says("a.c:900", "the nearest line with code is 15");
        says("b.c:3", "the program has no source file `b.c`; it has a.c");
        says("c:3", "has no source file `c`");
        says("label:IN", "its labels are OUT");
        says("mian", "the program has no function `mian`; it has helper, main, unused");
        for bad in ["", "a.c:", "a.c:0", "a.c:x", ":3", "label:", "a b"] {
            says(bad, "is no target");
        }
    }

    #[test]
    fn all_of_a_kind() {
        let p = program();
        let names = |t: Vec<Target>| t.into_iter().map(|t| t.name).collect::<Vec<_>>();
        assert_eq!(names(all_asserts(&p).unwrap()), ["a.c:13"]);
        assert_eq!(all_blocks(&p).unwrap().len(), 5);
    }
}
