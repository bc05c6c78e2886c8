//! Greens that would not be earned: nothing was analysed, or not everything. Exit status and words must not say
//! otherwise.

use pleach_testkit::engine::{Finished, pleach};
use pleach_testkit::scratch::Scratch;
use std::time::Duration;

fn run(name: &str, source: &str, args: &[&str]) -> Finished {
    let world = Scratch::new("greens");
    std::fs::write(world.file(name), source).unwrap();
    let args = args.iter().map(ToString::to_string).chain([name.to_owned()]);
    pleach(args, world.path(), Duration::from_secs(60)).unwrap()
}

#[track_caller]
fn nothing_checked(finished: &Finished, next: &str) {
    let output = finished.output();
    assert_eq!(finished.code, Some(3), "{output}");
    assert!(output.contains("Nothing could be checked") && !output.contains("no errors"), "{output}");
    assert!(output.contains(next), "`{next}` is not said:\n{output}");
}

#[test]
fn an_undefined_function() {
    let finished = run("a.c", "int f(int);\nint main(void) { return f(1); }\n", &["test"]);
    nothing_checked(&finished, "add the file that defines it or its header, or --external=havoc");
}

#[test]
fn an_assertion_without_its_header() {
    let finished = run("a.c", "int main(void) { int x = 3; assert(x == 4); return 0; }\n", &["test"]);
    nothing_checked(&finished, "warning: a.c:1:29: call to undeclared function 'assert'");
}

#[test]
fn threads() {
    let source = "#include <pthread.h>\nstatic void *f(void *p) { return p; }\n\
                  int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); return 0; }\n";
    nothing_checked(&run("a.c", source, &["test"]), "threads are not modelled");
}

#[test]
fn the_library_of_another_language() {
    let source = "#include <iostream>\nint main() { std::cout << 1; return 0; }\n";
    nothing_checked(&run("a.cc", source, &["test"]), "the C++ library's compiled part is not there");
}

#[test]
fn some_paths_are_not_all() {
    let source = "int f(int);\n#include <klee/klee.h>\nint main(void) { return klee_int(\"x\") ? f(1) : 0; }\n";
    let finished = run("a.c", source, &["test"]);
    assert_eq!(finished.code, Some(0), "{}", finished.output());
    assert!(finished.output().contains("no errors on them, but not everything was explored"), "{}", finished.output());
    let finished = run("a.c", source, &["test", "--require-complete"]);
    assert_eq!(finished.code, Some(3), "{}", finished.output());
    let whole = run("a.c", "int main(void) { return 0; }\n", &["test", "--require-complete"]);
    assert_eq!(whole.code, Some(0), "{}", whole.output());
}
