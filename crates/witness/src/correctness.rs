//! A correctness witness as checks in the program: a call of an error function where an invariant does not hold.

use crate::expression::refused;
use crate::instrument::Instrumented;
use crate::read::{Invariant, InvariantKind};
use std::fmt::Write;

/// The error function of the invariant with this number, from 1.
pub fn error_function(number: usize) -> String {
    format!("__pleach_invariant_{number}")
}

/// The file that the compiler is told the checks are in; their line is the number of the invariant.
pub const FILE: &str = "invariant";
/// Called where a check is, so that it can be seen whether it was compiled.
const HERE: &str = "__pleach_here";

/// The source with a check of each invariant, or which is wrong and why; with `None`, it is not known whether it is.
pub fn instrument(mut program: Instrumented, invariants: &[Invariant]) -> Result<String, (Option<usize>, String)> {
    let mut declarations = format!("static void {HERE}(void) {{}} ");
    for (i, invariant) in invariants.iter().enumerate() {
        let number = i + 1;
        if !program.knows(invariant.at.line) {
            return Err((
                None,
                format!("the code at {} is no function that can be read without the preprocessor", invariant.at),
            ));
        }
        check(&mut program, number, invariant).map_err(|why| (Some(number), why))?;
        // The body is for native runs, which notice that it is entered.
        let _ = write!(declarations, "void {0}(void) {{}} ", error_function(number));
    }
    Ok(program.text(&declarations))
}

fn check(program: &mut Instrumented, number: usize, invariant: &Invariant) -> Result<(), String> {
    if let Some(why) = refused(&invariant.value) {
        return Err(format!("the invariant is no C expression without effects: {why}"));
    }
    let value = invariant.value.replace('\n', " ");
    let code = format!("({HERE}(), ({value}) ? (void)0 : {}())", error_function(number));
    let from = (FILE, number);
    match invariant.kind {
        InvariantKind::Loop => {
            let s = program
                .statement_at(&invariant.at, |s| s.is_loop())
                .map_err(|_| format!("no loop begins at {}", invariant.at))?;
            program.insert_at_head(s, &code, from);
        }
        InvariantKind::Location => {
            let s = program
                .statement_at(&invariant.at, |_| true)
                .map_err(|_| format!("no statement begins at {}", invariant.at))?;
            program.insert_statement(s, &format!("{code};"), from);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Location, Source};
    use std::path::Path;

    fn instrumented(text: &str, line: u32, column: u32, kind: InvariantKind, value: &str) -> Result<String, String> {
        let source = Source::new(text.into(), &[]).unwrap();
        let at = Location { file: "a.c".into(), line, column, function: "f".into() };
        let all = [Invariant { kind, at, value: value.into() }];
        let text = instrument(Instrumented::new(&source, Path::new("a.c")), &all).map_err(|(_, why)| why)?;
        Ok(text.lines().filter(|l| !l.starts_with('#')).collect::<Vec<_>>().join(""))
    }

    #[test]
    fn a_check_before_each_round() {
        use InvariantKind::*;
        let code = |value: &str| format!("(__pleach_here(), ({value}) ? (void)0 : __pleach_invariant_1())");
        let head = "static void __pleach_here(void) {} void __pleach_invariant_1(void) {} ";
        let check = |text: &str, kind, want: &str| {
            assert_eq!(instrumented(text, 1, 16, kind, "x > 0").unwrap(), head.to_owned() + want);
        };
        let c = code("x > 0");
        check("int f(int x) { while (x) ; }", Loop, &format!("int f(int x) {{ while ({c},x) ; }}"));
        check("int f(int x) { for (;;) ; }", Loop, &format!("int f(int x) {{ for (;{c},1;) ; }}"));
        check("int f(int x) { for (;x;) ; }", Loop, &format!("int f(int x) {{ for (;{c},x;) ; }}"));
        check("int f(int x) { do x--; while (x); }", Loop, &format!("int f(int x) {{ do {{ {c};x--;}} while (x); }}"));
        check("int f(int x) { do { } while (x); }", Loop, &format!("int f(int x) {{ do {{{c}; }} while (x); }}"));
        check("int f(int x) { x = 1; }", Location, &format!("int f(int x) {{ {c};x = 1; }}"));
        let in_branch = instrumented("int f(int x) { if (x) x = 1; }", 1, 23, Location, "1").unwrap();
        assert_eq!(in_branch, format!("{head}int f(int x) {{ if (x) {{ {};x = 1;}} }}", code("1")));
    }

    #[test]
    fn wrong_places_and_texts() {
        let text = "int f(int x) { while (x) ; }";
        assert!(instrumented(text, 2, 1, InvariantKind::Loop, "1").unwrap_err().contains("no function"));
        assert_eq!(instrumented(text, 1, 17, InvariantKind::Loop, "1"), Err("no loop begins at a.c:1:17".into()));
        assert!(instrumented(text, 1, 0, InvariantKind::Loop, "1").is_ok());
        assert!(instrumented(text, 1, 16, InvariantKind::Loop, "x = 1").unwrap_err().contains("`=`"));
    }
}
