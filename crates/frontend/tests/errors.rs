//! Inputs that are no programs: one clear sentence each, never a panic.

mod common;

use common::Scratch;
use pleach_frontend::{FrontendError, load};

/// Bitcode of a small program.
fn bitcode(scratch: &Scratch) -> Vec<u8> {
    let source = "struct s { int a; struct s *n; } g = {1, &g};\n\
                  int f(struct s *p, int n) { int r = 0; while (p && n--) { r += p->a; p = p->n; } return r; }\n\
                  int main(void) { return f(&g, 3); }\n";
    let file = scratch.file("good.c", source);
    scratch.load(vec![file]).unwrap_or_else(|e| panic!("{e}"));
    std::fs::read(scratch.path().join("work/0-good.bc")).expect("compiled file")
}

#[test]
fn files_that_cannot_be_read() {
    let scratch = Scratch::new();
    assert!(matches!(scratch.load(vec![]), Err(FrontendError::NoInputs)));
    let missing = scratch.path().join("missing.c");
    assert!(matches!(scratch.load(vec![missing]), Err(FrontendError::Missing { .. })));
    let directory = scratch.path().to_path_buf();
    assert!(matches!(scratch.load(vec![directory]), Err(FrontendError::Directory { .. })));
    for name in ["empty.c", "empty.bc", "empty.ll", "empty"] {
        let empty = scratch.file(name, "");
        assert!(matches!(scratch.load(vec![empty]), Err(FrontendError::Empty { .. })), "{name}");
    }
}

#[test]
fn c_that_does_not_compile() {
    let scratch = Scratch::new();
    let file = scratch.file("bad.c", "int main(void) { return undeclared; }\n");
    let error = scratch.load(vec![file]).expect_err("must not compile");
    let text = error.to_string();
    assert!(text.contains("bad.c: does not compile"), "{text}");
    assert!(text.contains("use of undeclared identifier 'undeclared'"), "{text}");
}

#[test]
fn warnings_are_not_errors() {
    let scratch = Scratch::new();
    let file = scratch.file("old.c", "main() { int unused; return foo(3); }\nint foo(x) int x; { return x; }\n");
    scratch.load(vec![file]).unwrap_or_else(|e| panic!("{e}"));
}

/// clang neither says what a preprocessed file reads nor preprocesses it again.
#[test]
fn preprocessed_files_compile() {
    let scratch = Scratch::new();
    for name in ["old.i", "old.ii"] {
        let file = scratch.file(name, "# 1 \"old.c\"\nint main(void) { return 1 << 3; }\n");
        scratch.load(vec![file]).unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn truncated_bitcode() {
    let scratch = Scratch::new();
    let whole = bitcode(&scratch);
    for part in 1..16 {
        let cut = &whole[..whole.len() * part / 16];
        let file = scratch.file("cut.bc", cut);
        let error = scratch.load(vec![file]).expect_err("a part is no program");
        assert!(matches!(error, FrontendError::Malformed { .. }), "{part}/16: {error}");
    }
}

#[test]
fn files_that_are_not_what_their_name_says() {
    let scratch = Scratch::new();
    let file = scratch.file("text.bc", "int main(void) { return 0; }\n");
    assert!(matches!(scratch.load(vec![file]), Err(FrontendError::Malformed { .. })));
    let file = scratch.file("garbage.ll", "this is not a module\n");
    assert!(matches!(scratch.load(vec![file]), Err(FrontendError::BadIr { .. })));
    let broken = "define i32 @main() {\n  %a = add i32 %b, 1\n  %b = add i32 %a, 1\n  ret i32 %b\n}\n";
    let file = scratch.file("broken.ll", broken);
    let error = scratch.load(vec![file]).expect_err("a use before its definition");
    assert!(matches!(error, FrontendError::BadIr { .. }), "{error}");
    // Bitcode is known by its content, whatever its name.
    let file = scratch.file("program", bitcode(&scratch));
    scratch.load(vec![file]).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn two_definitions_of_one_symbol() {
    let scratch = Scratch::new();
    let a = scratch.file("a.c", "int shared(void) { return 1; }\nint main(void) { return shared(); }\n");
    let b = scratch.file("b.c", "int shared(void) { return 2; }\n");
    match scratch.load(vec![a, b]) {
        Err(FrontendError::LinkConflict { symbol, path }) => {
            assert_eq!(symbol, "shared");
            assert!(path.ends_with("b.c"));
        }
        other => panic!("{:?}", other.map(|_| ())),
    }
}

#[test]
fn engine_functions_may_be_defined_in_every_input() {
    let scratch = Scratch::new();
    let stub = "void klee_assume(unsigned long c) { }\n";
    let a = scratch.file("a.c", format!("{stub}int main(void) {{ klee_assume(1); return 0; }}\n"));
    let b = scratch.file("b.c", format!("{stub}void f(void) {{ klee_assume(0); }}\n"));
    let program = scratch.load(vec![a, b]).unwrap_or_else(|e| panic!("{e}"));
    common::check(&program);
    let id = program.function_named("klee_assume").expect("declared");
    assert!(program.function(id).is_declaration());
    let kept = program.function_named("f").expect("defined");
    assert!(!program.function(kept).is_declaration());
}

#[test]
fn inputs_for_different_targets() {
    let scratch = Scratch::new();
    let a = scratch.file("a.c", "int main(void) { return 0; }\n");
    let b = scratch.file("b.c", "int f(void) { return 0; }\n");
    let mut options = scratch.options(vec![b]);
    options.m32 = true;
    load(&options).unwrap_or_else(|e| panic!("{e}"));
    let b = scratch.path().join("work/0-b.bc");
    assert!(matches!(scratch.load(vec![a, b]), Err(FrontendError::TargetMismatch { .. })));
}

#[test]
fn missing_headers_of_the_32_bit_target_are_named() {
    if common::has_m32_headers() {
        return;
    }
    let scratch = Scratch::new();
    let file = scratch.file("a.c", "#include <stdio.h>\nint main(void) { return 0; }\n");
    let mut options = scratch.options(vec![file]);
    options.m32 = true;
    let text = load(&options).expect_err("headers are missing").to_string();
    assert!(text.contains("apt install libc6-dev-i386"), "{text}");
}
