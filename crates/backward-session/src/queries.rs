//! Which targets are wanted, and from where each is looked for.

use crate::errors::{self, ErrorTarget, all_errors};
use crate::sarif::{self, Topic, Warning};
use crate::{BackwardSession, TargetQuery};
use pleach_backward::{Failure, Goal};
use pleach_command::CliError;
use pleach_ir::{ErrorKind, FuncId, Inst, Program, Span};
use pleach_verify::TargetError;
use pleach_verify::target::{Target, TargetLocations, TargetSpec};
use std::collections::{BTreeMap, BTreeSet};

/// One row of the answer.
pub struct Wanted {
    pub name: String,
    pub span: Span,
    pub about: About,
    /// it is reached if one of them is
    pub queries: Vec<TargetQuery>,
}

/// How answers are to be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum About {
    Target,
    /// A warning: its checks fail or do not.
    Checks,
    /// A warning that does not say what is wrong: any check of its line.
    AnyCheck,
    /// A warning of which only the line is known: if that is not reached it is false.
    Line(String),
    /// A warning that cannot be decided.
    Open(String),
}

pub const UNSAID: &str = "neither rule nor message says what is wrong";

/// Every target of a session.
pub fn wanted(args: &BackwardSession, program: &Program) -> Result<Vec<Wanted>, CliError> {
    // Climbing looks for the goals of all functions together, from its root.
    let entry = match args.entry.as_ref().or(args.to.as_ref().map(|(root, _)| root)) {
        Some(name) => Some(program.function_named(name).ok_or_else(|| no_function(program, name))?),
        None => None,
    };
    let mut all = Vec::new();
    let wishes = args.targets.iter().map(|t| TargetSpec::parse(t)).collect::<Result<Vec<_>, _>>()?;
    let mut targets = wishes.iter().map(|w| w.resolve(program)).collect::<Result<Vec<_>, _>>()?;
    if args.all_asserts {
        targets.extend(pleach_verify::target::all_asserts(program)?);
    }
    for target in targets {
        all.extend(of_target(program, &target, entry).into_iter().map(alone));
    }
    if args.all_errors {
        let found = all_errors(program);
        if found.is_empty() {
            return Err(TargetError::Nothing("operations that can fail").into());
        }
        all.extend(found.into_iter().map(|e| alone(of_error(e, entry))));
    }
    if let Some(path) = &args.warnings {
        let (found, without_place) = sarif::read(path)?;
        if found.is_empty() && without_place == 0 {
            return Err(CliError::Usage(format!("--targets: {} has no results", path.display())));
        }
        let checks = all_errors(program);
        all.extend(found.iter().map(|w| of_warning(program, w, &checks, entry)));
        all.extend((0..without_place).map(|_| placeless()));
    }
    Ok(all)
}

pub fn no_function(program: &Program, name: &str) -> CliError {
    let mut known: Vec<String> =
        program.functions.iter().filter(|f| !f.is_declaration()).map(|f| f.name.clone()).collect();
    known.sort();
    TargetError::NoFunction { name: name.to_owned(), known }.into()
}

fn alone(query: TargetQuery) -> Wanted {
    Wanted { name: query.name.clone(), span: query.span, about: About::Target, queries: vec![query] }
}

fn of_error(e: ErrorTarget, entry: Option<FuncId>) -> TargetQuery {
    let ErrorTarget { name, span, function, goal, kinds } = e;
    let entry = entry.unwrap_or(function);
    TargetQuery { name, span, entry, goals: BTreeSet::from([goal]), kinds }
}

/// The queries of one target: one per function that it is in, or one from the given entry.
fn of_target(program: &Program, target: &Target, entry: Option<FuncId>) -> Vec<TargetQuery> {
    let mut by_entry: BTreeMap<FuncId, BTreeSet<Goal>> = BTreeMap::new();
    let mut is_assert = false;
    match &target.locations {
        TargetLocations::At(all) => {
            for &(f, i) in all {
                by_entry.entry(entry.unwrap_or(f)).or_default().insert(Goal::At(f, i));
                is_assert |= errors::fails_assertion(program, f, i);
            }
        }
        TargetLocations::Failing(f, i) => {
            by_entry.entry(entry.unwrap_or(*f)).or_default().insert(Goal::Fails(*f, *i, Failure::Any));
            is_assert = true;
        }
    }
    let kinds = if is_assert { vec![ErrorKind::Assert] } else { Vec::new() };
    let one = |(entry, goals): (FuncId, BTreeSet<Goal>)| TargetQuery {
        name: target.name.clone(),
        span: target.span,
        entry,
        goals,
        kinds: kinds.clone(),
    };
    by_entry.into_iter().map(one).collect()
}

fn placeless() -> Wanted {
    let about = About::Open("the warning has no file and line".into());
    Wanted { name: "a warning without a place".into(), span: Span::default(), about, queries: Vec::new() }
}

/// The checks that a warning is about; without one, its line.
fn of_warning(program: &Program, w: &Warning, checks: &[ErrorTarget], entry: Option<FuncId>) -> Wanted {
    let file = w.file.rsplit('/').next().unwrap_or(&w.file);
    let column = w.column.map_or(String::new(), |c| format!(":{c}"));
    let name = format!("{file}:{}{column} {}", w.line, w.rule).trim_end().to_owned();
    let new = |span, about, queries| Wanted { name: name.clone(), span, about, queries };
    let line = match (TargetSpec::Line { file: w.file.clone(), line: w.line }).resolve(program) {
        Ok(line) => line,
        // A path of another machine: the file's name has to do.
        Err(TargetError::NoFile { .. }) => {
            match (TargetSpec::Line { file: file.to_owned(), line: w.line }).resolve(program) {
                Ok(line) => line,
                Err(why) => return new(Span::default(), About::Open(why.to_string()), Vec::new()),
            }
        }
        Err(why) => return new(Span::default(), About::Open(why.to_string()), Vec::new()),
    };
    let here: Vec<&ErrorTarget> =
        checks.iter().filter(|c| c.span.line == w.line && c.span.file == line.span.file).collect();
    let mut found: Vec<TargetQuery> =
        here.iter().filter_map(|c| narrowed(program, c, &w.topic, &name, entry)).collect();
    let at_column: Vec<bool> = found.iter().map(|q| Some(q.span.column) == w.column).collect();
    if at_column.contains(&true) {
        let mut keep = at_column.into_iter();
        found.retain(|_| keep.next().unwrap_or(true));
    }
    if !found.is_empty() {
        let about = if w.topic == Topic::Unsaid { About::AnyCheck } else { About::Checks };
        return new(line.span, about, found);
    }
    let why = match &w.topic {
        Topic::Errors(kinds) => format!("the line has no check for {}", kinds[0].as_str()),
        Topic::Other(what) => format!("{what} is no target of backward execution"),
        Topic::Unsaid => UNSAID.into(),
    };
    let mut queries = of_target(program, &line, entry);
    queries.iter_mut().for_each(|q| q.kinds.clear());
    new(line.span, About::Line(why), queries)
}

/// The check as far as the warning is about it.
fn narrowed(
    program: &Program,
    check: &ErrorTarget,
    topic: &Topic,
    name: &str,
    entry: Option<FuncId>,
) -> Option<TargetQuery> {
    let (f, i) = check.goal.place();
    let (goal, kinds) = match topic {
        Topic::Other(_) => return None,
        Topic::Unsaid => (check.goal, check.kinds.clone()),
        Topic::Errors(wanted) => {
            let access =
                matches!(program.function(f).insts.get(i.index()), Some(Inst::Load { .. } | Inst::Store { .. }));
            let way = match wanted[0] {
                ErrorKind::Null => Failure::Null,
                ErrorKind::UseAfterFree => Failure::Freed,
                ErrorKind::OobRead | ErrorKind::OobWrite => Failure::Bounds,
                _ => Failure::Any,
            };
            let kinds: Vec<ErrorKind> = check.kinds.iter().copied().filter(|k| wanted.contains(k)).collect();
            match (access, way) {
                (true, Failure::Any) => return None,
                (true, Failure::Freed) => (Goal::Fails(f, i, way), vec![ErrorKind::UseAfterFree]),
                (true, way) => (Goal::Fails(f, i, way), kinds),
                (false, _) if kinds.is_empty() => return None,
                (false, _) => (check.goal, kinds),
            }
        }
    };
    let entry = entry.unwrap_or(check.function);
    Some(TargetQuery { name: name.to_owned(), span: check.span, entry, goals: BTreeSet::from([goal]), kinds })
}
