//! Property files of Test-Comp: `COVER( init(main()), FQL(COVER EDGES(@DECISIONEDGE)) )`.

use crate::property::PropertyError;
use crate::prp::Tokens;
use std::path::Path;

/// What a test suite has to cover.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cover {
    pub entry: String,
    /// Functions of which a call is to be covered. If there are none, code is: branches, conditions or statements.
    pub calls: Vec<String>,
    /// The property as it was given, blanks normalised.
    pub text: String,
}

/// Code that is covered by exploring all of it.
const CODE: [&str; 4] = ["DECISIONEDGE", "CONDITIONEDGE", "BASICBLOCKENTRY", "STATEMENT"];

impl Cover {
    pub fn read(path: &Path) -> Result<Cover, PropertyError> {
        let text = std::fs::read_to_string(path)
            .map_err(|why| PropertyError::Unreadable { path: path.to_owned(), why: why.to_string() })?;
        let mut line = 1;
        let mut tokens = Tokens { rest: &text, line: &mut line };
        let found = parse(&mut tokens);
        let malformed = |why| PropertyError::Malformed { path: path.to_owned(), line, why };
        let (entry, calls) = found.map_err(malformed)?;
        Ok(Cover { entry, calls, text: text.split_whitespace().collect::<Vec<_>>().join(" ") })
    }
}

fn parse(tokens: &mut Tokens) -> Result<(String, Vec<String>), String> {
    if tokens.take("CHECK") {
        return Err("this is a property to verify (CHECK): give it to `pleach verify`".into());
    }
    for mark in ["COVER", "(", "init", "("] {
        tokens.expect(mark)?;
    }
    let entry = tokens.name()?;
    for mark in ["(", ")", ")", ",", "FQL", "(", "COVER"] {
        tokens.expect(mark)?;
    }
    if !tokens.take("EDGES") {
        tokens.expect("NODES")?;
    }
    tokens.expect("(")?;
    tokens.expect("@")?;
    let what = tokens.name()?;
    let mut calls = Vec::new();
    if what == "CALL" {
        tokens.expect("(")?;
        calls.push(tokens.name()?);
        tokens.expect(")")?;
    } else if !CODE.contains(&what.as_str()) {
        return Err(format!("`@{what}` cannot be covered yet; there are @CALL(f), @{}", CODE.join(", @")));
    }
    for mark in [")", ")", ")"] {
        tokens.expect(mark)?;
    }
    match tokens.at_end() {
        true => Ok((entry, calls)),
        false => Err("a file has one property to cover".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(String, Vec<String>), String> {
        parse(&mut Tokens { rest: text, line: &mut 1 })
    }

    #[test]
    fn the_properties_of_test_comp() {
        let branches = "COVER( init(main()), FQL(COVER EDGES(@DECISIONEDGE)) )\n";
        assert_eq!(read(branches), Ok(("main".into(), Vec::new())));
        let call = "COVER( init(main()), FQL(COVER EDGES(@CALL(reach_error))) )";
        assert_eq!(read(call), Ok(("main".into(), vec!["reach_error".into()])));
        assert_eq!(read("COVER( init(f()), FQL(COVER NODES(@BASICBLOCKENTRY)) )"), Ok(("f".into(), Vec::new())));
    }

    #[test]
    fn others_are_refused() {
        let said = |text| read(text).expect_err(text);
        assert!(said("CHECK( init(main()), LTL(G ! overflow) )").contains("pleach verify"));
        assert!(said("COVER( init(main()), FQL(COVER EDGES(@PATH)) )").contains("`@PATH` cannot be covered yet"));
        assert!(said("COVER( init(main()), FQL(COVER EDGES(@CALL(f)) )").contains("expected `)`"));
        assert!(said("").contains("expected `COVER`"));
    }
}
