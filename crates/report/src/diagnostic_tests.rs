use super::*;
use crate::input::{Input, InputOrigin, InputType};
use crate::model::{ErrorKind, StackFrame, TestId};

fn frame(function: &str, line: u32) -> StackFrame {
    StackFrame { function: function.into(), file: "a.c".into(), line, column: 0 }
}

fn error() -> ErrorRecord {
    ErrorRecord {
        kind: ErrorKind::OobRead,
        file: "a.c".into(),
        line: 2,
        column: 9,
        message: "read of 4 bytes past the end".into(),
        stack: vec![frame("get", 2), frame("main", 9)],
        test: Some(TestId(1)),
    }
}

#[test]
fn like_a_compiler() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.c"), "int get(int *p) {\n\treturn p[4];\n}\n").unwrap();
    let error = error();
    let input =
        Input { name: "n".into(), ty: InputType::int(), bytes: vec![5, 0, 0, 0], origin: InputOrigin::MakeSymbolic };
    let test = TestCase {
        id: TestId(1),
        inputs: vec![input],
        predicted: error.predicted(),
        covers_new: false,
        given: false,
        path: 0,
        instructions: 0,
        args: vec!["a".into()],
    };
    let shown = Diagnostic::new(&error).with_directory(dir.path()).with_test(&test).with_run("pleach-last").render();
    assert_eq!(
        shown,
        "error[oob-read]: read of 4 bytes past the end\n --> a.c:2:9\n  |\n2 |     return p[4];\n  |            ^\n  \
         = note: in `get` at a.c:2\n  = note: called from `main` at a.c:9\n  = input:\n      int n = 5\n  \
         = reproduce with: pleach replay pleach-last/test000001.ktest\n"
    );
}

#[test]
fn missing_sources_and_odd_columns() {
    let mut error = error();
    error.column = u32::MAX;
    assert!(!Diagnostic::new(&error).render().contains('|'));
    error.file.clear();
    assert!(!Diagnostic::new(&error).render().contains("-->"));
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.c"), "é\né").unwrap();
    for (line, column) in [(2, 2), (2, 3), (2, 4), (0, 0), (u32::MAX, 1)] {
        let error = ErrorRecord { file: "a.c".into(), line, column, ..error.clone() };
        let _ = Diagnostic::new(&error).with_directory(dir.path()).render();
    }
}

#[test]
fn control_codes_are_not_passed_on() {
    let error = ErrorRecord { message: "\x1b[2J".into(), ..error() };
    assert!(!Diagnostic::new(&error).render().contains('\x1b'));
    assert!(Diagnostic::new(&error).with_colour(true).render().contains("\x1b[1;31merror[oob-read]\x1b[0m"));
}

#[test]
fn deep_stacks_are_shortened() {
    let error = ErrorRecord { stack: (0..1000).map(|i| frame("f", i)).collect(), ..error() };
    let shown = Diagnostic::new(&error).render();
    assert!(shown.contains("984 more calls"), "{shown}");
    assert!(shown.lines().count() < 25);
}
