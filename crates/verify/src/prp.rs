//! Property files: lines such as `CHECK( init(main()), LTL(G ! call(reach_error())) )`.

use crate::property::{Goal, Property, PropertyError};
use std::collections::BTreeSet;
use std::path::Path;

pub(crate) fn parse(text: &str, path: &Path) -> Result<Property, PropertyError> {
    let mut property = Property { goals: BTreeSet::new(), functions: Vec::new(), asserts: false, entry: None };
    let mut line = 1;
    let malformed = |line, why: String| PropertyError::Malformed { path: path.to_owned(), line, why };
    let mut tokens = Tokens { rest: text, line: &mut line };
    while !tokens.at_end() {
        match check(&mut tokens) {
            Ok((entry, formula)) => {
                let line = *tokens.line;
                if property.entry.as_ref().is_some_and(|e| *e != entry) {
                    return Err(malformed(line, "all lines must begin at the same function".into()));
                }
                property.entry = Some(entry);
                property.goals.insert(match formula {
                    Formula::Call(function) => {
                        property.functions.push(function);
                        Goal::UnreachCall
                    }
                    Formula::Goal(goal) => goal,
                    Formula::Unsupported(what) if what == "F end" => {
                        return Err(PropertyError::Unsupported("termination"));
                    }
                    Formula::Unsupported(what) if what == "G ! data-race" => {
                        return Err(PropertyError::Unsupported("no-data-race"));
                    }
                    Formula::Unsupported(what) => {
                        return Err(malformed(line, format!("the property `{what}` cannot be verified yet")));
                    }
                });
            }
            Err(why) => return Err(malformed(*tokens.line, why)),
        }
    }
    match property.goals.is_empty() {
        true => Err(malformed(line, "there is no property in this file".into())),
        false => Ok(property),
    }
}

enum Formula {
    Call(String),
    Goal(Goal),
    Unsupported(String),
}

/// One `CHECK( init(entry()), LTL(formula) )`.
fn check(tokens: &mut Tokens) -> Result<(String, Formula), String> {
    tokens.expect("CHECK")?;
    tokens.expect("(")?;
    tokens.expect("init")?;
    tokens.expect("(")?;
    let entry = tokens.name()?;
    for mark in ["(", ")", ")", ","] {
        tokens.expect(mark)?;
    }
    tokens.expect("LTL")?;
    tokens.expect("(")?;
    let formula = formula(tokens)?;
    tokens.expect(")")?;
    tokens.expect(")")?;
    Ok((entry, formula))
}

fn formula(tokens: &mut Tokens) -> Result<Formula, String> {
    let operator = tokens.name()?;
    if operator != "G" {
        let what = tokens.name().unwrap_or_default();
        return Ok(Formula::Unsupported(format!("{operator} {what}")));
    }
    // `G (! …)` is as good as `G ! …`.
    let parenthesised = tokens.take("(");
    let negated = tokens.take("!");
    let what = tokens.name()?;
    let found = match (negated, what.as_str()) {
        (true, "call") => {
            tokens.expect("(")?;
            let function = tokens.name()?;
            for mark in ["(", ")", ")"] {
                tokens.expect(mark)?;
            }
            Formula::Call(function)
        }
        (true, "overflow") => Formula::Goal(Goal::NoOverflow),
        (false, name) => match Goal::ALL.into_iter().find(|g| g.as_str() == name && name.starts_with("valid-")) {
            Some(goal) => Formula::Goal(goal),
            None => Formula::Unsupported(format!("G {name}")),
        },
        (true, name) => Formula::Unsupported(format!("G ! {name}")),
    };
    if parenthesised {
        tokens.expect(")")?;
    }
    Ok(found)
}

/// Names and single marks, blanks skipped.
pub(crate) struct Tokens<'a> {
    pub(crate) rest: &'a str,
    pub(crate) line: &'a mut usize,
}

impl Tokens<'_> {
    fn skip(&mut self) {
        let trimmed = self.rest.trim_start();
        let skipped = &self.rest[..self.rest.len() - trimmed.len()];
        *self.line += skipped.matches('\n').count();
        self.rest = trimmed;
    }

    pub(crate) fn at_end(&mut self) -> bool {
        self.skip();
        self.rest.is_empty()
    }

    pub(crate) fn take(&mut self, mark: &str) -> bool {
        self.skip();
        let Some(rest) = self.rest.strip_prefix(mark) else { return false };
        self.rest = rest;
        true
    }

    pub(crate) fn expect(&mut self, mark: &str) -> Result<(), String> {
        if self.take(mark) { Ok(()) } else { Err(format!("expected `{mark}` {}", self.here())) }
    }

    pub(crate) fn name(&mut self) -> Result<String, String> {
        self.skip();
        let end =
            self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-')).unwrap_or(self.rest.len());
        if end == 0 {
            return Err(format!("expected a name {}", self.here()));
        }
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(name.to_owned())
    }

    fn here(&self) -> String {
        match self.rest.lines().next().unwrap_or_default().trim_end() {
            "" => "before the end of the line".into(),
            text => format!("before `{}`", text.chars().take(40).collect::<String>()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Property, String> {
        parse(text, Path::new("a.prp")).map_err(|e| e.to_string())
    }

    #[test]
    fn the_files_of_the_competition() {
        let p = read("CHECK( init(main()), LTL(G ! call(reach_error())) )\n\n").unwrap();
        assert!(p.has(Goal::UnreachCall));
        assert_eq!((p.error_functions(), p.entry()), (&["reach_error".to_owned()][..], Some("main")));
        let p = read(
            "CHECK( init(main()), LTL(G valid-free) )\nCHECK( init(main()), LTL(G valid-deref) )\n\
                      CHECK( init(main()), LTL(G valid-memtrack) )\n",
        );
        assert_eq!(p.unwrap().goals, BTreeSet::from(crate::property::MEMSAFETY));
        assert!(read("CHECK( init(main()), LTL(G ! overflow) )").unwrap().has(Goal::NoOverflow));
        assert!(read("CHECK(init(main()),LTL(G(!call(f()))))").unwrap().has(Goal::UnreachCall));
        assert!(read("CHECK( init(main()), LTL(G valid-memcleanup) )").unwrap().has(Goal::ValidMemcleanup));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let says = |text: &str, what: &str| {
            let e = read(text).unwrap_err();
            assert!(e.contains(what), "{e}");
        };
        says("", "a.prp, line 1: there is no property in this file");
        says("\n\nCHEK( init(main()) )", "line 3: expected `CHECK` before `CHEK( init");
        says("CHECK( init(main()), LTL(F end) )", "termination cannot be verified yet");
        says("CHECK( init(main()), LTL(G ! data-race) )", "no-data-race cannot be verified yet");
        says("CHECK( init(main()), LTL(G valid-everything) )", "`G valid-everything` cannot be verified yet");
        says("CHECK( init(main()), LTL(G ! call(f())", "expected `)` before the end of the line");
        says("CHECK( init(), LTL(G ! overflow) )", "expected a name before `)");
        says("CHECK( init(f()), LTL(G valid-free) )\nCHECK( init(g()), LTL(G valid-deref) )", "same function");
        says("\u{0}\u{1}ELF", "expected `CHECK`");
        says("COVER( init(main()), FQL(COVER EDGES(@DECISIONEDGE)) )", "expected `CHECK`");
    }
}
