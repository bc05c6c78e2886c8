//! Properties of programs, under the names of SV-COMP.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// One thing that must never happen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Goal {
    /// An error function is called.
    UnreachCall,
    /// Memory is freed wrongly.
    ValidFree,
    /// Memory is accessed wrongly.
    ValidDeref,
    /// Memory is lost: nothing points to it any more.
    ValidMemtrack,
    /// Memory is still allocated at the end.
    ValidMemcleanup,
    /// Signed arithmetic overflows.
    NoOverflow,
}

impl Goal {
    pub const ALL: [Goal; 6] = [
        Goal::UnreachCall,
        Goal::ValidFree,
        Goal::ValidDeref,
        Goal::ValidMemtrack,
        Goal::ValidMemcleanup,
        Goal::NoOverflow,
    ];

    /// As in SV-COMP's verdicts.
    pub fn as_str(self) -> &'static str {
        match self {
            Goal::UnreachCall => "unreach-call",
            Goal::ValidFree => "valid-free",
            Goal::ValidDeref => "valid-deref",
            Goal::ValidMemtrack => "valid-memtrack",
            Goal::ValidMemcleanup => "valid-memcleanup",
            Goal::NoOverflow => "no-overflow",
        }
    }

    /// The formula of a property file; `function` is the one that must not be called.
    fn formula(self, function: &str) -> String {
        match self {
            Goal::UnreachCall => format!("G ! call({function}())"),
            Goal::NoOverflow => "G ! overflow".into(),
            other => format!("G {}", other.as_str()),
        }
    }
}

/// The three goals that SV-COMP calls memory safety.
pub const MEMSAFETY: [Goal; 3] = [Goal::ValidFree, Goal::ValidDeref, Goal::ValidMemtrack];

/// The functions that stand for an error wherever no property file names another.
const ERROR_FUNCTIONS: [&str; 2] = ["reach_error", "__VERIFIER_error"];

/// What must hold of the program. The default is that none of the errors which `pleach test` looks for can happen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Property {
    /// Empty: every error counts.
    pub(crate) goals: BTreeSet<Goal>,
    /// Calls of these are the violation, whatever the functions do.
    pub(crate) functions: Vec<String>,
    /// Failed assertions count as calls of an error function.
    pub(crate) asserts: bool,
    /// Where execution begins, if the property says so.
    pub(crate) entry: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PropertyError {
    #[error("there is no property `{0}`; there are errors (the default), {names}, memsafety, and property files (.prp)", names = names())]
    Unknown(String),
    /// A property that others verify: the answer is `unknown`.
    #[error("{0} cannot be verified yet")]
    Unsupported(&'static str),
    #[error("valid-memtrack (memsafety) and valid-memcleanup cannot be verified together: verify one after the other")]
    TwoLeaks,
    #[error("cannot read the property file {}: {why}", path.display())]
    Unreadable { path: PathBuf, why: String },
    #[error("{}, line {line}: {why}", path.display())]
    Malformed { path: PathBuf, line: usize, why: String },
}

fn names() -> String {
    Goal::ALL.map(Goal::as_str).join(", ")
}

impl Default for Property {
    fn default() -> Property {
        Property {
            goals: BTreeSet::new(),
            functions: ERROR_FUNCTIONS.map(str::to_owned).to_vec(),
            asserts: true,
            entry: None,
        }
    }
}

impl Property {
    /// A property by name, several by names with commas between, or the contents of a file whose name ends with `.prp`.
    pub fn parse(text: &str) -> Result<Property, PropertyError> {
        if text.ends_with(".prp") {
            let path = PathBuf::from(text);
            let unreadable = |why: String| PropertyError::Unreadable { path: path.clone(), why };
            // A device or a pipe need not end.
            if std::fs::metadata(&path).is_ok_and(|m| !m.is_file()) {
                return Err(unreadable("it is no file".into()));
            }
            let contents = std::fs::read(&path).map_err(|e| unreadable(e.to_string()))?;
            return crate::prp::parse(&String::from_utf8_lossy(&contents), &path)?.checked();
        }
        let mut property = Property::default();
        for name in text.split(',').map(str::trim) {
            match name {
                "errors" if property.goals.is_empty() => {}
                "memsafety" | "valid-memsafety" => property.goals.extend(MEMSAFETY),
                "termination" => return Err(PropertyError::Unsupported("termination")),
                "no-data-race" => return Err(PropertyError::Unsupported("no-data-race")),
                name => match Goal::ALL.into_iter().find(|g| g.as_str() == name) {
                    Some(goal) => drop(property.goals.insert(goal)),
                    None => return Err(PropertyError::Unknown(name.to_owned())),
                },
            }
        }
        if text.split(',').any(|n| n.trim() == "errors") && !property.goals.is_empty() {
            return Err(PropertyError::Unknown(text.to_owned()));
        }
        property.checked()
    }

    /// SOUND: what is left at the end is looked for by one check, and neither of the two covers the other where the
    /// program aborts.
    fn checked(self) -> Result<Property, PropertyError> {
        let both = self.has(Goal::ValidMemtrack) && self.has(Goal::ValidMemcleanup);
        if both { Err(PropertyError::TwoLeaks) } else { Ok(self) }
    }

    /// For reachability tasks: no end is a violation, undefined behaviour leaves open what follows.
    pub fn reaching() -> Property {
        let goals = BTreeSet::from([Goal::UnreachCall]);
        Property { goals, functions: Vec::new(), asserts: false, entry: None }
    }

    /// The same, and these functions are never called.
    pub fn and_never_called(&self, functions: &[String]) -> Property {
        let mut more = self.clone();
        if !self.is_everything() && !self.has(Goal::UnreachCall) {
            more.goals.insert(Goal::UnreachCall);
            more.functions.clear();
            more.asserts = false;
        }
        more.functions.extend_from_slice(functions);
        more
    }

    pub fn has(&self, goal: Goal) -> bool {
        self.goals.contains(&goal)
    }

    /// Every error counts.
    pub fn is_everything(&self) -> bool {
        self.goals.is_empty()
    }

    /// Functions whose call ends the path as an error, also when they have a body.
    pub fn error_functions(&self) -> &[String] {
        let matter = self.is_everything() || self.has(Goal::UnreachCall);
        if matter { &self.functions } else { &[] }
    }

    /// The function that a property file starts with.
    pub fn entry(&self) -> Option<&str> {
        self.entry.as_deref()
    }

    /// For people: `unreach-call`, `valid-free, valid-deref`, …
    pub fn name(&self) -> String {
        match self.is_everything() {
            true => "errors".into(),
            false => self.goals.iter().map(|g| g.as_str()).collect::<Vec<_>>().join(", "),
        }
    }

    /// In the syntax of property files, one line per goal; the violated one alone if it is given, with the function
    /// that was called.
    pub fn specification(&self, violated: Option<Goal>, called: Option<&str>) -> String {
        let entry = self.entry.as_deref().unwrap_or("main");
        let function = called.or(self.functions.first().map(String::as_str)).unwrap_or("reach_error");
        let goals: Vec<Goal> = match violated {
            Some(goal) => vec![goal],
            None => self.goals.iter().copied().collect(),
        };
        let line = |g: Goal| format!("CHECK( init({entry}()), LTL({}) )", g.formula(function));
        goals.into_iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let p = Property::parse("memsafety").unwrap();
        assert!(p.has(Goal::ValidDeref) && p.has(Goal::ValidFree) && p.has(Goal::ValidMemtrack));
        assert!(!p.has(Goal::ValidMemcleanup) && p.error_functions().is_empty());
        let p = Property::parse("unreach-call, no-overflow").unwrap();
        assert_eq!(p.name(), "unreach-call, no-overflow");
        assert_eq!(p.error_functions(), ["reach_error", "__VERIFIER_error"]);
        assert!(Property::parse("errors").unwrap().is_everything());
        assert_eq!(Property::parse("termination"), Err(PropertyError::Unsupported("termination")));
        assert_eq!(Property::parse("no-data-race"), Err(PropertyError::Unsupported("no-data-race")));
        assert_eq!(Property::parse("memsafety,valid-memcleanup"), Err(PropertyError::TwoLeaks));
        for bad in ["", "unreach", "errors,no-overflow", "no-overflow,errors", "valid-deref,"] {
            assert!(matches!(Property::parse(bad), Err(PropertyError::Unknown(_))), "{bad}");
        }
    }

    #[test]
    fn more_functions_that_are_never_called() {
        let more = |p: &str| Property::parse(p).unwrap().and_never_called(&["f".to_owned()]);
        assert_eq!(more("unreach-call").error_functions(), ["reach_error", "__VERIFIER_error", "f"]);
        assert_eq!(more("errors").error_functions(), ["reach_error", "__VERIFIER_error", "f"]);
        let p = more("memsafety");
        assert_eq!((p.error_functions(), p.asserts), (&["f".to_owned()][..], false));
    }

    #[test]
    fn a_file_that_is_not_there() {
        let e = Property::parse("/nowhere/at-all.prp").unwrap_err();
        assert!(e.to_string().starts_with("cannot read the property file /nowhere/at-all.prp: "), "{e}");
    }

    #[test]
    fn specifications_read_back() {
        for name in ["unreach-call", "memsafety", "valid-memcleanup", "no-overflow"] {
            let p = Property::parse(name).unwrap();
            let q = crate::prp::parse(&p.specification(None, None), std::path::Path::new("a.prp")).unwrap();
            assert_eq!(p.goals, q.goals);
        }
        let p = Property::parse("memsafety").unwrap();
        assert_eq!(p.specification(Some(Goal::ValidFree), None), "CHECK( init(main()), LTL(G valid-free) )");
    }
}
